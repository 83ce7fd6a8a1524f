from __future__ import annotations

from collections.abc import Callable

import pytest

from opora.domain.knowledge import Block, BlockKind, Chunk, ParsedDocument, Place
from opora.ingest.split.outline import heading_title
from opora.ingest.split.tiers import TIERS

Split = Callable[..., list[Chunk]]


def heading(text: str, level: int) -> Block:
    return Block(kind=BlockKind.HEADING, text=text, level=level)


def paragraph(text: str) -> Block:
    return Block(kind=BlockKind.PARAGRAPH, text=text)


def code(lines: int, fence: str = "```python") -> Block:
    body = "\n".join(f"value_{number} = {number}" for number in range(lines))
    return Block(kind=BlockKind.CODE, text=f"{fence}\n{body}\n```")


def sentences(count: int, word: str = "Пункт") -> str:
    return " ".join(f"{word} номер {number} говорит о сроках и суммах." for number in range(count))


def test_the_tiers_and_their_order() -> None:
    assert [name for name, _ in TIERS] == ["structure", "sentences", "plain"]


def test_a_section_that_fits_is_one_chunk_with_its_heading(split: Split) -> None:
    chunks = split(
        [heading("# Отпуск", 1), paragraph("Отпуск 28 дней."), heading("## Перенос", 2), paragraph("Можно.")]
    )
    assert [chunk.content for chunk in chunks] == ["# Отпуск\n\nОтпуск 28 дней.", "## Перенос\n\nМожно."]
    assert [chunk.context for chunk in chunks] == ["", "Отпуск"]
    assert [chunk.place.heading_path for chunk in chunks] == [("Отпуск",), ("Отпуск", "Перенос")]


def test_each_heading_word_is_found_once_in_every_chunk_of_its_section(split: Split) -> None:
    chunks = split([heading("# Командировки", 1), heading("## Суточные", 2), paragraph(sentences(60))])
    assert len(chunks) > 3
    for chunk in chunks:
        assert chunk.search_text.count("Командировки") == 1
        assert chunk.search_text.count("Суточные") == 1
    assert [chunk.context for chunk in chunks][:2] == ["", "Командировки > Суточные"]


def test_headings_without_text_keep_their_words(split: Split) -> None:
    chunks = split([heading("# A", 1), heading("# B", 1), heading("## C", 2), paragraph("Text."), heading("# D", 1)])
    assert [chunk.content for chunk in chunks] == ["# A", "# B\n\n## C\n\nText.", "# D"]


def test_a_parsers_own_paths_are_believed(split: Split) -> None:
    blocks = [
        Block(kind=BlockKind.HEADING, text="# **Срок**", level=1, place=Place(heading_path=("Срок",))),
        Block(kind=BlockKind.PARAGRAPH, text="Три дня.", place=Place(heading_path=("Срок",))),
        Block(kind=BlockKind.FOOTNOTE, text="1) Рабочих."),
    ]
    chunks = split(blocks)
    assert [(chunk.content, chunk.place.heading_path) for chunk in chunks] == [
        ("# **Срок**\n\nТри дня.", ("Срок",)),
        ("1) Рабочих.", ()),
    ]


@pytest.mark.parametrize(
    ("text", "title"),
    [("## Итог ##", "Итог"), ("Итог\n----", "Итог"), ("Итог", "Итог"), ("# C#", "C"), ("#", "#"), ("a\nb", "a b")],
)
def test_heading_titles(text: str, title: str) -> None:
    assert heading_title(text) == title


def test_structure_goes_before_sentences(split: Split) -> None:
    """Two paragraphs that do not fit together are parted between them, not inside one."""
    one, two = sentences(8, "Первый"), sentences(8, "Второй")
    chunks = split([paragraph(one), paragraph(two)], overlap=0)
    assert [chunk.content for chunk in chunks] == [one, two]


def test_a_list_is_cut_between_items(split: Split) -> None:
    items = [f"- пункт {number}: {'слово ' * 12}".rstrip() for number in range(30)]
    chunks = split([Block(kind=BlockKind.LIST, text="\n".join(items))], overlap=0)
    assert len(chunks) > 5
    assert [line for chunk in chunks for line in chunk.content.split("\n")] == items


def test_paragraphs_that_share_a_block_are_parted_first(split: Split) -> None:
    one, two = sentences(8, "Первый"), sentences(8, "Второй")
    assert [chunk.content for chunk in split(f"{one}\n\n{two}", overlap=0)] == [one, two]


def test_code_longer_than_a_chunk_is_whole_up_to_the_cap(split: Split) -> None:
    long = code(300)
    assert 512 < len(long.text) <= 7500
    chunks = split([heading("# Код", 1), paragraph("Пример."), long, paragraph("Конец.")])
    assert [chunk.content for chunk in chunks if "```" in chunk.content] == [long.text]
    assert not any(chunk.metadata for chunk in chunks)


def test_a_heading_stays_with_its_long_code(split: Split) -> None:
    long = code(300)
    assert [chunk.content for chunk in split([heading("# Код", 1), long])] == [f"# Код\n\n{long.text}"]


def test_code_beyond_the_cap_is_cut_between_lines_and_fenced_again(split: Split) -> None:
    long = code(1000)
    assert len(long.text) > 7500
    chunks = split([long])
    assert all(chunk.metadata == {"cut_code": True} and len(chunk.content) <= 512 for chunk in chunks)
    assert all(chunk.content.startswith("```python\n") and chunk.content.endswith("\n```") for chunk in chunks)
    lines = [line for chunk in chunks for line in chunk.content.split("\n") if not line.startswith("```")]
    assert lines == long.text.split("\n")[1:-1]
    text = ParsedDocument(blocks=(long,), file_type="md").text
    assert all(text[chunk.place.start : chunk.place.end].strip("`python\n") in chunk.content for chunk in chunks)


@pytest.mark.parametrize(
    "whole",
    [
        "$$" + "x + y = z, " * 60 + "$$",
        "[" + "очень длинная подпись. " * 30 + "](https://example.org/path)",
        "https://example.org/" + "a-b.c;d," * 100,
        "![схема](img/" + "x/" * 300 + "y.png)",
        "```\n" + "a. B. C\n" * 100 + "```",
    ],
)
def test_formulas_links_and_fences_in_text_are_not_cut(split: Split, whole: str) -> None:
    chunks = split(f"{sentences(10)}\n\n{whole}\n\n{sentences(10)}")
    assert sum(whole in chunk.content for chunk in chunks) == 1
    assert all(len(chunk.content) <= 512 or whole in chunk.content for chunk in chunks)


def test_beyond_the_cap_even_a_link_is_cut(split: Split) -> None:
    chunks = split("https://example.org/" + "a" * 8000, overlap=0)
    assert max(len(chunk.content) for chunk in chunks) <= 512


def test_a_heading_is_not_cut_below_the_cap(split: Split) -> None:
    title = "Слово " * 200
    chunks = split([heading(title.strip(), 1), paragraph(sentences(20))])
    assert chunks[0].content.startswith(title.strip())
    assert all(len(chunk.context) < 220 for chunk in chunks)
