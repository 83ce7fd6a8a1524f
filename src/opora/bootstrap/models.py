"""The models that the settings name: one for vectors, one for chat, one that reranks; each may be missing."""

from __future__ import annotations

import os
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from opora.domain.errors import InvalidInput, ModelNotConfigured
from opora.net.addresses import AddressPolicy
from opora.net.client import GuardedClient
from opora.ports import ChatModel, Embedder, Reranker
from opora.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    embedder: Embedder | None
    chat: ChatModel | None
    vision: ChatModel | None = None
    """Looks at pictures where the chat model can't."""
    reranker: Reranker | None = None


async def make_models(settings: Settings, stack: AsyncExitStack) -> Models:
    """The models that the settings name. An endpoint's embedding model is asked once for its size."""
    from opora.models.checked import CheckedEmbedder
    from opora.models.table import EMBEDDERS, load

    embedder: CheckedEmbedder | None = None
    if not settings.role.works:
        settings = settings.model_copy(update={"embedding": "none"})
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
    chat, vision = _chat_models(settings, stack)
    return Models(embedder=embedder, chat=chat, vision=vision, reranker=_reranker(settings, stack))


def _chat_models(settings: Settings, stack: AsyncExitStack) -> tuple[ChatModel | None, ChatModel | None]:
    """The one that answers and the one that looks at pictures, both at one endpoint."""
    from opora.models.table import CHAT_MODELS, load

    if settings.chat_url:
        if not settings.chat_model:
            raise ModelNotConfigured("The chat endpoint has no model.", hint="Set OPORA_CHAT_MODEL.")
        client = _client(settings.chat_url)
        stack.push_async_callback(client.close)
        key = settings.chat_key.get_secret_value() if settings.chat_key else ""

        def made(model: str, *, sees_images: bool) -> ChatModel:
            chat: ChatModel = load(CHAT_MODELS, "openai")(
                settings.chat_url,
                model,
                key=key,
                provider=settings.chat_provider,
                sees_images=sees_images,
                client=client,
            )
            stack.push_async_callback(chat.close)
            return chat

        chat = made(settings.chat_model, sees_images=settings.chat_vision)
        return chat, made(settings.vision_model, sees_images=True) if settings.vision_model else None
    if settings.vision_model:
        raise ModelNotConfigured(
            "The model for pictures has no endpoint.", hint="Set OPORA_CHAT_URL and OPORA_CHAT_MODEL."
        )
    return None, None


def _reranker(settings: Settings, stack: AsyncExitStack) -> Reranker | None:
    """The reranking model, if any. It is first used by a question: while it is down, retrieval's order stands."""
    from opora.models.rerank_styles import STYLES
    from opora.models.table import RERANKERS, load

    url, folder, style = settings.rerank_url, settings.rerank_folder, settings.rerank_style
    if style not in STYLES:
        raise InvalidInput.of("rerank_style", f"OPORA_RERANK_STYLE is one of {', '.join(STYLES)}.")
    if url and folder:
        raise InvalidInput.of(
            "rerank_folder", "There are two reranking models.", hint="Set OPORA_RERANK_URL or OPORA_RERANK_FOLDER."
        )
    reranker: Reranker
    if folder:
        threads = settings.embedding_threads or os.cpu_count() or 1
        reranker = load(RERANKERS, "onnx")(Path(folder).expanduser(), threads=threads)
    elif url:
        if not settings.rerank_model and STYLES[style].names_model:
            raise ModelNotConfigured("The rerank endpoint has no model.", hint="Set OPORA_RERANK_MODEL.")
        client = _client(url)
        stack.push_async_callback(client.close)
        reranker = load(RERANKERS, "endpoint")(
            url,
            settings.rerank_model,
            key=settings.rerank_key.get_secret_value() if settings.rerank_key else "",
            style=style,
            max_passage_chars=settings.rerank_chars,
            client=client,
        )
    else:
        return None
    stack.push_async_callback(reranker.close)
    return reranker


def _client(url: str) -> GuardedClient:
    """A guarded client that may reach the one host an administrator named, be it an inner one."""
    parts = urlsplit(url)
    if not parts.hostname:
        raise InvalidInput(f"'{url}' is not an address.", hint="Give a full address such as http://127.0.0.1:11434/v1.")
    return GuardedClient(AddressPolicy(allowed_hosts=frozenset({parts.hostname.lower()})))


def described(models: Models) -> list[dict[str, Any]]:
    """The configured models, for people and clients to choose from."""
    found: list[dict[str, Any]] = []
    if models.embedder is not None:
        card = models.embedder.card
        found.append(
            {
                "id": card.identity,
                "name": card.identity,
                "type": "embedding",
                "dimension": card.dimension,
                "max_tokens": card.max_tokens,
                "vector_threshold": card.vector_threshold,
                "description": card.description,
            }
        )
    if models.chat is not None:
        found.append({"id": models.chat.identity, "name": models.chat.identity, "type": "chat"})
    else:
        found.append(
            {
                "id": "extractive",
                "name": "extractive",
                "type": "chat",
                "description": "Quotes from the documents; no text is written.",
            }
        )
    if models.reranker is not None:
        identity = models.reranker.card.identity
        found.append({"id": identity, "name": identity, "type": "rerank"})
    return found
