"""Maps errors to HTTP: one table of statuses and numbers, one envelope, problem details for those who ask."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from opora.domain.errors import OporaError

_log = logging.getLogger(__name__)

STATUS_AND_NUMBER: Mapping[str, tuple[int, int]] = {
    "too_large": (413, 1000),
    "unauthenticated": (401, 1001),
    "not_found": (404, 1003),
    "forbidden": (404, 1003),
    "conflict": (409, 1005),
    "busy": (429, 1006),
    "internal": (500, 1007),
    "unavailable": (503, 1008),
    "engine_unavailable": (503, 1008),
    "model_unavailable": (503, 1008),
    "model_not_configured": (503, 1008),
    "timeout": (504, 1009),
    "invalid_input": (422, 1010),
    "parse_failed": (422, 1010),
    "dimension_mismatch": (409, 2200),
}
QUERY_DIMENSION_MISMATCH = 2201
"""The number when it is the query's vector that does not fit (``details['of'] == 'query'``)."""
_PLAIN: Mapping[int, tuple[int, str]] = {
    400: (1000, "bad_request"),
    401: (1001, "unauthenticated"),
    403: (1002, "forbidden"),
    404: (1003, "not_found"),
    405: (1004, "method_not_allowed"),
    409: (1005, "conflict"),
    413: (1000, "too_large"),
    421: (1002, "misdirected_request"),
    429: (1006, "busy"),
    503: (1008, "unavailable"),
}
NOT_FOUND_MESSAGE = "There is nothing here under this id."
INTERNAL_MESSAGE = "Something went wrong inside Opora; the log says what."
_RETRY_SECONDS = "5"
_BODY_HINT = "Send a JSON object, with the header 'Content-Type: application/json'."
PROBLEM_JSON = "application/problem+json"


def install(app: FastAPI) -> None:
    """Answer every error of the application in the envelope."""
    app.add_exception_handler(OporaError, _on_opora_error)
    app.add_exception_handler(RequestValidationError, _on_invalid_request)
    app.add_exception_handler(HTTPException, _on_http_exception)


def error_response(
    accept: str,
    *,
    status: int,
    number: int,
    name: str,
    message: str,
    hint: str = "",
    details: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
    data: object = None,
) -> Response:
    """The error as the client wants it; ``data`` carries the existing row of a conflict."""
    error: dict[str, Any] = {"code": number, "name": name, "message": message, "details": dict(details or {})}
    if hint:
        error["hint"] = hint
    if PROBLEM_JSON in accept:
        body = {
            "type": f"urn:opora:error:{name}",
            "title": HTTPStatus(status).phrase,
            "status": status,
            "detail": message,
            **{key: value for key, value in error.items() if key != "message"},
        }
    else:
        body = {"success": False, "error": error}
    if data is not None:
        body["data"] = data
    content = json.dumps(body, ensure_ascii=False, separators=(",", ":"), default=str).encode("utf-8", "replace")
    media_type = PROBLEM_JSON if PROBLEM_JSON in accept else "application/json"
    return Response(content, status_code=status, media_type=media_type, headers=dict(headers or {}))


def opora_error_response(accept: str, exc: OporaError, *, data: object = None) -> Response:
    """A foreign thing is answered exactly as one that is absent, whatever the error knows."""
    status, number = STATUS_AND_NUMBER.get(exc.code, (500, 1007))
    if status == 404:
        return not_found_response(accept)
    if exc.code == "dimension_mismatch" and exc.details.get("of") == "query":
        number = QUERY_DIMENSION_MISMATCH
    headers = {401: {"WWW-Authenticate": "Bearer"}, 429: {"Retry-After": _RETRY_SECONDS}}.get(status)
    return error_response(
        accept,
        status=status,
        number=number,
        name=exc.code,
        message=exc.message,
        hint=exc.hint,
        details=exc.details,
        headers=headers,
        data=data,
    )


def not_found_response(accept: str) -> Response:
    return error_response(accept, status=404, number=1003, name="not_found", message=NOT_FOUND_MESSAGE)


def plain_response(accept: str, status: int, message: str, *, hint: str = "") -> Response:
    """An error that is HTTP's own: a wrong method, a refused host, a body that is too long."""
    number, name = _PLAIN.get(status, (1000, "bad_request") if status < 500 else (1007, "internal"))
    return error_response(accept, status=status, number=number, name=name, message=message, hint=hint)


async def _on_opora_error(request: Request, exc: Exception) -> Response:
    assert isinstance(exc, OporaError)
    response = opora_error_response(_accept(request), exc)
    if response.status_code >= 500:
        _log.warning("%s %s: %s", request.method, request.url.path, exc.message, exc_info=exc)
    return response


async def _on_invalid_request(request: Request, exc: Exception) -> Response:
    assert isinstance(exc, RequestValidationError)
    errors = [_told(error) for error in exc.errors()]
    first = errors[0]
    return error_response(
        _accept(request),
        status=422,
        number=1010,
        name="invalid_input",
        message=f"{first['field']}: {first['message']}",
        hint=_BODY_HINT if first["field"] == "body" else "",
        details={"field": first["field"], "errors": errors},
    )


async def _on_http_exception(request: Request, exc: Exception) -> Response:
    assert isinstance(exc, HTTPException)
    if exc.status_code == 404:
        return not_found_response(_accept(request))
    response = plain_response(_accept(request), exc.status_code, str(exc.detail))
    response.headers.update(exc.headers or {})
    return response


def _accept(request: Request) -> str:
    return request.headers.get("accept", "")


def _told(error: Mapping[str, Any]) -> dict[str, str]:
    """A body that is no JSON has no field: the framework names the character instead, and its own class."""
    if error["type"] == "json_invalid":
        cause = error.get("ctx", {}).get("error", "")
        return {"field": "body", "message": f"is no JSON from character {error['loc'][-1]} on: {cause}"}
    if error["loc"] == ("body",) and error["type"] != "missing":
        return {"field": "body", "message": "must be a JSON object"}
    return {"field": _field(error["loc"]), "message": _sentence(error["msg"])}


def _field(place: Sequence[object]) -> str:
    """The name as the client wrote it: ``body`` and ``query`` say where it stood, not what it is called."""
    parts = [str(part) for part in place]
    return ".".join(parts[1:] if len(parts) > 1 else parts)


def _sentence(message: str) -> str:
    return message.removeprefix("Value error, ")
