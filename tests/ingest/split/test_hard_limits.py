"""Limits that must hold for text with no blanks, no sentences or no ordinary characters."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import regex

from opora.domain.knowledge import Chunk

FILES = Path(__file__).parents[2] / "cases" / "files" / "text"
Split = Callable[..., list[Chunk]]


def read(name: str) -> str:
    return (FILES / name).read_text(encoding="utf-8")


def own(text: str, chunks: list[Chunk]) -> list[str]:
    """What each chunk adds to those before it."""
    at, added = 0, []
    for chunk in chunks:
        added.append(text[max(at, chunk.place.start) : chunk.place.end])
        at = chunk.place.end
    return added


@pytest.mark.parametrize(
    ("text", "size", "overlap", "lengths"),
    [
        ("abcdefghij" * 110, 1000, 200, [1000, 300]),
        ("x" * 2000, 1000, 200, [1000, 1000, 400]),
        ("a" * 30, 10, 0, [10, 10, 10]),
        ("a" * 10, 10, 0, [10]),
        ("a" * 11, 10, 3, [10, 4]),
    ],
)
def test_lengths_without_separators(split: Split, text: str, size: int, overlap: int, lengths: list[int]) -> None:
    chunks = split(text, size=size, overlap=overlap)
    assert [len(chunk.content) for chunk in chunks] == lengths
    assert "".join(own(text, chunks)) == text


def test_one_line_of_200_000_characters(split: Split) -> None:
    text = read("one_line_200k.txt")
    chunks = split(text, size=1000, overlap=200)
    assert len(chunks) >= 200
    assert max(len(chunk.content) for chunk in chunks) <= 1000
    assert "".join(own(text, chunks)) == text


@pytest.mark.parametrize("text", ["", "   \n\n\t  ", "\u3000\u00a0\u2028"])
def test_blank_text_gives_no_chunks(split: Split, text: str) -> None:
    assert split(text) == []
    assert split(text, parent_child=True) == []


@pytest.mark.parametrize("overlap", [0, 40, 80])
def test_chinese_is_cut_between_sentences(split: Split, overlap: int) -> None:
    text = read("zh_nospace.txt")
    chunks = split(text, size=200, overlap=overlap)
    assert all(chunk.content[-1] in "。！？；" for chunk in chunks[:-1])
    assert max(len(chunk.content) for chunk in chunks) <= 200
    assert "".join(own(text, chunks)) == text.strip()


@pytest.mark.parametrize("overlap", [0, 10])
def test_no_cut_inside_what_looks_like_one_character(split: Split, overlap: int) -> None:
    text = read("emoji_run.txt").strip()
    chunks = split(text, size=50, overlap=overlap)
    boundaries = {0, *(match.end() for match in regex.finditer(r"\X", text))}
    assert all({chunk.place.start, chunk.place.end} <= boundaries for chunk in chunks)
    assert max(len(chunk.content) for chunk in chunks) <= 50
    assert "".join(own(text, chunks)) == text


def test_a_cluster_longer_than_a_chunk_is_cut_all_the_same(split: Split) -> None:
    text = "e" + "\u0301" * 95
    assert [len(chunk.content) for chunk in split(text, size=10, overlap=0)] == [10] * 9 + [6]


@pytest.mark.parametrize(
    "text",
    [
        "слово " * 400,
        "строка журнала без точки\n" * 200,
        "a" + " " * 3000 + "b" + " " * 3000,
        " " * 900 + "начало, " * 300,
        "前半句，後半句，" * 200,
    ],
)
@pytest.mark.parametrize(("size", "overlap"), [(512, 80), (37, 9)])
def test_text_without_sentences_is_cut_at_edges(split: Split, text: str, size: int, overlap: int) -> None:
    chunks = split(text, size=size, overlap=overlap)
    assert all(chunk.content.strip() and len(chunk.content) <= size for chunk in chunks)
    assert "".join("".join(own(text, chunks)).split()) == "".join(text.split())
    for chunk in chunks:
        assert not text[chunk.place.end - 1 : chunk.place.end + 1].isalnum() or "，" in text
