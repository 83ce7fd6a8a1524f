"""Whether each part of an installation works, and how to mend it."""

from __future__ import annotations

from typing import Any

from opora.domain.errors import OporaError
from opora.ports import ChatModel, Database, Embedder, Reranker, SearchEngine, StreamLog


async def check_database(database: Database) -> dict[str, Any]:
    try:
        async with database.read() as stored:
            pending = await stored.work.pending()
    except OporaError as exc:
        return _failed("database", exc)
    return _fine("database", f"{database.place}, {pending} pieces of work waiting")


async def check_engine(engine: SearchEngine) -> dict[str, Any]:
    try:
        generation = await engine.generation()
    except OporaError as exc:
        return _failed("search engine", exc)
    return _fine("search engine", f"{engine.name}, {generation}")


async def check_log(log: StreamLog, kind: str) -> dict[str, Any]:
    try:
        await log.exists("ready?", "ready?")
    except OporaError as exc:
        return _failed("log of answers", exc)
    return _fine("log of answers", f"in {kind}")


async def check_embedder(embedder: Embedder | None) -> dict[str, Any]:
    if embedder is None:
        return _fine("embedding model", "none: words only are searched")
    try:
        await embedder.embed_query("ready?")
    except OporaError as exc:
        return _failed("embedding model", exc)
    return _fine("embedding model", f"{embedder.card.identity}, {embedder.card.dimension} numbers")


def check_chat(chat: ChatModel | None) -> dict[str, Any]:
    """Only whether one is set: asking it would cost its owner money."""
    return _fine("chat model", chat.identity if chat else "none: answers are quotes")


def check_reranker(reranker: Reranker | None) -> dict[str, Any]:
    """Only whether one is set, for the same reason; while it fails, answers say so and retrieval's order stands."""
    return _fine("reranking model", reranker.card.identity if reranker else "none: the order is that of retrieval")


def _fine(name: str, detail: str) -> dict[str, Any]:
    return {"name": name, "ok": True, "detail": detail, "hint": ""}


def _failed(name: str, error: OporaError) -> dict[str, Any]:
    return {"name": name, "ok": False, "detail": error.message, "hint": error.hint}
