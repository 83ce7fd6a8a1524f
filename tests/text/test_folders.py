"""Folders are names joined by '/', and no path of a disk."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opora.text.fold import is_blank
from opora.text.folders import MAX_DEPTH, MAX_FOLDER_CHARS, clean_folder, is_within


@pytest.mark.parametrize(
    ("given_", "kept"),
    [
        ("", ""),
        ("/a//b/", "a/b"),
        ("..\\..\\etc/./passwd", "etc/passwd"),
        (" Кадры / Отпуска\n", "Кадры/Отпуска"),
        ("a/\u200b/b", "a/b"),
    ],
)
def test_only_names_are_kept(given_: str, kept: str) -> None:
    assert clean_folder(given_) == kept


@given(st.text(max_size=60))
def test_cleaning_twice_changes_nothing_more(text: str) -> None:
    folder = clean_folder(text)
    assert clean_folder(folder) == folder
    assert ".." not in folder.split("/")


def test_the_limits() -> None:
    clean_folder("/".join("x" * MAX_DEPTH))
    with pytest.raises(ValueError, match="levels"):
        clean_folder("/".join("x" * (MAX_DEPTH + 1)))
    with pytest.raises(ValueError, match="characters"):
        clean_folder("/".join(["x" * 400] * (MAX_FOLDER_CHARS // 400 + 1)))


@pytest.mark.parametrize(("folder", "outer", "inside"), [("a/b", "a", True), ("ab", "a", False), ("a", "a", True)])
def test_what_lies_inside(folder: str, outer: str, inside: bool) -> None:
    assert is_within(folder, outer) is inside
    assert is_within(folder, "")


@pytest.mark.parametrize(
    ("text", "blank"), [("", True), (" \n\u200b\ufeff\u00ad", True), ("\u200ba", False), ("™", False)]
)
def test_text_of_which_nothing_is_seen_is_blank(text: str, blank: bool) -> None:
    assert is_blank(text) is blank
