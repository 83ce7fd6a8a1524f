"""A body that is too long is refused by what it says and by what it is, and never gathered."""

from collections.abc import AsyncIterator

import httpx2
import pytest
from fastapi import FastAPI, Request
from starlette.responses import PlainTextResponse, Response

from opora.api import errors
from opora.api.middleware.body import BodyLimitMiddleware

LIMIT = 1000


@pytest.fixture
async def http() -> AsyncIterator[httpx2.AsyncClient]:
    app = FastAPI()
    errors.install(app)

    async def count(request: Request) -> Response:
        return PlainTextResponse(str(len(await request.body())))

    app.add_api_route("/{path}", count, methods=["POST"])
    app.add_middleware(BodyLimitMiddleware, limit=lambda path: LIMIT if path == "/short" else 10 * LIMIT)
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost") as client:
        yield client


async def pieces(size: int) -> AsyncIterator[bytes]:
    for _ in range(0, size, 100):
        yield b"x" * 100


@pytest.mark.parametrize("size", [0, 999, 1000])
async def test_up_to_the_limit(http: httpx2.AsyncClient, size: int) -> None:
    response = await http.post("/short", content=b"x" * size)
    assert (response.status_code, response.text) == (200, str(size))


@pytest.mark.parametrize("size", [1001, 1_000_000])
async def test_a_declared_length_over_the_limit(http: httpx2.AsyncClient, size: int) -> None:
    response = await http.post("/short", content=b"x" * size)
    assert response.status_code == 413
    assert response.json()["error"]["code"] == 1000


async def test_a_length_that_is_not_declared_is_counted(http: httpx2.AsyncClient) -> None:
    assert (await http.post("/short", content=pieces(1000))).text == "1000"
    response = await http.post("/short", content=pieces(1100))
    assert response.status_code == 413
    assert response.json()["success"] is False


async def test_a_lying_length_is_counted(http: httpx2.AsyncClient) -> None:
    response = await http.post("/short", content=pieces(5000), headers={"Content-Length": "10"})
    assert response.status_code == 413


async def test_each_path_has_its_own_limit(http: httpx2.AsyncClient) -> None:
    assert (await http.post("/long", content=b"x" * 5000)).status_code == 200


async def test_reading_stops_soon_after_the_limit() -> None:
    """An endless sender is read for as much again as the limit, and then told."""
    taken = 0

    async def receive() -> dict[str, object]:
        nonlocal taken
        taken += 100
        return {"type": "http.request", "body": b"x" * 100, "more_body": True}

    sent: list[dict[str, object]] = []

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    async def reading(scope: object, receive: object, send: object) -> None:
        while True:
            await receive()  # type: ignore[operator]

    scope = {"type": "http", "path": "/", "headers": []}
    with pytest.raises(Exception, match="longer than"):
        await BodyLimitMiddleware(reading, limit=lambda path: LIMIT)(scope, receive, send)  # type: ignore[arg-type]
    assert taken <= 2 * LIMIT + 200
