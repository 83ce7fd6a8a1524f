"""How the services that rerank want to be asked, by the name that settings use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """``texts`` is the field that takes the passages; ``extra`` is sent with every request."""

    texts: str = "documents"
    extra: Mapping[str, Any] = field(default_factory=dict)
    names_model: bool = True
    batch: int = 1000
    """The most passages of one request."""
    is_unit: bool = False
    """The service promises scores from 0 to 1. Without that promise the model behind it decides the scale."""

    def body(self, model: str, query: str, passages: Sequence[str]) -> dict[str, Any]:
        asked: dict[str, Any] = {"query": query, self.texts: list(passages), **self.extra}
        if self.names_model:
            asked |= {"model": model, "top_n": len(passages)}
        return asked


STYLES: Mapping[str, Style] = {
    # Also spoken by llama.cpp and others, which pass on the raw logits of some models.
    "jina": Style(extra={"return_documents": False}),
    # The first and the second version of the protocol differ in what they return beside the scores.
    "cohere": Style(is_unit=True),
    # A server takes 32 texts a request unless its administrator says otherwise, and refuses what is too long for the
    # model unless it is told to cut.
    "tei": Style(
        texts="texts", extra={"truncate": True, "raw_scores": False}, names_model=False, batch=32, is_unit=True
    ),
    # vLLM and Xinference: whether scores are logits depends on the model and on how it was started.
    "vllm": Style(),
}
