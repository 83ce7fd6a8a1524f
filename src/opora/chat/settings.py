"""Resolves the settings of one question: defaults, the model's card, the installation, the request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from opora.domain.errors import InvalidInput
from opora.domain.settings import Effective, FallbackStrategy, Origin, RetrievalSettings, resolve
from opora.ports import EmbedderCard

_NAMES = {field.name for field in fields(RetrievalSettings)}
_SHARES = frozenset(
    {"keyword_threshold", "rerank_threshold", "rerank_fallback_min_score", "mmr_lambda", "answer_confidence"}
)
_RANGES = {
    "temperature": (0.0, 2.0),
    "top_p": (0.0, 1.0),
    "vector_threshold": (-1.0, 1.0),
    "answer_floor": (0.0, 1.0),
    "vector_weight": (0.0, 1000.0),
    "keyword_weight": (0.0, 1000.0),
    "faq_direct_answer_threshold": (0.0, 1.0),
    "faq_score_boost": (0.0, 1000.0),
    "max_rounds": (-1, 1000),
    "context_token_budget": (1, 10_000_000),
}
_DEFAULTS = RetrievalSettings()
_PROFILES = ("described", "convex")
_COUNTS = {
    "embedding_top_k": 500,
    "rerank_top_k": 200,
    "max_completion_tokens": 1_000_000,
    "rrf_k": 10_000,
    "web_fetch_top_n": 20,
}


def checked(layer: Mapping[str, Any]) -> dict[str, Any]:
    """The layer with every name and range looked at; raises `InvalidInput` naming the field."""
    result: dict[str, Any] = {}
    for name, value in layer.items():
        if name not in _NAMES:
            raise InvalidInput.of(name, f"There is no setting '{name}'.", hint=f"Known: {', '.join(sorted(_NAMES))}.")
        if value is None:
            continue
        _check_kind(name, value)
        if name in _COUNTS and not (isinstance(value, int) and 1 <= value <= _COUNTS[name]):
            raise InvalidInput.of(name, f"'{name}' is a whole number from 1 to {_COUNTS[name]}.")
        if name in _SHARES and not (isinstance(value, int | float) and 0 <= value <= 1):
            raise InvalidInput.of(name, f"'{name}' is a number from 0 to 1.")
        if name in _RANGES:
            low, high = _RANGES[name]
            if isinstance(value, bool) or not (isinstance(value, int | float) and low <= value <= high):
                raise InvalidInput.of(name, f"'{name}' is a number from {low:g} to {high:g}.")
        if name == "seed" and (isinstance(value, bool) or not isinstance(value, int)):
            raise InvalidInput.of(name, "'seed' is a whole number.")
        if name == "thinking" and not isinstance(value, bool):
            raise InvalidInput.of(name, "'thinking' is true or false.")
        if name == "fallback_strategy":
            try:
                value = FallbackStrategy(value)
            except ValueError:
                raise InvalidInput.of(name, "'fallback_strategy' is 'fixed' or 'model'.") from None
        result[name] = value
    return result


def _check_kind(name: str, value: Any) -> None:
    """A value is of the kind of its default: a flag, a whole number, a number, a text. A flag is no number."""
    default = getattr(_DEFAULTS, name)
    if isinstance(default, bool) and not isinstance(value, bool):
        raise InvalidInput.of(name, f"'{name}' is true or false.")
    if isinstance(default, int) and not isinstance(default, bool) and (type(value) is not int):
        raise InvalidInput.of(name, f"'{name}' is a whole number.")
    if isinstance(default, float) and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise InvalidInput.of(name, f"'{name}' is a number.")
    if isinstance(default, str) and not (isinstance(value, str) and _is_text(value)):
        raise InvalidInput.of(name, f"'{name}' is a text.")
    if name == "profile" and value not in _PROFILES:
        raise InvalidInput.of(name, f"'profile' is one of: {', '.join(_PROFILES)}.")


def _is_text(value: str) -> bool:
    """Whether the text can be stored and sent: a lone half of a character can't."""
    return not any("\ud800" <= char <= "\udfff" for char in value)


def effective(
    *,
    card: EmbedderCard | None,
    installation: Mapping[str, Any],
    request: Mapping[str, Any],
    chat_model: Mapping[str, Any] | None = None,
    tenant: Mapping[str, Any] | None = None,
    agent: Mapping[str, Any] | None = None,
) -> Effective:
    """Settings in force for a question, each with its origin; ``chat_model`` are those of the model chosen for it.

    Raises `InvalidInput` for a request, and for layers that do not fit together, naming who set what.
    """
    vectors = {} if card is None else {"vector_threshold": card.vector_threshold}
    settings = resolve(
        (Origin.MODEL, vectors),
        (Origin.INSTALLATION, installation),
        (Origin.MODEL, chat_model or {}),
        (Origin.TENANT, tenant or {}),
        (Origin.AGENT, agent or {}),
        (Origin.REQUEST, checked(request)),
    )
    _check_together(settings)
    return settings


def _check_together(settings: Effective) -> None:
    """What each layer may set by itself, and all of them together may not."""
    weights = ("vector_weight", "keyword_weight")
    if not any(getattr(settings.values, name) for name in weights):
        told = ", ".join(f"'{name}' by the {settings.origin(name).value}" for name in weights)
        raise InvalidInput.of(
            "vector_weight",
            f"Both weights of the search are 0: {told}.",
            hint="One of the two must be above 0. 'mode' chooses between words and meaning.",
        )
