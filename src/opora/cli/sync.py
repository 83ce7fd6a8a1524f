"""Brings files and folders into a base: new and changed files in, documents whose file is gone out."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from opora.cli.client import ApiError, Client

UPLOADS_AT_ONCE = 4
SMALL_BYTES = 1 << 20
"""Files up to this size are sent without asking first how much the server takes."""


@dataclass(slots=True)
class Report:
    """What became of each file, by path."""

    base_id: str = ""
    added: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    duplicates: list[dict[str, str]] = field(default_factory=list)
    """Files whose bytes are in the base under another path."""
    removed: list[str] = field(default_factory=list)
    refused: list[dict[str, str]] = field(default_factory=list)
    failed: list[dict[str, str]] = field(default_factory=list)
    documents: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}

    def refuse(self, path: str, message: str) -> None:
        self.refused.append({"path": path, "message": message})


@dataclass(frozen=True, slots=True)
class Listing:
    """The files of one path, and the folders below it that could not be read."""

    root: Path
    files: tuple[Path, ...]
    unreadable: tuple[tuple[Path, str], ...] = ()


def files_of(path: Path) -> Listing:
    """The file itself, or all files below the folder in a fixed order, without hidden ones and links that lead out."""
    if not path.is_dir():
        return Listing(path, (path,))
    found: list[Path] = []
    unreadable: list[tuple[Path, str]] = []

    def skip(error: OSError) -> None:
        unreadable.append((Path(os.fsdecode(error.filename)), error.strerror or "can't be read"))

    for folder, folders, names in os.walk(path, onerror=skip):
        folders[:] = sorted(name for name in folders if not _is_hidden(name))
        files = (Path(folder, name) for name in sorted(names) if not _is_hidden(name))
        found += (file for file in files if file.is_file() and file.resolve().is_relative_to(path))
    return Listing(path, tuple(found), tuple(unreadable))


def source_of(path: Path) -> str:
    """The path as text, also where its bytes are none: this is how the base knows the file."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _is_hidden(name: str) -> bool:
    return name.startswith((".", "~$"))


class Sync:
    """One run over some paths into one base."""

    def __init__(self, client: Client, report: Report, *, keep_gone: bool, done: Callable[[], None]) -> None:
        self._client = client
        self._report = report
        self._keep_gone = keep_gone
        self._done = done
        self._limit: int | None = None
        self._path = f"/knowledge-bases/{report.base_id}/knowledge"

    async def run(self, listing: Listing) -> None:
        known = await self._known(listing.root)
        again = await self._take_all(listing.files, known)
        for folder, message in listing.unreadable:
            self._report.refuse(source_of(folder), message)
        if listing.root.is_dir() and not self._keep_gone:
            await self._remove_gone(listing, known)
        # A file that was moved, or took over another's content, is refused as long as the other holds these bytes.
        left = len(again) + 1
        while again and len(again) < left:
            left = len(again)
            again = await self._take_all(tuple(again), known)
        for path, same_as in again.items():
            self._report.duplicates.append({"path": source_of(path), "same_as": same_as})

    async def _known(self, root: Path) -> dict[str, dict[str, Any]]:
        source = source_of(root)
        found = await self._client.every(self._path, {"source": source})
        return {
            doc["source"]: doc
            for doc in found
            if doc["source"] == source or doc["source"].startswith(source.rstrip("/") + "/")
        }

    async def _take_all(self, files: tuple[Path, ...], known: dict[str, dict[str, Any]]) -> dict[Path, str]:
        """Those whose bytes the base holds already come back, each with the path that has them."""
        limit = asyncio.Semaphore(UPLOADS_AT_ONCE)
        same: dict[Path, str] = {}

        async def one(file: Path) -> None:
            async with limit:
                found = await self._take(file, known)
                if found is not None:
                    same[file] = found
                self._done()

        try:
            async with asyncio.TaskGroup() as group:
                for file in files:
                    group.create_task(one(file))
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from failed
        return {file: same[file] for file in files if file in same}

    async def _take(self, file: Path, known: dict[str, dict[str, Any]]) -> str | None:
        source = source_of(file)
        data = await self._read(file, source)
        if data is None:
            return None
        earlier = known.get(source)
        digest = hashlib.sha256(data).hexdigest()
        if earlier and earlier["file_hash"] == digest and earlier["parse_status"] != "failed":
            self._note(self._report.unchanged, source, earlier)
            return None
        try:
            doc = await self._client.call(
                "POST",
                f"{self._path}/file",
                files={"file": (os.fsencode(file.name).decode("utf-8", "replace"), data)},
                data={"source": source, "replace": "true"},
            )
        except ApiError as exc:
            if exc.status == 409 and isinstance(exc.data, dict):
                return str(exc.data.get("source") or exc.data.get("file_name", ""))
            if exc.status not in (409, 413, 422):
                raise  # not this file's fault: the next one would fare no better
            self._report.refuse(source, f"{exc.message} {exc.hint}".strip())
            return None
        report = self._report
        if earlier is None:
            rows = report.added
        else:  # what failed before is tried again as it is
            rows = report.unchanged if earlier["file_hash"] == digest else report.replaced
        self._note(rows, source, doc)
        known[source] = doc
        return None

    def _note(self, rows: list[str], source: str, doc: dict[str, Any]) -> None:
        rows.append(source)
        if doc["id"] not in self._report.documents:
            self._report.documents.append(doc["id"])

    async def _read(self, file: Path, source: str) -> bytes | None:
        try:
            size = file.stat().st_size
            if size > SMALL_BYTES and size > await self._upload_limit():
                self._report.refuse(source, f"The file is larger than {self._limit} bytes (OPORA_UPLOAD_LIMIT).")
                return None
            return await asyncio.to_thread(file.read_bytes)
        except OSError as exc:
            self._report.refuse(source, exc.strerror or "The file can't be read.")
            return None

    async def _upload_limit(self) -> int:
        if self._limit is None:
            self._limit = int((await self._client.call("GET", "/system/info"))["upload_limit"])
        return self._limit

    async def _remove_gone(self, listing: Listing, known: dict[str, dict[str, Any]]) -> None:
        """Whatever lies in a folder that could not be read is not gone."""
        here = {source_of(file) for file in listing.files}
        unseen = tuple(source_of(folder).rstrip("/") + "/" for folder, _ in listing.unreadable)
        for source, doc in sorted(known.items()):
            if source not in here and not source.startswith(unseen):
                await self._client.call("DELETE", f"/knowledge/{doc['id']}")
                self._report.removed.append(source)
