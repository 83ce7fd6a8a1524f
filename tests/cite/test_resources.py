"""Handles of stored things go to the model as short aliases and come back whole, wherever the stream was cut."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opora.cite.registry import Registry
from opora.cite.resources import Resources
from opora.domain.search import SearchResult
from opora.ports import ChatMessage
from opora.prompt.escape import escape_text

SLUG = "summary/3f2b8c1e-9d44-4e07-8a7e-0d5a1b2c3d4e"
HANDLES = ["minio://files/a1b2/схема.png", "resource://9f86d081", "cos://bucket/x.jpg", "s3://b/y.webp", SLUG]


def encoded(text: str) -> tuple[Registry, str]:
    registry = Registry()
    return registry, registry.encoded([ChatMessage(role="user", content=text)])[0].content


@pytest.mark.parametrize("handle", HANDLES)
def test_a_handle_is_res_0001_to_the_model_and_itself_to_readers(handle: str) -> None:
    registry, text = encoded(f"Смотри ![схема]({handle}), там всё.")
    assert text == "Смотри ![схема](res://0001), там всё."
    decoder = registry.decoder()
    assert decoder.feed("Вот: ![схема](res://0001)") + decoder.flush() == f"Вот: ![схема]({handle})"
    assert registry.expand("res://0001") == handle


def test_each_handle_has_one_alias_in_all_messages() -> None:
    registry = Registry()
    texts = [f"{HANDLES[0]} и {HANDLES[1]}", f"{HANDLES[1]}; {HANDLES[2]}."]
    sent = registry.encoded([ChatMessage(role="user", content=text) for text in texts])
    assert [message.content for message in sent] == ["res://0001 и res://0002", "res://0002; res://0003."]


def test_addresses_of_the_web_and_plain_words_stay() -> None:
    text = "https://example.org/summary/x, file://a, пример res://icon.png и res://1"
    assert encoded(text)[1] == text
    assert encoded(text)[0].expand(text) == text


def test_an_alias_that_was_not_given_is_left_out_and_one_of_a_text_itself_comes_back() -> None:
    registry, text = encoded("В тексте стоит res://0042.")
    assert text == "В тексте стоит res://0001."
    assert registry.expand("![x](res://0002) и res://0001") == "![x]() и res://0042"


def test_an_alias_inside_a_word_or_with_more_digits_is_text() -> None:
    resources = Resources()
    resources.encode(HANDLES[0])
    assert resources.restore("cores://0001 res://00010001001 res://001") == "cores://0001 res://00010001001 res://001"


def test_a_title_that_looks_like_an_alias_is_not_restored_inside_a_citation() -> None:
    registry = Registry()
    registry.encoded([ChatMessage(role="user", content=HANDLES[0])])
    registry.register(
        SearchResult(chunk_id="a", base_id="b", tenant_id="t", document_id="d", content="", title="res://0001")
    )
    assert 'doc="res://0001"' in registry.expand('<ref id="c1"/>')


@pytest.mark.parametrize(
    ("text", "handle", "sent"),
    [
        ("<minio://b/x.png> там", "minio://b/x.png", "&lt;res://0001&gt; там"),
        ("![a](minio://b/x.png?a=1&b=2)", "minio://b/x.png?a=1&b=2", "![a](res://0001)"),
        ('<img src="cos://b/x.png"/>', "cos://b/x.png", '&lt;img src="res://0001"/&gt;'),
        ("**minio://b/x.png** там", "minio://b/x.png", "**res://0001** там"),
        ("~~s3://b/x~~", "s3://b/x", "~~res://0001~~"),
    ],
)
def test_a_handle_in_a_passage_that_was_escaped_comes_back_as_it_is_stored(text: str, handle: str, sent: str) -> None:
    registry, prompt = encoded(escape_text(text))
    assert prompt == sent
    assert registry.expand("res://0001") == handle


PIECES = st.lists(
    st.sampled_from(["res://0001", "res://0002", "res://0009", "r", "re", "res:", "res://", "0001", " ", "слово", "a",
                     '<ref id="c1"/>', "<", "`", "\n", "(", ")", "res://12"]),
    max_size=12,
)  # fmt: skip


@given(PIECES, st.lists(st.integers(0, 80), max_size=12))
def test_every_cut_gives_the_same_text(pieces: list[str], cuts: list[int]) -> None:
    registry, _ = encoded(" ".join(HANDLES[:2]))
    registry.register(SearchResult(chunk_id="a", base_id="b", tenant_id="t", document_id="d", content="", title="t"))
    text = "".join(pieces)
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    decoder = registry.decoder()
    parts = [decoder.feed(text[start:end]) for start, end in pairwise(places)]
    assert "".join(parts) + decoder.flush() == registry.expand(text)
