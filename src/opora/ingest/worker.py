"""The parser that the rest of the program uses: reads files in guarded child processes, reused and recycled."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from opora.domain.errors import InvalidInput, ParseFailed
from opora.domain.knowledge import ParsedDocument, ParseReason
from opora.ingest import legacy, wire
from opora.ingest.limits import ParseLimits
from opora.ingest.process import ChildProcess, crashed
from opora.ports import Numbered

T = TypeVar("T")


class ChildParser:
    """Implements `opora.ports.Parser`. At most ``children`` processes; one is started only when the others are busy.

    Each thread of a small pool owns one child. A child that breaks a limit or breaks down is replaced for the next
    file; a healthy one is replaced after ``recycle_after`` files, or when it has kept half of its memory limit.
    """

    def __init__(self, *, limits: ParseLimits | None = None, recycle_after: int = 100, children: int = 2) -> None:
        self._limits = limits or ParseLimits()
        self._recycle_after = recycle_after
        self._threads = ThreadPoolExecutor(max_workers=children, thread_name_prefix="opora-parser")
        self._own = threading.local()
        self._guard = threading.Lock()
        self._children: set[ChildProcess] = set()
        self._jobs: set[_Job] = set()
        self._closed = False

    async def parse(self, path: str, *, file_name: str) -> ParsedDocument:
        """Raises `ParseFailed` with a reason a person understands."""
        absolute = str(Path(path).absolute())
        return await self._run(lambda job: self._read(job, absolute, file_name))

    async def read_rows(self, path: str, *, file_name: str) -> list[Numbered]:
        """Rows of a file of FAQ entries; raises `ParseFailed` and `InvalidInput`."""
        request = {"op": "rows", "path": str(Path(path).absolute()), "file_name": file_name}
        return await self._run(lambda job: self._rows(job, request))

    async def render_page(self, path: str, page: int, *, scale: float = 2.0) -> bytes:
        """A PDF page (from 1) as PNG bytes; raises `ParseFailed` like `parse`."""
        request = {"op": "render", "path": str(Path(path).absolute()), "page": page, "scale": scale}
        return await self._run(lambda job: self._render(job, request))

    async def close(self) -> None:
        """Stop what runs and wait until every child is gone."""
        with self._guard:
            self._closed = True
            running, jobs = list(self._children), list(self._jobs)
        for job in jobs:
            job.cancel()
        for child in running:
            child.kill()
        await asyncio.to_thread(self._threads.shutdown, wait=True, cancel_futures=True)
        for child in running:
            self._drop(child)

    @property
    def pids(self) -> list[int]:
        """The process ids of the children that run."""
        with self._guard:
            return [child.pid for child in self._children if child.alive]

    async def _run(self, work: Callable[[_Job], T]) -> T:
        job = _Job()
        with self._guard:
            self._jobs.add(job)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work, job)
        except asyncio.CancelledError:
            job.cancel()
            raise
        finally:
            with self._guard:
                self._jobs.discard(job)

    def _read(self, job: _Job, path: str, file_name: str) -> ParsedDocument:
        """An old kind of document is read in its new form, and keeps its kind."""
        with legacy.readable(path, self._limits, job.take) as (readable, old_kind):
            parsed = self._parse(job, {"op": "parse", "path": readable, "file_name": file_name})
        return replace(parsed, file_type=old_kind or parsed.file_type)

    def _parse(self, job: _Job, request: dict[str, Any]) -> ParsedDocument:
        reader = wire.DocumentReader()
        with self._asked(job) as child:
            for kind, body in child.ask(request):
                message = _message(child, kind, body)
                if "blocks" not in message:
                    child.idle = True
                    return reader.finish(message)
                reader.add(message)
        raise crashed("The reader gave no answer.")

    def _rows(self, job: _Job, request: dict[str, Any]) -> list[Numbered]:
        found: list[Numbered] = []
        with self._asked(job) as child:
            for kind, body in child.ask(request):
                message = _message(child, kind, body)
                if "rows" not in message:
                    child.idle = True
                    return found
                found += wire.rows_of(message)
        raise crashed("The reader gave no answer.")

    def _render(self, job: _Job, request: dict[str, Any]) -> bytes:
        with self._asked(job) as child:
            for kind, body in child.ask(request):
                if kind == wire.BYTES_FRAME:
                    child.idle = True
                    return body
                _message(child, kind, body)
        raise crashed("The reader gave no picture.")

    @contextmanager
    def _asked(self, job: _Job) -> Iterator[ChildProcess]:
        """This thread's child for one request; it is dropped when it did not come to the end of an answer."""
        child = self._ready_child()
        job.take(child)
        try:
            yield child
        except wire.WireError as error:
            child.idle = False
            raise crashed("The reader gave an answer that makes no sense.") from error
        finally:
            given_up = job.release()
            if given_up or not child.idle or self._is_worn(child):
                self._drop(child)

    def _ready_child(self) -> ChildProcess:
        child: ChildProcess | None = getattr(self._own, "child", None)
        if child is not None and child.alive:
            return child
        if child is not None:
            self._drop(child)
        with self._guard:
            if self._closed:
                raise crashed("The reader is closed.")
            child = ChildProcess(self._limits)
            self._children.add(child)
        self._own.child = child
        try:
            child.wait_ready()
        except BaseException:
            self._drop(child)
            raise
        return child

    def _is_worn(self, child: ChildProcess) -> bool:
        return child.served >= self._recycle_after or child.resident_bytes > self._limits.memory_bytes // 2

    def _drop(self, child: ChildProcess) -> None:
        with self._guard:
            known = child in self._children
            self._children.discard(child)
        if getattr(self._own, "child", None) is child:
            self._own.child = None
        if known:
            child.close()


class _Killable(Protocol):
    def kill(self) -> None: ...


class _Job:
    """One request, so that giving it up can stop the process that works on it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: _Killable | None = None
        self._given_up = False

    def take(self, process: _Killable) -> None:
        with self._lock:
            self._process = process
            if self._given_up:
                process.kill()

    def release(self) -> bool:
        """End the job's hold on its process; True when the job was given up meanwhile."""
        with self._lock:
            self._process = None
            return self._given_up

    def cancel(self) -> None:
        with self._lock:
            self._given_up = True
            if self._process is not None:
                self._process.kill()


def _message(child: ChildProcess, kind: bytes, body: bytes) -> dict[str, Any]:
    if kind != wire.JSON_FRAME:
        raise wire.WireError("A frame is of another kind than was agreed.")
    message = wire.message_of(body)
    if "failed" in message:
        child.idle = message["failed"] != ParseReason.MEMORY_LIMIT
        reason = str(message["failed"])
        known = reason if reason in set(ParseReason) else ParseReason.CRASHED
        raise ParseFailed(known, str(message.get("message", "")), hint=str(message.get("hint", "")))
    if "invalid" in message:
        child.idle = True
        field, told = str(message["invalid"]), str(message.get("message", ""))
        raise InvalidInput.of(field, told, hint=str(message.get("hint", "")))
    return message
