"""What a document may carry beside its text: JSON that every store and every client takes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from opora.domain.errors import InvalidInput

MAX_METADATA_DEPTH = 32


def checked_metadata(metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """A copy; raises `InvalidInput` for NaN, lone surrogates, what JSON does not know, and what nests too deeply."""
    given = dict(metadata or {})
    if not all(_nests_at_most(value, MAX_METADATA_DEPTH) for value in given.values()):
        message = f"metadata: values nest at most {MAX_METADATA_DEPTH} levels deep."
        raise InvalidInput.of("metadata", message)
    try:
        json.dumps(given, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        message = "metadata: must be a JSON object of finite numbers and whole characters."
        raise InvalidInput.of("metadata", message) from error
    return given


def _nests_at_most(value: object, levels: int) -> bool:
    if isinstance(value, Mapping):
        inner: list[object] = list(value.values())
    elif isinstance(value, list | tuple):
        inner = list(value)
    else:
        return True
    return levels > 0 and all(_nests_at_most(item, levels - 1) for item in inner)
