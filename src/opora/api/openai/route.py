"""Answers every failure under `/v1` in the shape that OpenAI's clients read."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

from opora.api.errors import STATUS_AND_NUMBER
from opora.domain.errors import NotFound, OporaError

_log = logging.getLogger(__name__)

_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    404: "invalid_request_error",
    413: "invalid_request_error",
    429: "rate_limit_error",
}
_CODES = {"unauthenticated": "invalid_api_key", "not_found": "model_not_found", "forbidden": "model_not_found"}
NOT_FOUND_MESSAGE = "There is no such model or knowledge base here."


class OpenAiRoute(APIRoute):
    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_in_shape(request: Request) -> Response:
            try:
                return await handle(request)
            except OporaError as exc:
                status = status_of(exc)
                if status >= 500:
                    _log.warning("%s %s: %s", request.method, request.url.path, exc.message, exc_info=exc)
                return failure(status, error_body(exc))
            except RequestValidationError as exc:
                first = exc.errors()[0]
                field = ".".join(str(part) for part in first["loc"][1:])
                message = f"{field}: {first['msg'].removeprefix('Value error, ')}"
                return failure(400, _body(400, message, param=field, code="invalid_input"))

        return handle_in_shape


def status_of(error: OporaError) -> int:
    status = STATUS_AND_NUMBER.get(error.code, (500, 0))[0]
    return 400 if status == 422 else status


def error_body(error: OporaError) -> dict[str, Any]:
    """A foreign base is told of exactly as one that is absent."""
    if isinstance(error, NotFound):
        return _body(404, NOT_FOUND_MESSAGE, param="model", code="model_not_found")
    message = f"{error.message} {error.hint}".strip()
    return _body(status_of(error), message, param=error.details.get("field"), code=_CODES.get(error.code, error.code))


def failure(status: int, body: dict[str, Any]) -> Response:
    headers = {401: {"WWW-Authenticate": "Bearer"}, 429: {"Retry-After": "5"}}.get(status)
    return respond(body, status=status, headers=headers)


def respond(body: dict[str, Any], *, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(to_json(body), status_code=status, media_type="application/json", headers=headers)


def to_json(body: dict[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"), default=str).encode("utf-8", "replace")


def _body(status: int, message: str, *, param: object, code: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": _TYPES.get(status, "server_error"), "param": param, "code": code}}
