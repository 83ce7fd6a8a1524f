"""Brings files and folders into a base: new and changed files in, documents whose file is gone out."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from opora.cli.client import ApiError, Client
from opora.cli.listing import Listing, source_of

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
class Outcome:
    """What became of one file: ``added``, ``replaced``, ``unchanged``, ``refused``, or ``same`` as another.

    ``text`` says why, or names the other.
    """

    kind: str
    file: Path
    document: dict[str, Any] | None = None
    text: str = ""


class Sync:
    """One run over some paths into one base."""

    def __init__(self, client: Client, report: Report, *, keep_gone: bool, done: Callable[[], None]) -> None:
        self._client = client
        self._report = report
        self._keep_gone = keep_gone
        self._done = done
        self._limit: int | None = None
        self._root = Path()
        self._seen = set(report.documents)
        self._path = f"/knowledge-bases/{report.base_id}/knowledge"

    async def run(self, listing: Listing) -> None:
        self._root = listing.root
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
            again = await self._take_all([outcome.file for outcome in again], known)
        for outcome in again:
            self._report.duplicates.append({"path": source_of(outcome.file), "same_as": outcome.text})

    async def _known(self, root: Path) -> dict[str, dict[str, Any]]:
        source = source_of(root)
        found = await self._client.every(self._path, {"source": source})
        return {
            doc["source"]: doc
            for doc in found
            if doc["source"] == source or doc["source"].startswith(source.rstrip("/") + "/")
        }

    async def _take_all(self, files: Sequence[Path], known: dict[str, dict[str, Any]]) -> list[Outcome]:
        """Note what became of each file, in their order; those whose bytes the base holds already come back."""
        limit = asyncio.Semaphore(UPLOADS_AT_ONCE)

        async def one(file: Path) -> Outcome:
            async with limit:
                outcome = await self._take(file, known.get(source_of(file)))
            self._done()
            return outcome

        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(one(file)) for file in files]
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from failed
        outcomes = [task.result() for task in tasks]
        for outcome in outcomes:
            self._note(outcome, known)
        return [outcome for outcome in outcomes if outcome.kind == "same"]

    async def _take(self, file: Path, earlier: dict[str, Any] | None) -> Outcome:
        try:
            data = await self._read(file)
        except OSError as exc:
            return Outcome("refused", file, text=exc.strerror or "The file can't be read.")
        if data is None:
            return Outcome("refused", file, text=f"The file is larger than {self._limit} bytes (OPORA_UPLOAD_LIMIT).")
        same = earlier is not None and earlier["file_hash"] == hashlib.sha256(data).hexdigest()
        if earlier is not None and same and earlier["parse_status"] != "failed":
            return Outcome("unchanged", file, earlier)
        folder = _folder(file, self._root)
        try:
            doc = await self._client.call(
                "POST",
                f"{self._path}/file",
                files={"file": (os.fsencode(file.name).decode("utf-8", "replace"), data)},
                data={"source": source_of(file), "replace": "true", "folder": folder},
            )
        except ApiError as exc:
            if exc.status == 409 and isinstance(exc.data, dict):
                return Outcome("same", file, text=str(exc.data.get("source") or exc.data.get("file_name", "")))
            if exc.status not in (409, 413, 422):
                raise  # not this file's fault: the next one would fare no better
            return Outcome("refused", file, text=f"{exc.message} {exc.hint}".strip())
        # What failed before was tried again as it is.
        return Outcome("added" if earlier is None else "unchanged" if same else "replaced", file, doc)

    def _note(self, outcome: Outcome, known: dict[str, dict[str, Any]]) -> None:
        report, source = self._report, source_of(outcome.file)
        if outcome.kind == "refused":
            report.refuse(source, outcome.text)
        elif outcome.document is not None:
            rows = {"added": report.added, "replaced": report.replaced, "unchanged": report.unchanged}[outcome.kind]
            rows.append(source)
            known[source] = outcome.document
            if (document_id := outcome.document["id"]) not in self._seen:
                self._seen.add(document_id)
                report.documents.append(document_id)

    async def _read(self, file: Path) -> bytes | None:
        """None for what is larger than the server takes."""
        size = file.stat().st_size
        if size > SMALL_BYTES and size > await self._upload_limit():
            return None
        return await asyncio.to_thread(file.read_bytes)

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


def _folder(file: Path, root: Path) -> str:
    """Where a file lies below the folder that was named; '' for a file that was named itself."""
    return "/".join(file.relative_to(root).parts[:-1]) if file != root and file.is_relative_to(root) else ""
