"""A provider of models as OpenAI-compatible services are, on a loopback port, that answers as its test says."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from tests.servers.loopback import on_loopback


@dataclass
class ModelServer:
    """``words`` turn a text's vector to axes of their own, the last axis is for all others; ``rank`` scores passages
    by the word that stands in them. What was asked of each path is kept."""

    words: Mapping[str, int] = field(default_factory=dict)
    size: int = 4
    rank: Mapping[str, float] = field(default_factory=dict)
    says: str = "OK"
    status: int = 200
    url: str = ""
    embedded: list[list[str]] = field(default_factory=list)
    reranked: list[dict[str, Any]] = field(default_factory=list)
    chats: list[dict[str, Any]] = field(default_factory=list)

    def vector(self, text: str) -> list[float]:
        row = [0.0] * self.size
        for word, axis in self.words.items():
            if word in text.lower():
                row[axis] += 1.0
        return row if any(row) else [*row[:-1], 1.0]

    async def embeddings(self, request: Request) -> Response:
        texts = (await request.json())["input"]
        self.embedded.append(texts)
        return self._answer({"data": [{"index": n, "embedding": self.vector(text)} for n, text in enumerate(texts)]})

    async def rerank(self, request: Request) -> Response:
        body = await request.json()
        self.reranked.append(body)
        scores = [max((score for word, score in self.rank.items() if word in text), default=0.01)
                  for text in body["documents"]]  # fmt: skip
        return self._answer({"results": [{"index": n, "relevance_score": s} for n, s in enumerate(scores)]})

    async def chat(self, request: Request) -> Response:
        self.chats.append(await request.json())
        return self._answer({"choices": [{"message": {"content": self.says}, "finish_reason": "stop"}]})

    def _answer(self, body: dict[str, Any]) -> Response:
        failed = {"error": {"message": "down"}}
        return JSONResponse(body if self.status == 200 else failed, status_code=self.status)


@asynccontextmanager
async def serving_models(model_server: ModelServer) -> AsyncIterator[ModelServer]:
    routes = [
        Route("/v1/embeddings", model_server.embeddings, methods=["POST"]),
        Route("/v1/rerank", model_server.rerank, methods=["POST"]),
        Route("/v1/chat/completions", model_server.chat, methods=["POST"]),
    ]
    async with on_loopback(routes) as address:
        model_server.url = f"{address}/v1"
        yield model_server
