"""The models there are, by the name that settings use; a class is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from opora.domain.errors import InvalidInput

EMBEDDERS: Mapping[str, str] = {
    "local": "opora.models.local_e5:LocalE5",
    "openai": "opora.models.openai_compatible:OpenAIEmbedder",
    "null": "opora.models.null:NullEmbedder",
}

CHAT_MODELS: Mapping[str, str] = {
    "openai": "opora.models.openai_compatible:OpenAIChat",
    "scripted": "opora.models.scripted:ScriptedChat",
}

RERANKERS: Mapping[str, str] = {
    "endpoint": "opora.models.rerank_endpoint:RerankEndpoint",
    "onnx": "opora.models.rerank_onnx:OnnxReranker",
}


def load(table: Mapping[str, str], name: str) -> Any:
    """The class behind a name of a table; raises `InvalidInput` for a name that is not there."""
    target = table.get(name)
    if target is None:
        raise InvalidInput(f"There is no model provider named '{name}'.", hint=f"Known are: {', '.join(table)}.")
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute)
