"""What stands in messages: requests read, replies written, cut where they are larger than the broker takes. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from opora.domain.errors import InvalidInput, OporaError, Unavailable

CUT = "results_left_out"
"""In a reply that was cut: how many results did not fit into it."""
PAYLOAD_TOO_LARGE = "payload_too_large"


def read_request(payload: bytes) -> dict[str, Any]:
    """Raises `InvalidInput` for anything but a JSON object in UTF-8."""
    try:
        body = json.loads(payload.decode("utf-8"))
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise InvalidInput.of("body", "The request is no JSON.", hint="Send a JSON object in UTF-8.") from error
    if not isinstance(body, dict):
        raise InvalidInput.of("body", "The request is no JSON object.")
    return body


def write_reply(body: Mapping[str, Any], most: int) -> bytes:
    """A reply of ``most`` bytes at most. Results that do not fit are left out from the end and counted in it; a reply
    that does not fit without any is an error."""
    whole = _encoded(body)
    if len(whole) <= most:
        return whole
    results = body.get("results")
    if isinstance(results, list):
        for kept in _halving(results, body, most):
            return kept
    message = f"The reply has {len(whole):,} bytes, and the broker takes {most:,}."
    error = {"name": PAYLOAD_TOO_LARGE, "message": message, "hint": "Ask for less, or raise max_payload of the broker."}
    return _encoded({"error": {**error, "details": {"size": len(whole), "max_payload": most}}})


def write_error(error: Exception) -> bytes:
    """Every request gets a reply: what went wrong, under a stable name."""
    if isinstance(error, OporaError):
        told = {"name": error.code, "message": error.message, "hint": error.hint, "details": dict(error.details)}
    else:
        told = {"name": "internal", "message": "Something went wrong inside Opora; its log says what.", "hint": ""}
    return _encoded({"error": told})


def read_reply(payload: bytes) -> dict[str, Any]:
    """Raises `Unavailable` for a reply that is none, and for one that is an error, with its words."""
    try:
        body = json.loads(payload)
    except ValueError as error:
        raise Unavailable("The reply makes no sense.") from error
    if not isinstance(body, dict):
        raise Unavailable("The reply makes no sense.")
    failure = body.get("error")
    if isinstance(failure, dict):
        raise Unavailable(str(failure.get("message") or "The request failed."), hint=str(failure.get("hint") or ""))
    return body


def _halving(results: list[Any], body: Mapping[str, Any], most: int) -> list[bytes]:
    """The reply with as many of the first results as fit, or nothing where none does."""
    low, high, best = 1, len(results) - 1, []
    while low <= high:
        middle = (low + high) // 2
        cut = {**body, "results": results[:middle], "results_count": middle, CUT: len(results) - middle}
        encoded = _encoded(cut)
        if len(encoded) <= most:
            best, low = [encoded], middle + 1
        else:
            high = middle - 1
    return best


def _encoded(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"), default=str).encode("utf-8", "replace")
