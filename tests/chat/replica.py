"""A second server as far as conversations go: its own connections to the same database file and the same Redis."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from opora.chat.choosing import Chooser
from opora.chat.citations import CitationChecker
from opora.chat.layers import LayeredSettings
from opora.chat.orchestrator import Orchestrator
from opora.chat.registry import ModelRegistry
from opora.chat.service import Chat
from opora.chat.titles import Titles
from opora.pipeline.manager import EventManager
from opora.store.blobs import FileBlobs
from opora.store.database import SqlDatabase
from opora.store.ids import new_id
from opora.store.secrets import KeyFile
from opora.stream.redis import RedisStreamLog


async def _nothing(draft: Any, run: Any) -> Any:
    return draft


def now() -> datetime:
    return datetime.now(UTC)


@asynccontextmanager
async def replica(data: Path, url: str, prefix: str, *, lease: float = 15.0) -> AsyncIterator[Chat]:
    """It answers no questions of its own: it follows and stops those of the other server."""
    database = await SqlDatabase(f"sqlite+aiosqlite:///{data / 'opora.db'}").open()
    log = RedisStreamLog.at(url, owner="replica", prefix=prefix, patience=0.5, lease=lease)
    maker: Any = None
    registry = ModelRegistry(
        database=database, secrets=KeyFile(data), maker=maker, default=None, clock=now, new_id=new_id
    )
    chat = Chat(
        database=database,
        log=log,
        orchestrator=Orchestrator(EventManager([]), fallback=_nothing),
        checker=CitationChecker(database, FileBlobs(data / "blobs")),
        titles=Titles(database, None, now),
        layers=LayeredSettings(database),
        chooser=Chooser(registry, card=None, installation={}, has_chat_model=False),
        clock=now,
        new_id=new_id,
        answer_seconds=60,
    )
    try:
        yield chat
    finally:
        await chat.close()
        await log.close()
        await database.close()
