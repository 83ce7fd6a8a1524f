"""A real HTTP server on loopback for provider tests, and one build of the local model a session."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from opora.models.e5_build import E5Files, find_weights, prepare

Handler = Callable[[Request], Awaitable[Response]]


class Provider:
    """A provider's server: what it answers is set by the test, what it was asked is kept."""

    def __init__(self) -> None:
        self.url = ""
        self.requests: list[dict[str, object]] = []
        self.headers: list[dict[str, str]] = []
        self.handler: Handler | None = None

    async def __call__(self, request: Request) -> Response:
        self.requests.append(await request.json())
        self.headers.append(dict(request.headers))
        assert self.handler is not None
        return await self.handler(request)


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    made = Provider()
    paths = ("/v1/embeddings", "/v1/chat/completions", "/v1/rerank")
    routes = [Route(path, made.__call__, methods=["POST"]) for path in paths]
    config = uvicorn.Config(Starlette(routes=routes), host="127.0.0.1", port=0, log_level="critical", lifespan="off")
    server = uvicorn.Server(config)
    config.load()
    server.lifespan = config.lifespan_class(config)
    await server.startup()
    made.url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/v1"
    loop = asyncio.create_task(server.main_loop())
    yield made
    server.should_exit = True
    await loop
    await server.shutdown()


@pytest.fixture(scope="session")
def e5_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the local model's built files, built once."""
    return tmp_path_factory.mktemp("e5")


@pytest.fixture(scope="session")
def e5_files(e5_cache: Path) -> E5Files:
    return prepare(find_weights(), e5_cache)
