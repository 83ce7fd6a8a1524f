"""Files of documents in a folder, named by ids only and written whole or not at all."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import re
import shutil
from pathlib import Path
from uuid import uuid4

from opora.domain.errors import InvalidInput, NotFound, Unavailable

PARTS = frozenset({"original", "text"})
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
_PART_FILE = re.compile(r"(\d+)\.(original|text)")
_SHARD = re.compile(r"[0-9a-f]{2}")
_UNDER_WAY = ".part"


class FileBlobs:
    """``<folder>/<tenant>/<shard>/<document>/<version>.<part>``; the shard keeps folders small."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def put(self, tenant_id: str, document_id: str, version: int, data: bytes, *, part: str = "original") -> None:
        target = self._file(tenant_id, document_id, version, part)
        try:
            await asyncio.to_thread(_write_whole, target, data)
        except OSError as error:
            raise Unavailable(f"A file could not be stored: {error.strerror}.", hint="Is the disk full?") from error

    async def get(self, tenant_id: str, document_id: str, version: int, *, part: str = "original") -> bytes:
        target = self._file(tenant_id, document_id, version, part)
        try:
            return await asyncio.to_thread(target.read_bytes)
        except FileNotFoundError as error:
            details = {"document_id": document_id, "version": version, "part": part}
            raise NotFound("The document's file is not stored.", details=details) from error
        except OSError as error:
            raise Unavailable(f"A stored file could not be read: {error.strerror}.") from error

    def path(self, tenant_id: str, document_id: str, version: int, *, part: str = "original") -> str:
        return str(self._file(tenant_id, document_id, version, part))

    async def delete(self, tenant_id: str, document_id: str, *, before: int | None = None) -> None:
        folder = self._of_document(tenant_id, document_id)
        try:
            await asyncio.to_thread(_remove, folder, before)
        except OSError as error:
            raise Unavailable(f"A stored file could not be removed: {error.strerror}.") from error

    async def delete_version(self, tenant_id: str, document_id: str, version: int) -> None:
        for part in sorted(PARTS):
            path = self._file(tenant_id, document_id, version, part)
            try:
                await asyncio.to_thread(path.unlink, missing_ok=True)
            except OSError as error:
                raise Unavailable(f"A stored file could not be removed: {error.strerror}.") from error

    async def stored(self) -> list[tuple[str, str]]:
        return await asyncio.to_thread(self._list)

    def _list(self) -> list[tuple[str, str]]:
        found = (path for path in self._folder.glob("*/*/*") if path.is_dir() and _SHARD.fullmatch(path.parent.name))
        return sorted((path.parent.parent.name, path.name) for path in found)

    def _of_document(self, tenant_id: str, document_id: str) -> Path:
        for name, value in (("tenant_id", tenant_id), ("document_id", document_id)):
            if not _ID.fullmatch(value):
                raise InvalidInput.of(name, "An id holds letters, digits, '-' and '_' only.")
        shard = hashlib.sha256(document_id.encode()).hexdigest()[:2]
        return self._folder / tenant_id / shard / document_id

    def _file(self, tenant_id: str, document_id: str, version: int, part: str) -> Path:
        if part not in PARTS:
            raise InvalidInput.of("part", f"A stored document has no part {part!r}.")
        return self._of_document(tenant_id, document_id) / f"{int(version)}.{part}"


def _write_whole(target: Path, data: bytes) -> None:
    try:
        _write_beside(target, data)
    except FileNotFoundError:  # the folder went with a deletion; who writes finds out later what to do with the file
        _write_beside(target, data)


def _write_beside(target: Path, data: bytes) -> None:
    """Under another name first, to the disk, then renamed: a crash leaves the old file or the new one."""
    target.parent.mkdir(parents=True, exist_ok=True)
    under_way = target.with_name(f"{uuid4().hex}{_UNDER_WAY}")
    try:
        with under_way.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        under_way.replace(target)
    except BaseException:
        under_way.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _remove(folder: Path, before: int | None) -> None:
    if before is None:
        while folder.is_dir():
            with contextlib.suppress(FileNotFoundError):  # another takes it out at the same time
                shutil.rmtree(folder)
        return
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        name = _PART_FILE.fullmatch(path.name)
        if name is not None and int(name[1]) < before:
            path.unlink(missing_ok=True)
