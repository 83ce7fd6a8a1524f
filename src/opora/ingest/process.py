"""One child process from the parent's side: started clean, asked, watched, and killed when it breaks a limit."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import psutil

from opora.domain.errors import ParseFailed
from opora.domain.knowledge import ParseReason
from opora.ingest import wire
from opora.ingest.limits import ParseLimits

START_SECONDS = 60.0
WATCH_SECONDS = 0.1
"""How often the memory of a busy child is looked at."""
_READ_BYTES = 1024 * 1024
_FRAME_OVERHEAD = 64 * 1024 * 1024
_OUT_OF_MEMORY = (b"memory allocation", b"bad_alloc", b"MemoryError", b"out of memory", b"Out of memory")


class ChildProcess:
    """A running child. Used by one thread; `kill` may come from any."""

    def __init__(self, limits: ParseLimits) -> None:
        self._limits = limits
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed in `close`
        setting = json.dumps({"limits": asdict(limits), "parent": os.getpid()})
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-B", "-X", "utf8", "-m", "opora.ingest.child", setting],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={"LC_ALL": "C.UTF-8"},
            cwd=tempfile.gettempdir(),
            start_new_session=True,
            bufsize=0,
        )
        self._cancelled = False
        self.served = 0
        self.idle = True
        """False from a request until the end of its answer has been read."""

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    @property
    def resident_bytes(self) -> int:
        try:
            return int(psutil.Process(self.pid).memory_info().rss)
        except psutil.Error:
            return 0

    def wait_ready(self) -> None:
        """Wait until the child serves; raises `ParseFailed` when it never does."""
        for kind, body in self._frames(time.monotonic() + START_SECONDS):
            if kind == wire.JSON_FRAME and wire.message_of(body).get("ready"):
                return
        raise self._ended()

    def ask(self, request: dict[str, Any]) -> Iterator[tuple[bytes, bytes]]:
        """Frames of the answer, as (kind, body); the caller stops at the last. Raises `ParseFailed`."""
        self.served += 1
        self.idle = False
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(wire.frame(request))
        except OSError:
            raise self._ended() from None
        yield from self._frames(time.monotonic() + self._limits.seconds)
        raise self._ended()

    def kill(self) -> None:
        """Stop the child at once, whatever it does; from any thread."""
        self._cancelled = True
        self._process.kill()

    def close(self) -> None:
        """Stop the child, wait for its end, and free what it held: no zombie stays."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._errors.close()

    def _frames(self, deadline: float) -> Iterator[tuple[bytes, bytes]]:
        """Frames until the child's output ends; sizes are checked before anything is taken in."""
        waiting = bytearray()
        allowed = self._limits.produced_bytes * 2 + _FRAME_OVERHEAD
        for piece in self._pieces(deadline):
            waiting += piece
            allowed -= len(piece)
            if allowed < 0:
                raise ParseFailed(
                    ParseReason.SIZE_LIMIT,
                    "The document gives more text than a document may hold.",
                    hint="Split it into smaller documents.",
                )
            while len(waiting) >= wire.HEADER.size:
                kind, length = wire.HEADER.unpack_from(waiting)
                end = wire.HEADER.size + length
                if len(waiting) < end:
                    break
                body = bytes(memoryview(waiting)[wire.HEADER.size : end])
                del waiting[:end]
                yield kind, body

    def _pieces(self, deadline: float) -> Iterator[bytes]:
        assert self._process.stdout is not None
        output = self._process.stdout.fileno()
        poll = select.poll()
        poll.register(output, select.POLLIN | select.POLLHUP)
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                raise time_limit(self._limits)
            if poll.poll(min(left, WATCH_SECONDS) * 1000):
                piece = os.read(output, _READ_BYTES)
                if not piece:
                    return
                yield piece
            elif self.resident_bytes > self._limits.memory_bytes:
                raise memory_limit(self._limits)

    def _ended(self) -> ParseFailed:
        """Why the child ended by itself, from its exit and its last words."""
        code = self._process.wait()
        if self._cancelled:
            return crashed("The reading was stopped.")
        if code == -signal.SIGXCPU:
            return time_limit(self._limits)
        size = os.fstat(self._errors.fileno()).st_size
        words = os.pread(self._errors.fileno(), 8192, max(0, size - 8192))
        if code == -signal.SIGKILL or any(mark in words for mark in _OUT_OF_MEMORY):
            return memory_limit(self._limits)
        return crashed("The reader broke down on this document.")


def memory_limit(limits: ParseLimits) -> ParseFailed:
    return ParseFailed(
        ParseReason.MEMORY_LIMIT,
        f"Reading the document needs more than {limits.memory_bytes >> 20} MiB of memory.",
        hint="Split it into smaller documents, or raise the memory limit in the settings.",
    )


def time_limit(limits: ParseLimits) -> ParseFailed:
    return ParseFailed(
        ParseReason.TIME_LIMIT,
        f"Reading the document takes longer than {limits.seconds:g} seconds.",
        hint="Split it into smaller documents, or raise the time limit in the settings.",
    )


def crashed(message: str) -> ParseFailed:
    return ParseFailed(
        ParseReason.CRASHED,
        message,
        hint="Open it in the program that made it, save it again and upload the new file; PDF can be printed anew.",
    )
