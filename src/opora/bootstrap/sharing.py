"""Whether several servers may stand on one database, and what they must then have in common."""

from __future__ import annotations

import asyncio
from pathlib import Path

from opora.domain.errors import Busy, InvalidInput, Unavailable
from opora.ports import Database, NewId, SearchEngine
from opora.settings import Settings

FOLDER_FACT = "shared_folder"
FOLDER_ID = "folder.id"
QDRANT_SECONDS = 30


def is_shared(settings: Settings) -> bool:
    """Only where nothing of an installation is in one process: not the index, and not the log of answers."""
    is_index_shared = settings.engine == "postgres" or (
        settings.engine == "qdrant" and settings.database_url is not None
    )
    return is_index_shared and settings.stream_manager == "redis"


def make_search_engine(settings: Settings) -> SearchEngine:
    """The engine of the settings, not opened yet. Raises `InvalidInput` for one that is not known or has no place."""
    from opora.engines.table import make_engine

    if settings.engine == "qdrant":
        return _qdrant(settings)
    if settings.engine != "postgres":
        return make_engine(settings.engine, path=settings.index_path, segment_bytes=settings.vector_memory)
    if settings.database_url is None:
        raise InvalidInput.of(
            "engine",
            "RETRIEVE_DRIVER is postgres, and there is no PostgreSQL to search in.",
            hint="Set OPORA_DATABASE_URL, such as postgresql://user:password@host/opora.",
        )
    try:
        return make_engine(settings.engine, address=settings.database_url.get_secret_value())
    except ModuleNotFoundError as error:
        raise InvalidInput.of(
            "engine", "The driver for PostgreSQL is not installed.", hint="Install opora[postgres]."
        ) from error


def _qdrant(settings: Settings) -> SearchEngine:
    from opora.engines.table import make_engine

    try:
        from qdrant_client import AsyncQdrantClient
    except ImportError as error:
        raise InvalidInput.of(
            "engine", "The client of Qdrant is not installed.", hint="Install opora[qdrant]."
        ) from error

    def connect() -> AsyncQdrantClient:
        key = settings.qdrant_api_key.get_secret_value() if settings.qdrant_api_key else None
        return AsyncQdrantClient(
            host=settings.qdrant_host,
            grpc_port=settings.qdrant_port,
            prefer_grpc=True,
            https=settings.qdrant_use_tls,
            api_key=key,
            timeout=QDRANT_SECONDS,
            check_compatibility=False,
        )

    return make_engine("qdrant", connect=connect, prefix=settings.qdrant_collection)


async def check_folder(database: Database, folder: Path, *, alone: bool, new_id: NewId) -> None:
    """Servers of one database must have one folder of files: an upload on one is read by a worker of another.

    The first server's folder is the one. Raises `Busy` for another folder while a server lives.
    """
    mine = await asyncio.to_thread(_id_of, folder, new_id)
    async with database.begin() as stored:
        if alone:
            await stored.set_fact(FOLDER_FACT, mine)
        elif await stored.get_fact(FOLDER_FACT) != mine:
            raise Busy(
                f"The other servers of this database keep their files elsewhere than in {folder}.",
                hint="Set OPORA_SHARED to one folder that all of them can write to.",
            )


def _id_of(folder: Path, new_id: NewId) -> str:
    path = folder / FOLDER_ID
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            with path.open("x", encoding="ascii") as file:
                file.write(new_id())
        except FileExistsError:
            pass
        return path.read_text(encoding="ascii")
    except OSError as error:
        raise Unavailable(f"The folder {folder} can't be used: {error.strerror}.") from error
