"""Numbers for citations and the list behind the answer: made once, taken off again when a client sends them back."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opora.api.openai.conversation import MessageBody, read
from opora.api.openai.sources import Sources, without_sources
from opora.cite.tags import kb_tag, web_tag
from opora.domain.errors import InvalidInput
from opora.domain.knowledge import Place
from opora.domain.search import SearchResult


def tag(chunk_id: str, title: str = "Проезд") -> str:
    return kb_tag(title=title, chunk_id=chunk_id, base_id="kb", document_id="d")


def passage(chunk_id: str, page: int | None = None, sub: tuple[str, ...] = ()) -> SearchResult:
    return SearchResult(
        chunk_id=chunk_id,
        base_id="kb",
        tenant_id="t",
        document_id="d",
        content=f"text {chunk_id}",
        sub_chunk_ids=sub,
        place=Place(page=page),
    )


def test_a_source_keeps_its_number_and_new_ones_get_the_next() -> None:
    sources = Sources("ru")
    sources.know([passage("a", 3), passage("b", sub=("b2",))])
    pieces = [f"Раз {tag('a')}", f"два {tag('b2', 'Отпуск')}{tag('a')}", "три"]
    assert [sources.numbered(piece) for piece in pieces] == ["Раз [1]", "два [2][1]", "три"]
    assert sources.text() == "\n\nИсточники:\n[1] Проезд, с. 3\n[2] Отпуск"
    assert [(one["number"], one["chunk_id"], one["content"]) for one in sources.citations()] == [
        (1, "a", "text a"),
        (2, "b2", "text b"),
    ]


@pytest.mark.parametrize(
    ("language", "heading"), [("ru", "Источники"), ("en", "Sources"), ("zh", "来源"), ("", "Sources")]
)
def test_the_heading_is_in_the_language_of_the_question(language: str, heading: str) -> None:
    sources = Sources(language)
    sources.numbered(tag("a"))
    assert sources.text().startswith(f"\n\n{heading}:\n[1] ")


def test_pages_of_the_web_are_told_with_their_address() -> None:
    sources = Sources("en")
    assert sources.numbered(web_tag(url="https://example.org/a?b=1&c=2", title="A page")) == "[1]"
    assert sources.text() == "\n\nSources:\n[1] A page — https://example.org/a?b=1&c=2"


@pytest.mark.parametrize(
    "title", ["![x](http://evil.example/?q=1)", "<img src=http://evil.example>", "`code`", "a\n\n# Heading"]
)
def test_a_title_becomes_no_link_and_no_picture(title: str) -> None:
    sources = Sources("en")
    sources.numbered(tag("a", title))
    (line,) = sources.text().removeprefix("\n\nSources:\n").split("\n")
    for opening in ("[x", "<img", "`c"):
        assert opening not in line.replace(f"\\{opening[0]}", "")


def test_without_citations_there_is_no_list() -> None:
    sources = Sources("ru")
    assert sources.numbered("Ответ [1] как есть") == "Ответ [1] как есть"
    assert sources.text() == ""
    assert sources.citations() == []


words = st.text("абв xyz[]0123456789\n.", max_size=20)


@given(st.lists(words | st.sampled_from(["a", "b", "c"]).map(tag), max_size=8), st.sampled_from(["ru", "en", "zh"]))
@settings(max_examples=60)
def test_what_was_added_is_taken_off_again(pieces: list[str], language: str) -> None:
    sources = Sources(language)
    shown = "".join(sources.numbered(piece) for piece in pieces) + sources.text()
    back = without_sources(shown)
    if not sources.citations():
        assert back == shown
        return
    assert "Проезд" not in back
    assert not any(f"[{one['number']}]" in back for one in sources.citations())


def test_numbers_that_no_list_explains_stay() -> None:
    assert without_sources("Массив a[1] и ссылка [2].") == "Массив a[1] и ссылка [2]."


def said(*messages: tuple[str, str]) -> list[MessageBody]:
    return [MessageBody.model_validate({"role": role, "content": content}) for role, content in messages]


def test_messages_become_rounds_wishes_and_the_question() -> None:
    read_ = read(
        said(
            ("system", "Кратко."),
            ("assistant", "Здравствуйте!"),
            ("user", "А?"),
            ("user", "Б?"),
            ("assistant", "Да."),
            ("developer", "По-русски."),
            ("user", "В?"),
            ("assistant", ""),
            ("user", "Г?"),
        )
    )
    assert read_.instructions == "Кратко.\n\nПо-русски."
    assert [(one.question, one.answer) for one in read_.history] == [("А?\n\nБ?", "Да.")]
    assert read_.query == "В?\n\nГ?"


def test_the_last_word_is_the_users() -> None:
    with pytest.raises(InvalidInput):
        read(said(("user", "А?"), ("assistant", "Да.")))
