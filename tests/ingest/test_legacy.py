"""Texts and slides of old Office versions are read through LibreOffice: within limits, and without the network."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import threading
from collections.abc import AsyncIterator, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import ClassVar

import docx
import pptx
import psutil
import pytest

from opora.domain.errors import ParseFailed
from opora.domain.knowledge import BlockKind
from opora.ingest import legacy
from opora.ingest.detect import legacy_kind
from opora.ingest.limits import MIB, ParseLimits
from opora.ingest.worker import ChildParser

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
SENTENCE = "Расходы на проезд возмещают после возвращения. 出差结束后报销。"
WORD_STREAM = "WordDocument".encode("utf-16-le")


@pytest.fixture(scope="session")
def office(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A profile of the program that makes the old files of these tests."""
    if shutil.which(legacy.PROGRAM) is None:
        if os.environ.get("OPORA_REQUIRE_SERVERS") == "1":
            pytest.fail("There is no LibreOffice.")
        pytest.skip("There is no LibreOffice.")
    return tmp_path_factory.mktemp("profile")


def made_old(profile: Path, new: Path, kind: str) -> Path:
    command = [legacy.PROGRAM, f"-env:UserInstallation={profile.as_uri()}", "--headless", "--convert-to", kind]
    subprocess.run([*command, "--outdir", str(new.parent), str(new)], check=True, capture_output=True)
    return new.with_suffix(f".{kind}")


@pytest.fixture(scope="session")
def letter(office: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    document = docx.Document()
    document.add_heading("Командировки", 1)
    document.add_paragraph(SENTENCE)
    table = document.add_table(2, 2)
    for cell, text in zip(table._cells, ("Деталь", "Цена", "Фильтр", "350"), strict=True):
        cell.text = text
    new = tmp_path_factory.mktemp("letter") / "letter.docx"
    document.save(str(new))
    return made_old(office, new, "doc")


@pytest.fixture
async def parser() -> AsyncIterator[ChildParser]:
    made = ChildParser(children=1)
    yield made
    await made.close()


async def failure_of(parser: ChildParser, path: Path) -> ParseFailed:
    with pytest.raises(ParseFailed) as caught:
        await parser.parse(str(path), file_name=path.name)
    assert caught.value.hint
    return caught.value


async def test_an_old_text_is_read_whole_whatever_its_name(letter: Path, parser: ChildParser, tmp_path: Path) -> None:
    for name in ("letter.doc", "letter.txt", "noext"):
        shutil.copy(letter, tmp_path / name)
        parsed = await parser.parse(str(tmp_path / name), file_name=name)
        assert parsed.file_type == "doc"
        assert SENTENCE in parsed.text
        assert "350" in parsed.text
        assert [block.text for block in parsed.blocks if block.kind is BlockKind.HEADING] == ["Командировки"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["letter.doc", "letter.txt", "noext"]


async def test_old_slides_keep_their_titles_and_notes(office: Path, parser: ChildParser, tmp_path: Path) -> None:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "Отпуск"
    slide.placeholders[1].text = "Ten days may be carried over."
    slide.notes_slide.notes_text_frame.text = "Заметка докладчика"
    deck.save(str(tmp_path / "deck.pptx"))
    parsed = await parser.parse(str(made_old(office, tmp_path / "deck.pptx", "ppt")), file_name="deck.ppt")
    assert parsed.file_type == "ppt"
    for text in ("Отпуск", "Ten days may be carried over.", "Заметка докладчика"):
        assert text in parsed.text


@pytest.mark.usefixtures("office")
@pytest.mark.parametrize("body", [WORD_STREAM, WORD_STREAM + bytes(range(256)) * 40])
async def test_a_broken_old_text_is_a_reason_and_the_next_one_is_read(
    letter: Path, parser: ChildParser, tmp_path: Path, body: bytes
) -> None:
    broken = tmp_path / "broken.doc"
    broken.write_bytes(OLE + body)
    failure = await failure_of(parser, broken)
    assert failure.reason in ("damaged_file", "no_text")
    assert SENTENCE in (await parser.parse(str(letter), file_name="letter.doc")).text


class _Noting(BaseHTTPRequestHandler):
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(self.path)
        self.send_error(404)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def outside() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), _Noting) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        _Noting.asked.clear()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def linked(office: Path, tmp_path: Path, outside: str) -> Path:
    """A page that links a picture, stored as an old text."""
    page = tmp_path / "page.html"
    page.write_text(f"<html><body><p>{SENTENCE}</p><img src='{outside}/picture.png'></body></html>", encoding="utf-8")
    command = [legacy.PROGRAM, f"-env:UserInstallation={office.as_uri()}", "--headless", "--infilter=HTML (StarWriter)"]
    convert = ["--convert-to", "doc:MS Word 97", "--outdir", str(tmp_path), str(page)]
    subprocess.run([*command, *convert], check=True, capture_output=True)
    assert f"{outside}/picture.png".encode() in (tmp_path / "page.doc").read_bytes().replace(b"\0", b"")
    _Noting.asked.clear()
    return tmp_path / "page.doc"


async def test_nothing_that_a_document_links_to_is_fetched(linked: Path, parser: ChildParser) -> None:
    """Without the settings of the profile the picture is fetched."""
    parsed = await parser.parse(str(linked), file_name="page.doc")
    assert SENTENCE in parsed.text
    assert _Noting.asked == []


@pytest.mark.parametrize(
    ("limits", "reason"),
    [(ParseLimits(seconds=0.05), "time_limit"), (ParseLimits(memory_bytes=8 * MIB), "memory_limit")],
)
def test_limits_hold_for_the_conversion_and_nothing_is_left_running(
    letter: Path, limits: ParseLimits, reason: str
) -> None:
    with pytest.raises(ParseFailed) as caught, legacy.readable(str(letter), limits, lambda conversion: None):
        pytest.fail("It was converted.")
    assert caught.value.reason == reason
    assert _offices() == set()


async def test_giving_up_stops_the_program(letter: Path, parser: ChildParser, monkeypatch: pytest.MonkeyPatch) -> None:
    started = threading.Event()
    watch = legacy.Conversion._watch
    monkeypatch.setattr(legacy.Conversion, "_watch", lambda self, process: (started.set(), watch(self, process)))
    task = asyncio.create_task(parser.parse(str(letter), file_name="letter.doc"))
    await asyncio.to_thread(started.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await parser.close()
    assert _offices() == set()


def _offices() -> set[int]:
    """Programs of this process that run, by id."""
    found = set()
    for one in psutil.Process().children(recursive=True):
        try:
            if "soffice" in " ".join(one.cmdline()) and one.status() != psutil.STATUS_ZOMBIE:
                found.add(one.pid)
        except psutil.Error:
            continue
    return found


@pytest.mark.parametrize("limits", [ParseLimits(libreoffice=False), ParseLimits()])
async def test_without_the_program_a_reason_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, limits: ParseLimits
) -> None:
    if limits.libreoffice:
        monkeypatch.setattr(legacy, "is_installed", lambda: False)
    file = tmp_path / "old.doc"
    file.write_bytes(OLE + WORD_STREAM + bytes(600))
    parser = ChildParser(limits=limits, children=1)
    try:
        failure = await failure_of(parser, file)
    finally:
        await parser.close()
    assert failure.reason == "unsupported_format"
    assert "LibreOffice" in failure.message
    assert "DOCX" in failure.hint


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (OLE + WORD_STREAM, "doc"),
        (OLE + "PowerPoint Document".encode("utf-16-le"), "ppt"),
        (OLE + "Workbook".encode("utf-16-le") + WORD_STREAM, ""),
        (OLE + "EncryptedPackage".encode("utf-16-le") + WORD_STREAM, ""),
        (OLE, ""),
        (WORD_STREAM, ""),
        (b"", ""),
    ],
)
def test_only_texts_and_slides_of_compound_files_are_converted(data: bytes, kind: str) -> None:
    assert legacy_kind(data) == kind
