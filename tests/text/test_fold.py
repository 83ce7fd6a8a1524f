"""Folding: what readers take for one word becomes one form."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opora.text.fold import clean, fold, normalise


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("ЁЛКА Ёж ё", "елка еж е"),
        ("е\u0308лка", "елка"),
        ("й и\u0306", "й й"),
        ("за\u0301мок", "замок"),
        ("доку\u00adмент", "документ"),
        ("zero\u200bwidth \ufeffmark", "zerowidth mark"),
        ("e\ufb03cient \ufb01le \ufb02ow", "efficient file flow"),
        ("ＡＢＣ １２", "abc 12"),
        ("Straße", "strasse"),
        ("№5", " 5"),
        ("Opora™", "opora"),
        ("don’t", "don't"),
        ("Санкт\u2011Петербург", "санкт-петербург"),
        ("a\0b", "a b"),
        ("a\ud800b", "a b"),
        ("м²", "м2"),
    ],
)
def test_forms_of_one_word_become_one(text: str, folded: str) -> None:
    assert fold(text) == folded


def test_normalising_keeps_the_case() -> None:
    assert normalise("FileResponse Ёлка") == "FileResponse Елка"


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [("plain", "plain"), ("a\0b", "a b"), ("ё\0я", "ё я"), ("x\ud800я\udfff", "x я "), ("🍸 ok", "🍸 ok"), ("", "")],
)
def test_cleaning_takes_only_what_no_store_accepts(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=60))
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet=st.characters(), max_size=40))
def test_cleaned_text_keeps_its_length_and_can_be_encoded(text: str) -> None:
    cleaned = clean(text + "\ud900\0")
    assert len(cleaned) == len(text) + 2
    assert "\0" not in cleaned.encode().decode()


@settings(max_examples=150, deadline=None)
@given(
    st.text(alphabet=st.sampled_from("aЁё№\0\u00ad\u200b\ufeff\u2010\u2011\u2019\u0301\ud800-]^\\b м²"), max_size=20)
)
def test_the_quick_way_is_the_plain_table(text: str) -> None:
    from unicodedata import normalize

    from opora.text.fold import _AFTER, _BEFORE

    plain = normalize("NFKC", text.translate(_BEFORE)).translate({ord(mark): form for mark, form in _AFTER.items()})
    assert normalise(text) == plain
