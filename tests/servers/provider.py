"""A model provider on loopback whose words and vectors come when the test lets them, for servers in other processes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

SIZE = 8


@dataclass
class Provider:
    """Chat says a word of ``words`` at a time, None ends it; embeddings wait while ``embeds`` is not set."""

    url: str = ""
    words: asyncio.Queue[str | None] = field(default_factory=asyncio.Queue)
    embeds: asyncio.Event = field(default_factory=asyncio.Event)
    asked_to_embed: asyncio.Event = field(default_factory=asyncio.Event)

    async def chat(self, request: Request) -> Response:
        await request.json()

        async def stream() -> AsyncIterator[bytes]:
            while (word := await self.words.get()) is not None:
                yield _chunk({"content": word}, None)
            yield _chunk({}, "stop") + b"data: [DONE]\n\n"

        return StreamingResponse(stream(), media_type="text/event-stream")

    async def embed(self, request: Request) -> Response:
        texts = (await request.json())["input"]
        texts = [texts] if isinstance(texts, str) else texts
        if len(texts[0]) > SIZE * SIZE:
            self.asked_to_embed.set()
            await self.embeds.wait()
        vectors = [[1.0 + (len(text) + i) % 5 for i in range(SIZE)] for text in texts]
        data = [{"object": "embedding", "index": i, "embedding": vector} for i, vector in enumerate(vectors)]
        return JSONResponse({"object": "list", "model": "m", "data": data, "usage": {"prompt_tokens": 1}})


def _chunk(delta: dict[str, Any], finish: str | None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    body = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [choice]}
    return f"data: {json.dumps(body)}\n\n".encode()


@asynccontextmanager
async def providing() -> AsyncIterator[Provider]:
    made = Provider()
    routes = [
        Route("/v1/chat/completions", made.chat, methods=["POST"]),
        Route("/v1/embeddings", made.embed, methods=["POST"]),
    ]
    config = uvicorn.Config(Starlette(routes=routes), host="127.0.0.1", port=0, log_level="critical", lifespan="off")
    server = uvicorn.Server(config)
    config.load()
    server.lifespan = config.lifespan_class(config)
    await server.startup()
    made.url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/v1"
    loop = asyncio.create_task(server.main_loop())
    yield made
    made.embeds.set()
    server.should_exit = True
    await loop
    await server.shutdown()
