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
_RANGES = {"temperature": (0.0, 2.0), "top_p": (0.0, 1.0)}
_COUNTS = {"embedding_top_k": 500, "rerank_top_k": 200, "max_completion_tokens": 1_000_000, "rrf_k": 10_000}


def checked(layer: Mapping[str, Any]) -> dict[str, Any]:
    """The layer with every name and range looked at; raises `InvalidInput` naming the field."""
    result: dict[str, Any] = {}
    for name, value in layer.items():
        if name not in _NAMES:
            raise InvalidInput.of(name, f"There is no setting '{name}'.", hint=f"Known: {', '.join(sorted(_NAMES))}.")
        if value is None:
            continue
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


def effective(*, card: EmbedderCard | None, installation: Mapping[str, Any], request: Mapping[str, Any]) -> Effective:
    """Settings in force for a question and where each came from."""
    model = {} if card is None else {"vector_threshold": card.vector_threshold}
    return resolve((Origin.MODEL, model), (Origin.INSTALLATION, installation), (Origin.REQUEST, checked(request)))
