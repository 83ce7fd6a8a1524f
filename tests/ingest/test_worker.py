"""The guarded child: reused, watched, killed at its limits, replaced after a crash, gone after `close`."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest

from opora.domain.errors import ParseFailed
from opora.domain.knowledge import BlockKind
from opora.ingest.limits import MIB, ParseLimits
from opora.ingest.process import ChildProcess
from opora.ingest.read import read_document
from opora.ingest.worker import ChildParser

FILES = Path(__file__).parents[1] / "cases/files"
CONTROL = FILES / "enc/notes_cp1251.txt"


@pytest.fixture
async def parser() -> AsyncIterator[ChildParser]:
    made = ChildParser(limits=ParseLimits())
    yield made
    await made.close()


async def failure_of(parser: ChildParser, path: Path, name: str = "") -> ParseFailed:
    with pytest.raises(ParseFailed) as caught:
        await parser.parse(str(path), file_name=name or path.name)
    assert caught.value.message
    assert caught.value.hint
    return caught.value


class Stuck:
    """A file that the child opens and then waits for: reading it is under way until the test says otherwise."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "pipe"
        os.mkfifo(self.path)
        self._writer = -1

    async def opened(self) -> None:
        """Wait until the child has opened the file."""
        self._writer = await asyncio.to_thread(os.open, self.path, os.O_WRONLY)

    def release(self) -> None:
        os.close(self._writer)


@pytest.mark.parametrize("name", ["office/structure.docx", "pdf/two_column.pdf", "md/fences_frontmatter_lf.md"])
async def test_the_child_gives_what_reading_here_gives(parser: ChildParser, name: str) -> None:
    path = FILES / name
    there = await parser.parse(str(path), file_name=path.name)
    here = read_document(path.read_bytes(), path.name, ParseLimits())
    assert there.text == here.text
    assert (there.file_type, there.title, dict(there.metadata)) == (here.file_type, here.title, dict(here.metadata))
    for got, want in zip(there.blocks, here.blocks, strict=True):
        assert (got.kind, got.text, got.level, got.head, got.rows) == (
            want.kind,
            want.text,
            want.level,
            want.head,
            want.rows,
        )
        assert got.place.heading_path == want.place.heading_path
        assert there.text[got.place.start : got.place.end] == got.text


async def test_one_child_serves_many_files_and_is_recycled(tmp_path: Path) -> None:
    parser = ChildParser(limits=ParseLimits(), recycle_after=3, children=1)
    try:
        seen = []
        for _ in range(6):
            before = parser.pids
            await parser.parse(str(CONTROL), file_name="a.txt")
            seen.append((before or parser.pids)[0] if before or parser.pids else 0)
        assert seen[0] == seen[1]
        assert seen[3] == seen[4]
        assert seen[1] != seen[4]
    finally:
        await parser.close()


@pytest.mark.parametrize("name", ["a.doc", "a.xlsx", "a.txt", "a.pdf", "a.docx"])
async def test_bombs_fail_and_the_queue_goes_on(parser: ChildParser, name: str) -> None:
    bombs = [FILES / "archive/bomb_ratio.docx", FILES / "archive/bomb_lying_sizes.docx"]
    control = asyncio.create_task(parser.parse(str(CONTROL), file_name="control.txt"))
    failures = await asyncio.gather(*(failure_of(parser, bomb, name) for bomb in bombs))
    assert {failure.reason for failure in failures} == {"archive_limit"}
    assert (await control).text
    for pid in parser.pids:
        assert psutil.Process(pid).memory_info().rss < 150 * MIB


async def test_a_killed_child_is_a_crash_and_a_fresh_one_serves_the_next(tmp_path: Path, parser: ChildParser) -> None:
    stuck = Stuck(tmp_path)
    task = asyncio.create_task(failure_of(parser, stuck.path))
    await stuck.opened()
    (pid,) = parser.pids
    os.kill(pid, signal.SIGSEGV)
    assert (await task).reason == "parser_crashed"
    stuck.release()
    assert (await parser.parse(str(CONTROL), file_name="a.txt")).text
    assert parser.pids != [pid]


@pytest.mark.parametrize(("sign", "reason"), [(signal.SIGKILL, "memory_limit"), (signal.SIGXCPU, "time_limit")])
async def test_the_kernels_own_kills_are_named(
    tmp_path: Path, parser: ChildParser, sign: signal.Signals, reason: str
) -> None:
    stuck = Stuck(tmp_path)
    task = asyncio.create_task(failure_of(parser, stuck.path))
    await stuck.opened()
    os.kill(parser.pids[0], sign)
    assert (await task).reason == reason
    stuck.release()


async def test_the_time_limit_ends_a_reading_that_never_comes_back(tmp_path: Path) -> None:
    parser = ChildParser(limits=ParseLimits(seconds=0.05))
    try:
        failure = await failure_of(parser, Stuck(tmp_path).path)
        assert failure.reason == "time_limit"
        assert "0.05" in failure.message
        assert parser.pids == []
    finally:
        await parser.close()


async def test_the_memory_limit_is_a_reason(tmp_path: Path) -> None:
    parser = ChildParser(limits=ParseLimits(memory_bytes=160 * MIB))
    try:
        big = tmp_path / "big.txt"
        big.write_text("Расходы на проезд возмещаются по документам. " * 500_000, encoding="utf-8")
        assert (await failure_of(parser, big)).reason == "memory_limit"
        assert (await parser.parse(str(CONTROL), file_name="a.txt")).text
    finally:
        await parser.close()


async def test_an_upload_over_the_limit_is_refused_before_it_is_read(tmp_path: Path) -> None:
    parser = ChildParser(limits=ParseLimits(upload_bytes=1000))
    try:
        big = tmp_path / "big.txt"
        big.write_bytes(b"word " * 300)
        assert (await failure_of(parser, big)).reason == "size_limit"
    finally:
        await parser.close()


async def test_a_file_that_is_gone_is_a_reason(tmp_path: Path, parser: ChildParser) -> None:
    failure = await failure_of(parser, tmp_path / "gone.txt")
    assert failure.reason == "damaged_file"
    assert str(tmp_path) not in failure.message


async def test_giving_up_kills_the_child_and_the_next_file_is_served(tmp_path: Path, parser: ChildParser) -> None:
    stuck = Stuck(tmp_path)
    task = asyncio.create_task(parser.parse(str(stuck.path), file_name="a.txt"))
    await stuck.opened()
    (pid,) = parser.pids
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await parser.parse(str(CONTROL), file_name="a.txt")).text
    stuck.release()
    assert pid not in parser.pids


async def test_close_leaves_no_process_and_ends_a_running_parse(tmp_path: Path) -> None:
    parser = ChildParser(limits=ParseLimits())
    stuck = Stuck(tmp_path)
    task = asyncio.create_task(failure_of(parser, stuck.path))
    await stuck.opened()
    (pid,) = parser.pids
    await parser.close()
    assert (await task).reason == "parser_crashed"
    assert not psutil.pid_exists(pid)
    stuck.release()
    with pytest.raises((ParseFailed, RuntimeError)):
        await parser.parse(str(CONTROL), file_name="a.txt")


async def test_the_child_sees_no_secret(parser: ChildParser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPORA_API_KEY", "secret")
    await parser.parse(str(CONTROL), file_name="a.txt")
    assert set(psutil.Process(parser.pids[0]).environ()) <= {"LC_ALL", "LC_CTYPE"}


async def test_the_child_may_write_no_files_worth_the_name(parser: ChildParser) -> None:
    await parser.parse(str(CONTROL), file_name="a.txt")
    process = psutil.Process(parser.pids[0])
    assert process.rlimit(psutil.RLIMIT_FSIZE)[0] <= 64 * 1024
    assert process.rlimit(psutil.RLIMIT_AS)[0] == ParseLimits().memory_bytes


async def test_the_end_of_its_input_ends_the_child() -> None:
    child = ChildProcess(ParseLimits())
    child.wait_ready()
    assert child._process.stdin is not None
    child._process.stdin.close()
    assert await asyncio.to_thread(child._process.wait, 30) == 0
    child.close()


async def test_a_page_is_drawn(parser: ChildParser) -> None:
    picture = await parser.render_page(str(FILES / "pdf/two_column.pdf"), 1, scale=0.5)
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    with pytest.raises(ParseFailed) as caught:
        await parser.render_page(str(FILES / "pdf/two_column.pdf"), 2)
    assert caught.value.reason == "page_limit"


async def test_a_large_plain_text_keeps_every_word(tmp_path: Path, parser: ChildParser) -> None:
    path = tmp_path / "big.txt"
    paragraphs = [f"Абзац {number}: расходы на проезд возмещаются." for number in range(60_000)]
    path.write_text("\n\n".join(paragraphs), encoding="utf-8")
    parsed = await parser.parse(str(path), file_name="big.txt")
    assert parsed.text == "\n\n".join(paragraphs)
    assert len(parsed.blocks) < 10_000
    assert {block.kind for block in parsed.blocks} == {BlockKind.PARAGRAPH}
