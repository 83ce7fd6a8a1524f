"""A Markdown file with front matter, fences of every kind and both kinds of line ends, from its bytes to its chunks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from opora.domain.knowledge import BlockKind, Chunk, ParsedDocument
from opora.ingest.limits import ParseLimits
from opora.ingest.parse.md import parse
from opora.ingest.split.protect import is_balanced

FILES = Path(__file__).parents[2] / "cases" / "files" / "md"
Split = Callable[..., list[Chunk]]


def parsed(ends: str) -> ParsedDocument:
    name = f"fences_frontmatter_{ends}.md"
    return parse((FILES / name).read_bytes(), name, ParseLimits())


@pytest.mark.parametrize("size", [512, 120, 60])
@pytest.mark.parametrize("ends", ["lf", "crlf"])
def test_nothing_is_lost_and_fences_stay_whole(split: Split, ends: str, size: int) -> None:
    document = parsed(ends)
    chunks = split(document, size=size, overlap=0)
    source = (FILES / "fences_frontmatter_lf.md").read_text(encoding="utf-8")
    joined = "\n".join(chunk.content for chunk in chunks)
    kept = {line.rstrip() for line in joined.split("\n")}
    assert [line for line in source.split("\n") if line.strip() and line.rstrip() not in kept] == []
    assert all(is_balanced(chunk.content) or chunk.metadata.get("cut_code") for chunk in chunks)


def test_line_ends_change_no_chunk(split: Split) -> None:
    lf, crlf = split(parsed("lf")), split(parsed("crlf"))
    assert [chunk.content for chunk in crlf] == [chunk.content for chunk in lf]
    assert [chunk.chunk_id for chunk in crlf] == [chunk.chunk_id for chunk in lf]
    assert "\r" not in "".join(f"{chunk.content}{chunk.context}{chunk.place.heading_path}" for chunk in crlf)


def test_sections_are_those_of_the_headings(split: Split) -> None:
    blocks = [block for block in parsed("lf").blocks if block.kind is BlockKind.HEADING]
    titles = {title for block in blocks for title in block.place.heading_path}
    chunks = split(parsed("lf"))
    assert {title for chunk in chunks for title in chunk.place.heading_path} == titles
    assert {"Установка", "Настройка", "Итог"} <= titles
    inside = next(chunk for chunk in chunks if "# тоже не заголовок" in chunk.content)
    assert inside.place.heading_path[-1] == "Настройка"
