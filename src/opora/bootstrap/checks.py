"""Whether each part of an installation works, and how to mend it."""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opora.domain.errors import OporaError
from opora.ports import ChatModel, Database, Embedder, EntityGraph, Reranker, SearchEngine, StreamLog

if TYPE_CHECKING:
    from opora.bus.connection import Bus

TRIED_BYTES = 64 * 1024
"""More than a file system keeps in what it has reserved for names."""


async def check_writes(folder: Path) -> dict[str, Any]:
    """Whether the data folder still takes writes: a full disk is met here, before an upload meets it."""
    try:
        await asyncio.to_thread(_try_to_write, folder)
    except OSError as exc:
        hint = "Make room on the disk of the data folder, and see who may write to it."
        return {"name": "writes", "ok": False, "detail": f"{folder}: {exc.strerror}", "hint": hint}
    return _fine("writes", f"{folder} takes them")


def _try_to_write(folder: Path) -> None:
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(b"\0" * TRIED_BYTES)
        file.flush()
        os.fsync(file.fileno())


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


async def check_graph(graph: EntityGraph) -> dict[str, Any]:
    """Questions are answered without it too."""
    try:
        return _fine("graph of entities", await graph.check())
    except OporaError as error:
        return _failed("graph of entities", error)


async def check_bus(bus: Bus) -> dict[str, Any]:
    """Words are searched and documents taken in without it too."""
    try:
        return _fine("broker", await bus.check())
    except OporaError as error:
        return _failed("broker", error)


def check_reranker(reranker: Reranker | None) -> dict[str, Any]:
    """Only whether one is set, for the same reason; while it fails, answers say so and retrieval's order stands."""
    return _fine("reranking model", reranker.card.identity if reranker else "none: the order is that of retrieval")


def _fine(name: str, detail: str) -> dict[str, Any]:
    return {"name": name, "ok": True, "detail": detail, "hint": ""}


def _failed(name: str, error: OporaError) -> dict[str, Any]:
    return {"name": name, "ok": False, "detail": error.message, "hint": error.hint}
