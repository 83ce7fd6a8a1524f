"""Terms: what a text writes to the keyword index, and what a query looks for there."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opora.text.stop_words import STOP_WORDS
from opora.text.terms import MAX_QUERY_TERMS, MAX_TERM_CHARS, TERM_PUNCTUATION, TERMS_VERSION, index_terms, query_terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Налоговые ставки", ["налогов", "ставк"]),
        ("самолёты самолет", ["самолет", "самолет"]),
        ("Orbiting satellites", ["orbit", "satellit"]),
        ("税率", ["税率", "税", "率"]),
        ("税", ["税"]),
        ("使用API框架", ["使用", "使", "用", "api", "框架", "框", "架"]),
        ("KB-1234", ["kb-1234", "kb", "1234"]),
        ("KB1234", ["kb1234", "kb", "1234"]),
        ("C++ C# F#", ["c++", "c#", "f#"]),
        ("node.js", ["node.js", "node", "js"]),
        ("@nasa 50%", ["@nasa", "nasa", "50%", "50"]),
        ("ivan@example.com", ["ivan@example.com", "ivan", "exampl", "com"]),
        ("response_model", ["response_model", "respons", "model"]),
        ("FileResponse", ["filerespons", "file", "respons"]),
        ("HTTPException", ["httpexcept", "http", "except"]),
        ("Санкт-Петербург", ["санкт", "петербург"]),
        ("API-ключи", ["api", "ключ"]),
        ("author's don't", ["author", "dont"]),
        ("café Zürich", ["cafe", "zurich"]),
        ("№5 5кг", ["5", "5кг", "5", "кг"]),
        ("% _ \\ ~ * ((( \" '' 🍸 \0", []),
        ("", []),
    ],
)
def test_terms_of_a_text(text: str, terms: list[str]) -> None:
    assert index_terms(text) == terms


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("税", ["税"]),
        ("税率", ["税率"]),
        ("增值税", ["增值", "值税"]),
        ("билет AND", ["билет"]),
        ("какова ставка налога и за что", ["каков", "ставк", "налог"]),
        ("AND", ["and"]),
        ("OR NOT", ["or", "not"]),
        ("и в на", ["и", "в", "на"]),
        ("content:билет*", ["content", "билет"]),
        ("NEAR(проезда билет)", ["near", "проезд", "билет"]),
        ("ответ и ещё ответы", ["ответ", "ответ"]),
        ('"; DROP TABLE chunks; --', ["drop", "tabl", "chunk"]),
    ],
)
def test_terms_of_a_query(query: str, terms: list[str]) -> None:
    assert query_terms(query) == terms


@pytest.mark.parametrize("character", list("增值税发票"))
def test_one_han_character_finds_every_word_that_contains_it(character: str) -> None:
    assert set(query_terms(character)) <= set(index_terms("请开具增值税专用发票。"))


def test_words_cut_by_ligature_or_soft_hyphen_are_whole() -> None:
    assert index_terms("e\ufb03cient доку\u00adмен\u00adты") == index_terms("efficient документы")


def test_a_hash_is_not_cut_into_pieces() -> None:
    assert index_terms("3f9a77c1b2e8d4") == ["3f9a77c1b2e8d4"]


def test_data_in_text_form_makes_bounded_terms() -> None:
    terms = index_terms("QUJD" * 10_000 + " " + ".".join(["part"] * 500))
    assert max(map(len, terms)) <= MAX_TERM_CHARS
    assert terms.count("part") == 500


def test_a_query_has_a_bounded_number_of_terms() -> None:
    assert len(query_terms(" ".join(f"word{i}" for i in range(3000)))) == MAX_QUERY_TERMS


def test_stop_words_are_folded() -> None:
    assert all(word == word.casefold() and "ё" not in word for word in STOP_WORDS)
    assert {"and", "и"} <= STOP_WORDS


def test_the_version_names_the_stemmer() -> None:
    assert TERMS_VERSION.split("/")[0].isdigit()
    assert TERMS_VERSION.split("/")[1]


def test_threads_get_the_same_terms() -> None:
    texts = [f"Налоговые ставки{i} satellites orbiting самолёты{i}" for i in range(300)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(index_terms, texts)) == [index_terms(text) for text in texts]


_TEXT = st.text(alphabet=st.one_of(st.characters(), st.sampled_from("aЯ税5-.+#%@_&'’ \0\ud800")), max_size=60)


@settings(max_examples=200, deadline=None)
@given(_TEXT)
def test_terms_hold_nothing_that_the_index_would_cut(text: str) -> None:
    for term in index_terms(text) + query_terms(text):
        assert 0 < len(term) <= MAX_TERM_CHARS
        assert all(not c.isascii() or c.isalnum() or c in TERM_PUNCTUATION for c in term), term
        assert not any(c.isspace() for c in term)
        term.encode()


@settings(max_examples=200, deadline=None)
@given(_TEXT)
def test_a_text_is_found_by_any_query_that_quotes_it(text: str) -> None:
    assert set(query_terms(text)) <= set(index_terms(text))
