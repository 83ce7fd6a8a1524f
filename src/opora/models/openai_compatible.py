"""Embeddings and chat by any endpoint that speaks the OpenAI protocol: OpenAI itself, Ollama, vLLM and many more."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any

import numpy as np

from opora.domain.errors import InvalidInput, ModelError
from opora.models.openai_endpoint import Endpoint
from opora.models.openai_stream import read_delta, read_deltas
from opora.models.thinking import PROVIDERS, thinking_fields
from opora.net.client import GuardedClient
from opora.ports import ChatDelta, ChatMessage, ChatOptions, EmbedderCard, Vectors

MAX_EMBEDDING_BYTES = 256 * 1024 * 1024
MAX_CHAT_BYTES = 64 * 1024 * 1024


_KNOWN = ", ".join(PROVIDERS)


class OpenAIEmbedder:
    """A raw `Embedder` for `CheckedEmbedder`, which learns the size of its vectors by a probe."""

    def __init__(
        self,
        url: str,
        model: str,
        *,
        key: str = "",
        query_prefix: str = "",
        passage_prefix: str = "",
        max_tokens: int = 8192,
        vector_threshold: float = 0.0,
        place: str = "",
        setting: str = "OPORA_EMBEDDING",
        client: GuardedClient | None = None,
    ) -> None:
        """Prefixes are what some models, such as the E5 family, want before queries and passages. ``place`` tells a
        model from one of the same name that is served elsewhere: their vectors are not of one space."""
        self._endpoint = Endpoint(url, key=key, setting=setting, client=client)
        self._model = model
        self._query_prefix = query_prefix
        self._passage_prefix = passage_prefix
        prefixes = f"/{query_prefix}|{passage_prefix}" if query_prefix or passage_prefix else ""
        self._card = EmbedderCard(
            identity=f"openai/{model}{prefixes}{f'@{place}' if place else ''}",
            dimension=0,
            max_tokens=max_tokens,
            vector_threshold=vector_threshold,
            description=f"{model} at an OpenAI-compatible endpoint. Its scores were not measured here.",
        )

    @property
    def card(self) -> EmbedderCard:
        """``dimension`` is 0: only the endpoint knows it."""
        return self._card

    async def embed_query(self, text: str) -> Vectors:
        row: Vectors = (await self._embed([self._query_prefix + text]))[0]
        return row

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return await self._embed([self._passage_prefix + text for text in texts])

    async def close(self) -> None:
        await self._endpoint.close()

    async def _embed(self, texts: list[str]) -> Vectors:
        body = {"model": self._model, "input": texts, "encoding_format": "float"}
        async with self._endpoint.post("/embeddings", body, max_bytes=MAX_EMBEDDING_BYTES) as opened:
            raw = await opened.read()
        return read_embeddings(raw, len(texts))


def read_embeddings(raw: bytes, count: int) -> Vectors:
    """The vectors of an embeddings answer, each at the place that its ``index`` names.

    Raises `ModelError` unless there is exactly one for each text and all are of one size. Numbers may come as a list
    or as base64 of little-endian float32.
    """
    try:
        answer = json.loads(raw)
        items = answer["data"]
        rows: dict[int, Any] = {}
        for position, item in enumerate(items):
            place = item.get("index", position)
            if place in rows or not 0 <= place < count:
                raise ModelError(f"The embedding model returned a vector for text {place} of {count} out of turn.")
            rows[place] = _numbers(item["embedding"])
        if len(rows) != count:
            raise ModelError(f"The embedding model returned {len(rows)} vectors for {count} texts.")
        return np.stack([rows[place] for place in range(count)]) if count else np.zeros((0, 0), np.float32)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(
            "The embedding model's answer is not in the expected form.", hint="Check OPORA_EMBEDDING_URL."
        ) from error


def _numbers(value: Any) -> Vectors:
    if isinstance(value, str):
        return np.frombuffer(base64.b64decode(value, validate=True), "<f4").astype(np.float32)
    return np.asarray(value, np.float32)


class OpenAIChat:
    """A `ChatModel` that streams from ``/chat/completions``."""

    def __init__(
        self,
        url: str,
        model: str,
        *,
        key: str = "",
        provider: str = "openai",
        setting: str = "OPORA_CHAT",
        sees_images: bool = False,
        client: GuardedClient | None = None,
    ) -> None:
        """``provider`` says how thinking is asked for, ``sees_images`` whether pictures may be sent.

        Raises `InvalidInput` for a provider that is not in the table.
        """
        if provider not in PROVIDERS:
            raise InvalidInput.of("provider", f"There is no provider '{provider}'.", hint=f"One of {_KNOWN}.")
        self._endpoint = Endpoint(url, key=key, setting=setting, client=client)
        self._model = model
        self._provider = provider
        self._sees_images = sees_images

    @property
    def identity(self) -> str:
        return f"openai/{self._model}"

    @property
    def sees_images(self) -> bool:
        return self._sees_images

    async def stream(self, messages: Sequence[ChatMessage], options: ChatOptions) -> AsyncIterator[ChatDelta]:
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [{"role": message.role, "content": content_of(message)} for message in messages],
            "temperature": options.temperature,
            "max_tokens": options.max_tokens,
            "stream": True,
            **thinking_fields(self._provider, options.thinking),
        }
        body |= {name: value for name in ("top_p", "seed") if (value := getattr(options, name)) is not None}
        async with self._endpoint.post("/chat/completions", body, max_bytes=MAX_CHAT_BYTES) as opened:
            if "json" in opened.headers.get("content-type", ""):
                for delta in read_whole(await opened.read()):
                    yield delta
                return
            async with aclosing(opened.chunks()) as chunks, aclosing(read_deltas(chunks)) as deltas:
                async for delta in deltas:
                    yield delta

    async def close(self) -> None:
        await self._endpoint.close()


def content_of(message: ChatMessage) -> str | list[dict[str, Any]]:
    """Plain text, or parts where pictures come before the text that speaks of them."""
    if not message.pictures:
        return message.content
    parts: list[dict[str, Any]] = []
    for picture in message.pictures:
        url = f"data:{picture.media_type};base64,{base64.b64encode(picture.data).decode('ascii')}"
        parts.append({"type": "image_url", "image_url": {"url": url}})
    return [*parts, {"type": "text", "text": message.content}]


def read_whole(raw: bytes) -> list[ChatDelta]:
    """The answer of a server that does not stream though it was asked to."""
    try:
        delta = read_delta(json.loads(raw), part="message")
    except ValueError as error:
        raise ModelError("The chat model sent something that is not JSON.", hint="Check OPORA_CHAT_URL.") from error
    if delta is None or not delta.finish_reason:
        raise ModelError("The chat model's answer was not finished.", hint="Ask again.")
    return [delta]
