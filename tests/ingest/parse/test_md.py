"""Markdown by its structure: code is no heading, no line is lost, line ends do not matter."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opora.domain.knowledge import BlockKind, ParsedDocument
from opora.ingest.limits import ParseLimits
from opora.ingest.parse import md

FILES = Path(__file__).parents[2] / "cases/files/md"
LF, CRLF = FILES / "fences_frontmatter_lf.md", FILES / "fences_frontmatter_crlf.md"


def parsed(text: str) -> ParsedDocument:
    return md.parse(text.encode(), "a.md", ParseLimits())


def headings(document: ParsedDocument) -> list[tuple[int, str]]:
    return [(block.level, block.place.heading_path[-1]) for block in document.blocks if block.kind is BlockKind.HEADING]


def shape(document: ParsedDocument) -> list[tuple[str, str]]:
    return [(block.kind.value, block.text) for block in document.blocks]


def test_the_headings_are_those_of_the_document_and_no_others() -> None:
    assert headings(parsed(LF.read_text("utf-8"))) == [
        (1, "Установка"),
        (2, "Настройка"),
        (2, "Раздел подчёркнутый"),
        (3, "Итог"),
    ]


def test_line_ends_change_nothing() -> None:
    unix, dos = md.parse(LF.read_bytes(), "a.md", ParseLimits()), md.parse(CRLF.read_bytes(), "a.md", ParseLimits())
    assert b"\r\n" in CRLF.read_bytes()
    assert dos.blocks == unix.blocks
    assert dos.metadata == unix.metadata
    assert "\r" not in dos.text


def test_front_matter_is_metadata_and_title() -> None:
    document = parsed(LF.read_text("utf-8"))
    assert document.metadata["front_matter"] == {"title": "Руководство", "author": "Отдел"}
    assert document.title == "Руководство"
    assert "title: Руководство" in document.text


def test_no_line_of_the_case_file_is_lost() -> None:
    kept = [line.strip() for line in parsed(LF.read_text("utf-8")).text.split("\n")]
    assert [
        line.strip() for line in LF.read_text("utf-8").split("\n") if line.strip() and line.strip() not in kept
    ] == []


def test_fences_are_balanced_also_an_open_one() -> None:
    codes = [block.text for block in parsed(LF.read_text("utf-8")).blocks if block.kind is BlockKind.CODE]
    assert all(code.strip()[:3] == code.split("\n")[-1].strip()[:3] for code in codes)
    assert any("````markdown\n```text" in code and code.endswith("````") for code in codes)
    assert codes[-1] == "```text\n# незакрытый блок до конца файла\nконец\n```"


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("# A\n\ntext", ["heading", "paragraph"]),
        ("A\n===\n\ntext", ["heading", "paragraph"]),
        ("- a\n- b\n\n1. c", ["list", "list"]),
        ("```\n# no\n```\n\n    # no", ["code", "code"]),
        ("$$\nE = mc^2\n$$", ["formula"]),
        ("> quoted\n\n---\n\n<div>html</div>", ["paragraph", "paragraph", "paragraph"]),
        ("[ref]: http://example.org\n\ntext [ref]", ["paragraph", "paragraph"]),
        ("| a | b |\n|---|---|\n| 1 | 2 |", ["table"]),
    ],
)
def test_kinds_of_blocks(text: str, kinds: list[str]) -> None:
    assert [kind for kind, _ in shape(parsed(text))] == kinds


def test_a_table_has_its_head_and_rows() -> None:
    (block,) = parsed("| Город | Сумма |\n|---|---:|\n| Казань | 700 |\n| Пермь | 600 |").blocks
    assert block.head == "| Город | Сумма |\n|---|---:|"
    assert block.rows == ("| Казань | 700 |", "| Пермь | 600 |")
    assert block.text == "\n".join((block.head, *block.rows))


def test_headings_stand_over_what_follows_without_their_marks() -> None:
    document = parsed("# **Общие** [правила](http://x.y)\n\n## `code` _x_\n\ntext\n\n# Два\n\nmore")
    assert [block.place.heading_path for block in document.blocks if block.kind is BlockKind.PARAGRAPH] == [
        ("Общие правила", "code _x_"),
        ("Два",),
    ]


@pytest.mark.parametrize(
    "source",
    [
        "---\na: &a [*a]\n---\ntext",
        "---\na: &a {b: *a}\n---\ntext",
        "---\na0: &a0 [x]\n"
        + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}, *a{n - 1}, *a{n - 1}]\n" for n in range(1, 20))
        + "---\ntext",
    ],
    ids=["a list in itself", "a mapping in itself", "a few lines that unfold to gigabytes"],
)
def test_front_matter_that_points_into_itself_is_only_text(source: str) -> None:
    document = parsed(source)
    assert "front_matter" not in document.metadata
    assert document.text.endswith("text")


@pytest.mark.parametrize("value", [".nan", ".inf", "[-.inf]"])
def test_front_matter_holds_only_what_json_can_carry(value: str) -> None:
    document = parsed(f"---\na: {value}\nb: 1.5\n---\ntext")
    assert document.metadata["front_matter"]["b"] == 1.5
    assert json.loads(json.dumps(document.metadata, allow_nan=False)) == document.metadata


def test_broken_front_matter_is_only_text() -> None:
    document = parsed("---\n: [\n---\n\ntext")
    assert "front_matter" not in document.metadata
    assert "text" in document.text


LINES = """# h
## h2
text
- item
  - inner
1. one
```
~~~
> q
    code

| a | b |
|---|---|
---
===
[a]: http://b
$$
<div>
</div>
<!-- c
-->"""
MARKS = st.lists(st.sampled_from(LINES.split("\n")), max_size=12)


@settings(max_examples=150, deadline=None)
@given(MARKS)
def test_no_line_is_ever_lost_or_doubled(lines: list[str]) -> None:
    source = [line.strip() for line in lines if line.strip()]
    kept = [line.strip() for line in parsed("\n".join(lines)).text.split("\n") if line.strip()]
    if len(kept) == len(source) + 1:
        assert kept[-1] in ("```", "~~~")
        kept.pop()
    assert kept == source


def test_a_text_too_long_for_a_tree_is_read_as_paragraphs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(md, "STRUCTURE_CHARS", 10)
    document = parsed("# Заголовок\n\nтекст под ним")
    assert document.text == "# Заголовок\n\nтекст под ним"
    assert document.file_type == "md"
