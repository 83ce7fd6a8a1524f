"""Text in pictures and scans is recognised where the program for it is installed; where it is not, a reason says so."""

from __future__ import annotations

import io
import os
import shutil
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw, ImageFont

from opora.domain.errors import ParseFailed
from opora.domain.knowledge import ParseReason
from opora.ingest import ocr
from opora.ingest.limits import ParseLimits
from opora.ingest.ocr import Recogniser, installed
from opora.ingest.read import read_document

FONT = Path("/usr/share/fonts/truetype/wqy/wqy-microhei.ttc")
RUSSIAN = ["Компания возмещает расходы на проезд", "по подтверждающим документам."]
ENGLISH = ["Travel costs are paid back", "after the trip has ended."]
CHINESE = ["员工出差结束后报销交通费用。", "公司根据凭证报销差旅费。"]


@pytest.fixture
def recognition() -> None:
    if shutil.which(ocr.PROGRAM) is None or not FONT.exists():
        if os.environ.get("OPORA_REQUIRE_SERVERS") == "1":
            pytest.fail("There is no tesseract, or no font to draw with.")
        pytest.skip("There is no tesseract, or no font to draw with.")


def likeness(read: str, lines: list[str], *, join: str = " ") -> float:
    """Recognition mistakes letters of two alphabets for each other now and then: 1 is the same text."""
    return SequenceMatcher(None, join.join(read.split()), join.join(lines)).ratio()


def drawn(lines: list[str], kind: str = "PNG", **options: Any) -> bytes:
    image = Image.new("RGB", (1500, 120 + 100 * len(lines)), "white")
    draw = ImageDraw.Draw(image)
    for number, line in enumerate(lines):
        draw.text((60, 60 + number * 100), line, font=ImageFont.truetype(str(FONT), 44), fill="black")
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


@pytest.mark.usefixtures("recognition")
@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF", "WEBP", "BMP"])
def test_a_picture_of_text_is_read_whatever_its_format_and_name(kind: str) -> None:
    parsed = read_document(drawn(ENGLISH, kind), "письмо.txt", ParseLimits())
    assert likeness(parsed.text, ENGLISH) > 0.93
    assert parsed.file_type == "image"
    assert parsed.metadata == {"pages": 1, "ocr_pages": 1}


@pytest.mark.usefixtures("recognition")
def test_russian_is_read_by_words_and_chinese_without_blanks_between_its_characters() -> None:
    russian = read_document(drawn(RUSSIAN), "скан.png", ParseLimits()).text
    assert likeness(russian, RUSSIAN) > 0.93
    chinese = read_document(drawn(CHINESE), "扫描.png", ParseLimits()).text
    assert " " not in chinese
    assert likeness(chinese, CHINESE, join="") > 0.93


@pytest.mark.usefixtures("recognition")
def test_pages_of_a_scan_are_read_with_the_places_of_their_lines() -> None:
    first, second = (Image.open(io.BytesIO(drawn(lines))) for lines in (RUSSIAN, ENGLISH))
    out = io.BytesIO()
    first.save(out, "PDF", resolution=150, save_all=True, append_images=[second])
    parsed = read_document(out.getvalue(), "скан.pdf", ParseLimits())
    assert parsed.metadata == {"pages": 2, "ocr_pages": 2}
    assert {block.place.page for block in parsed.blocks} == {1, 2}
    box = parsed.blocks[0].place.boxes[0]
    points = 72 / 150
    assert abs(box.x0 - 60 * points) < 5
    assert 60 * points < box.y0 < 60 * points + 30


@pytest.mark.usefixtures("recognition")
def test_a_picture_without_words_has_no_text() -> None:
    with pytest.raises(ParseFailed) as told:
        read_document(drawn([]), "пусто.png", ParseLimits())
    assert told.value.reason == ParseReason.NO_TEXT


@pytest.mark.usefixtures("recognition")
def test_pages_for_which_no_time_is_left_are_counted() -> None:
    recogniser = Recogniser(ParseLimits(seconds=0.0))
    assert recogniser.words(drawn(ENGLISH), 1, 1.0) == []
    assert (recogniser.pages, recogniser.skipped) == (0, 1)


@pytest.mark.parametrize("limits", [ParseLimits(ocr=False), ParseLimits(ocr_languages="xxx+yyy")])
def test_switched_off_or_without_a_language_pictures_are_refused_with_what_to_do(limits: ParseLimits) -> None:
    image = io.BytesIO()
    Image.new("RGB", (20, 20)).save(image, "PNG")
    with pytest.raises(ParseFailed) as told:
        read_document(image.getvalue(), "a.png", limits)
    assert told.value.reason == ParseReason.NOT_TEXT
    assert "tesseract-ocr" in told.value.hint
    scan = io.BytesIO()
    Image.new("RGB", (20, 20)).save(scan, "PDF")
    with pytest.raises(ParseFailed) as told:
        read_document(scan.getvalue(), "a.pdf", limits)
    assert told.value.reason == ParseReason.NO_TEXT


def test_without_the_program_nothing_is_recognised(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    installed.cache_clear()
    assert installed("rus+eng") == ""
    monkeypatch.undo()
    installed.cache_clear()


def test_a_program_that_breaks_down_is_a_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / ocr.PROGRAM
    program.write_text('#!/bin/sh\n[ "$1" = --list-langs ] && echo eng && exit 0\nexit 3\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    installed.cache_clear()
    with pytest.raises(ParseFailed, match="broke down"):
        Recogniser(ParseLimits()).words(b"png", 1, 1.0)
    monkeypatch.undo()
    installed.cache_clear()


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n" + b"0" * 100, b"\xff\xd8\xff" + b"0" * 100])
@pytest.mark.usefixtures("recognition")
def test_a_broken_picture_is_damaged(data: bytes) -> None:
    with pytest.raises(ParseFailed) as told:
        read_document(data, "a.png", ParseLimits())
    assert told.value.reason == ParseReason.DAMAGED
