"""One error root; every error carries a stable code, a sentence for people and a hint how to mend it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar


class OporaError(Exception):
    """The root. Edges map ``code`` to HTTP statuses, exit codes and bus replies; the domain knows none of them."""

    code: ClassVar[str] = "internal"

    def __init__(self, message: str, *, hint: str = "", details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details: dict[str, Any] = dict(details or {})


class InvalidInput(OporaError):
    """A value from outside does not fit; ``details['field']`` names it where one field is to blame."""

    code = "invalid_input"

    @classmethod
    def of(cls, field: str, message: str, *, hint: str = "") -> InvalidInput:
        return cls(message, hint=hint, details={"field": field})


class NotFound(OporaError):
    """The thing is not there, or is not this principal's to see: outside, the two look the same."""

    code = "not_found"


class Forbidden(NotFound):
    """The thing exists and belongs to someone else. Edges answer exactly as for `NotFound`."""

    code = "forbidden"


class Unauthenticated(OporaError):
    code = "unauthenticated"


class Conflict(OporaError):
    """The same thing is there already; ``details`` carries the one that exists."""

    code = "conflict"


class TooLarge(OporaError):
    code = "too_large"


class Busy(OporaError):
    """Something else holds the resource, or a limit is reached for now; trying again later may work."""

    code = "busy"


class Unavailable(OporaError):
    """A service that this needs (engine, model, bus) is down or not configured."""

    code = "unavailable"


class EngineError(Unavailable):
    """A search engine failed. Never turned into an empty result."""

    code = "engine_unavailable"


class ModelError(Unavailable):
    """A model could not be reached or answered with something unusable."""

    code = "model_unavailable"


class ModelNotConfigured(ModelError):
    code = "model_not_configured"


class DimensionMismatch(OporaError):
    """A vector's size differs from the size recorded for its model (codes 2200 and 2201 on the HTTP surface)."""

    code = "dimension_mismatch"


class ParseFailed(OporaError):
    """A document can't be read; ``details['reason']`` is one of the stable reasons of `ParseReason`."""

    code = "parse_failed"

    def __init__(self, reason: str, message: str, *, hint: str = "", details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message, hint=hint, details={**(details or {}), "reason": reason})
        self.reason = reason


class Timeout(OporaError):
    code = "timeout"
