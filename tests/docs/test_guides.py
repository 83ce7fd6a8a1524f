"""Formats, reasons, limits, events and engines of the guides are those of the code, and the other way round."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

from opora.cite.tags import parse_citations
from opora.cli.show import place_of
from opora.domain.conversation import Finish
from opora.domain.knowledge import ParseReason, ParseStatus, Place
from opora.domain.stream import ResponseType, StreamEvent
from opora.domain.trace import Drop
from opora.engines.table import ENGINES
from opora.ingest.limits import ParseLimits
from opora.ingest.parse.table import PARSERS
from opora.stream.frames import frame

ROOT = Path(__file__).parents[2]


def first_cells(rows: list[list[str]]) -> list[str]:
    return [row[0].strip("`") for row in rows]


def test_formats(rows: Any, text: Callable[[str], str]) -> None:
    assert sorted(first_cells(rows("docs/documents.md", "kind"))) == sorted(PARSERS)
    assert all(re.search(rf"\b{kind}\b", text("README.md")) for kind in PARSERS)


def test_statuses(rows: Any) -> None:
    assert first_cells(rows("docs/documents.md", "`parse_status`")) == [status.value for status in ParseStatus]


def test_reasons_of_failure(rows: Any) -> None:
    told = rows("docs/documents.md", "`error_reason`")
    assert sorted(first_cells(told)) == sorted(reason.value for reason in ParseReason)
    assert all(row[1] and row[2] for row in told)


def test_limits(rows: Any) -> None:
    limits = ParseLimits()
    told = {row[0]: row[1] for row in rows("docs/documents.md", "limit")}
    expected = {
        "upload_bytes": ("size of a file", f"{limits.upload_bytes >> 20} MiB"),
        "seconds": ("time to read it", f"{limits.seconds:g} s"),
        "memory_bytes": ("memory to read it", f"{limits.memory_bytes >> 20:,} MiB"),
        "produced_bytes": ("text of a document", f"{limits.produced_bytes >> 20} MiB"),
        "entries": ("parts of an archive", f"{limits.entries:,}"),
        "ratio": ("bytes out of one packed byte", f"{limits.ratio}"),
        "ratio_floor": (f"bytes out of one packed byte, from {limits.ratio_floor >> 20} MiB", f"{limits.ratio}"),
        "depth": ("levels of nesting", f"{limits.depth}"),
        "pages": ("pages of a PDF", f"{limits.pages:,}"),
        "cells": ("filled cells", f"{limits.cells:,}"),
        "rendered_pixels": ("pixels of a page", f"{limits.rendered_pixels:,}"),
    }
    told_apart = {"ocr", "ocr_languages", "libreoffice"}
    assert set(expected) == {field.name for field in fields(ParseLimits)} - told_apart
    for begin, value in expected.values():
        assert [shown for name, shown in told.items() if name.startswith(begin)] == [value], begin


def test_places(text: Callable[[str], str]) -> None:
    section = text("docs/documents.md").partition("## Places")[2]
    kept_inside = {"box_starts"}
    assert {field.name for field in fields(Place)} - kept_inside <= set(re.findall(r"`(\w+)`", section))


def test_places_look_in_the_terminal_as_they_are_shown(blocks: Any) -> None:
    shown = blocks("docs/documents.md")[-1].text.splitlines()
    rules = {"page": 2, "page_end": 2, "heading_path": ["Положение о командировках", "5. Возмещение расходов"]}
    allowances = {"sheet": "Россия", "row": 4, "row_end": 7}
    assert shown == [
        place_of({"knowledge_filename": "Положение о командировках.pdf", "place": rules}),
        place_of({"knowledge_filename": "Суточные по городам.xlsx", "place": allowances}),
    ]


def test_events_of_a_stream(rows: Any, text: Callable[[str], str]) -> None:
    told = first_cells(rows("docs/answers.md", "`response_type`"))
    reserved = re.search(r"do not know: (.*) (?:are|is) reserved", text("docs/answers.md"))
    assert reserved is not None
    assert sorted(told + re.findall(r"`(\w+)`", reserved[1])) == sorted(kind.value for kind in ResponseType)


def test_reserved_events_are_sent_by_nobody(text: Callable[[str], str]) -> None:
    sent = set()
    for path in ROOT.glob("src/opora/*/**/*.py"):
        if path.parts[-2] not in ("domain", "stream"):
            sent |= set(re.findall(r"ResponseType\.([A-Z_]+)", path.read_text(encoding="utf-8")))
    reserved = re.search(r"do not know: (.*) (?:are|is) reserved", text("docs/answers.md"))
    assert reserved is not None
    assert sent == {kind.name for kind in ResponseType if kind.value not in reserved[1]}


def test_ends_of_an_answer(rows: Any) -> None:
    assert first_cells(rows("docs/answers.md", "`finish`")) == [finish.value for finish in Finish]


def test_reasons_of_dropping(rows: Any) -> None:
    assert Drop.__doc__ is not None
    reasons = set(re.findall(r"``([a-z_]+)``", Drop.__doc__.partition("Reasons:")[2]))
    told = set(first_cells(rows("docs/answers.md", "reason")))
    assert told == reasons
    used = set()
    for path in ROOT.glob("src/opora/*/**/*.py"):
        used |= set(re.findall(r'Drop\([^)]*reason="([a-z_]+)"', path.read_text(encoding="utf-8")))
    assert used <= told


def test_the_frame_that_is_shown_is_the_frame_that_is_sent(blocks: Any) -> None:
    shown = next(block.text for block in blocks("docs/answers.md") if block.text.startswith("id: "))
    body = json.loads(shown.splitlines()[2].removeprefix("data: "))
    event = StreamEvent(response_type=ResponseType(body["response_type"]), content=body["content"])
    made = frame(6, event, request_id=body["id"], session_id="s", message_id="m").decode()
    assert shown.strip() == made.strip()


def test_citation_tags_that_are_shown_are_read(blocks: Any) -> None:
    shown = next(block.text for block in blocks("docs/answers.md") if block.text.startswith("<kb "))
    assert [citation.kind for citation in parse_citations(shown)] == ["kb", "web"]


def test_engines(rows: Any, text: Callable[[str], str]) -> None:
    """An engine in the guide is one of the table, and one that the conformance suite is run against."""
    told = first_cells(rows("docs/engines.md", "engine"))
    assert told == list(ENGINES)
    suite = text("tests/engines/test_conformance.py")
    assert all(f'"{engine}": lambda' in suite for engine in told)


async def test_the_data_folder_holds_what_is_told(rows: Any, place: Path, app: Any) -> None:
    told = set(first_cells(rows("docs/operations.md", "name")))
    there = {path.name for path in (place / "data").iterdir()}
    known = {name.rstrip("/") for name in told}
    assert {name for name in there if not name.endswith(("-wal", "-shm"))} <= known
    assert {"opora.db", "owner.lock"} <= there
