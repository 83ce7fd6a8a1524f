"""A chat endpoint in OpenAI's shape for tests: each model says what a test tells it; what it was asked is kept."""

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


@dataclass
class ChatServer:
    """``says`` has the replies of each model by its name, used up in order, the last one again and again.

    A reply is a text, sent in two pieces, or the status of a refusal.
    """

    says: dict[str, list[str | int]]
    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)

    async def __call__(self, request: Request) -> Response:
        body = await request.json()
        self.asked.append(body)
        replies = self.says[body["model"]]
        reply = replies.pop(0) if len(replies) > 1 else replies[0]
        if isinstance(reply, int):
            return JSONResponse({"error": {"message": "Refused."}}, status_code=reply)
        return StreamingResponse(_frames(reply), media_type="text/event-stream")

    def asked_of(self, model: str) -> list[dict[str, Any]]:
        return [body for body in self.asked if body["model"] == model]


async def _frames(reply: str) -> AsyncIterator[str]:
    half = len(reply) // 2
    for piece in (reply[:half], reply[half:]):
        yield f"data: {json.dumps({'choices': [{'delta': {'content': piece}}]})}\n\n"
    yield f"data: {json.dumps({'choices': [{'delta': {}, 'finish_reason': 'stop'}]})}\n\n"
    yield "data: [DONE]\n\n"


@asynccontextmanager
async def chat_server(**says: list[str | int]) -> AsyncIterator[ChatServer]:
    """Listens on a free port of the loopback."""
    made = ChatServer(says=says)
    app = Starlette(routes=[Route("/v1/chat/completions", made.__call__, methods=["POST"])])
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="critical", lifespan="off")
    server = uvicorn.Server(config)
    config.load()
    server.lifespan = config.lifespan_class(config)
    await server.startup()
    made.url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/v1"
    loop = asyncio.create_task(server.main_loop())
    try:
        yield made
    finally:
        server.should_exit = True
        await loop
        await server.shutdown()
