"""The models that the settings name: one for vectors, one for chat, or none."""

from __future__ import annotations

import os
from contextlib import AsyncExitStack
from dataclasses import dataclass
from urllib.parse import urlsplit

from opora.domain.errors import InvalidInput, ModelNotConfigured
from opora.net.addresses import AddressPolicy
from opora.net.client import GuardedClient
from opora.ports import ChatModel, Embedder
from opora.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    embedder: Embedder | None
    chat: ChatModel | None


async def make_models(settings: Settings, stack: AsyncExitStack) -> Models:
    """The models that the settings name. An endpoint's embedding model is asked once for its size."""
    from opora.models.checked import CheckedEmbedder
    from opora.models.table import CHAT_MODELS, EMBEDDERS, load

    embedder: CheckedEmbedder | None = None
    if settings.embedding == "local":
        threads = settings.embedding_threads or os.cpu_count() or 1
        embedder = CheckedEmbedder(load(EMBEDDERS, "local")(settings.data / "models", threads=threads))
    elif settings.embedding == "null":
        embedder = CheckedEmbedder(load(EMBEDDERS, "null")())
    elif settings.embedding == "openai":
        model, url = settings.embedding_model, settings.embedding_url
        if not (model and url):
            raise ModelNotConfigured(
                "The embeddings endpoint is not complete.",
                hint="Set OPORA_EMBEDDING_URL and OPORA_EMBEDDING_MODEL, or OPORA_EMBEDDING=local.",
            )
        client = _client(url)
        stack.push_async_callback(client.close)
        key = settings.embedding_key.get_secret_value() if settings.embedding_key else ""
        embedder = CheckedEmbedder(load(EMBEDDERS, "openai")(url, model, key=key, client=client))
        await embedder.probe()
    elif settings.embedding != "none":
        raise InvalidInput.of("embedding", "OPORA_EMBEDDING is local, openai, null or none.")
    if embedder is not None:
        stack.push_async_callback(embedder.close)
    chat: ChatModel | None = None
    if settings.chat_url:
        if not settings.chat_model:
            raise ModelNotConfigured("The chat endpoint has no model.", hint="Set OPORA_CHAT_MODEL.")
        client = _client(settings.chat_url)
        stack.push_async_callback(client.close)
        key = settings.chat_key.get_secret_value() if settings.chat_key else ""
        chat = load(CHAT_MODELS, "openai")(settings.chat_url, settings.chat_model, key=key, client=client)
        stack.push_async_callback(chat.close)
    return Models(embedder=embedder, chat=chat)


def _client(url: str) -> GuardedClient:
    """A guarded client that may reach the one host an administrator named, be it an inner one."""
    parts = urlsplit(url)
    if not parts.hostname:
        raise InvalidInput(f"'{url}' is not an address.", hint="Give a full address such as http://127.0.0.1:11434/v1.")
    return GuardedClient(AddressPolicy(allowed_hosts=frozenset({parts.hostname.lower()})))
