"""Aliases follow the order of registration and never leak an id to the model."""

import pytest

from opora.cite.registry import Registry
from opora.cite.tags import parse_citations
from opora.domain.search import MatchType, SearchResult


def chunk(chunk_id: str, title: str = "Регламент") -> SearchResult:
    return SearchResult(
        chunk_id=chunk_id, base_id="kb-1", tenant_id="t", document_id=f"doc-{chunk_id}", content="text", title=title
    )


def page(url: str) -> SearchResult:
    return SearchResult(
        chunk_id=url, base_id="", tenant_id="t", document_id="", content="text", title='Тарифы "2025"',
        match_type=MatchType.WEB,
    )  # fmt: skip


def test_aliases_by_kind_in_order_and_once_for_each_source() -> None:
    registry = Registry()
    assert registry.register_results([chunk("a"), page("https://e.org/?x=1&y=2"), chunk("b"), chunk("a")]) == [
        "c1",
        "w1",
        "c2",
        "c1",
    ]
    assert [registry.document("d"), registry.base("x"), registry.base("y"), registry.document("d")] == [
        "d1",
        "b1",
        "b2",
        "d1",
    ]
    assert [source.alias for source in registry.sources] == ["c1", "w1", "c2", "d1", "b1", "b2"]


def test_public_tags() -> None:
    registry = Registry()
    registry.register_results([chunk("a", 'Приказ <№ 7> & "сроки"'), page("https://e.org/?x=1&y=2")])
    assert registry.public_tag("c1") == (
        '<kb doc="Приказ &lt;№ 7&gt; &amp; &quot;сроки&quot;" chunk_id="a" kb_id="kb-1" knowledge_id="doc-a"/>'
    )
    assert registry.public_tag("w1") == '<web url="https://e.org/?x=1&amp;y=2" title="Тарифы &quot;2025&quot;"/>'


def test_documents_and_bases_are_named_but_not_cited() -> None:
    registry = Registry()
    registry.document("d")
    registry.base("b")
    assert registry.expand('a<ref id="d1"/><ref id="b1"/>b') == "ab"


def test_with_citations_off_every_mark_vanishes() -> None:
    registry = Registry(citations_enabled=False)
    registry.register(chunk("a"))
    assert registry.expand('a<ref id="c1"/>b') == "ab"


def test_file_name_stands_in_for_a_missing_title() -> None:
    registry = Registry()
    registry.register(
        SearchResult(chunk_id="a", base_id="k", tenant_id="t", document_id="d", content="", file_name="f.txt")
    )
    (citation,) = parse_citations(registry.expand('<ref id="c1"/>'))
    assert citation.title == "f.txt"


@pytest.mark.parametrize("language", ["ru", "zh", "en", "xx"])
def test_the_protocol_shows_the_mark_when_citations_are_on_and_forbids_it_when_off(language: str) -> None:
    assert '<ref id="c1"/>' in Registry().protocol_prompt(language)
    off = Registry(citations_enabled=False).protocol_prompt(language)
    assert "<ref>" in off
    assert "id=" not in off


def test_decoders_of_two_channels_do_not_share_state() -> None:
    registry = Registry()
    registry.register(chunk("a"))
    answer, thinking = registry.decoder(), registry.decoder()
    assert answer.feed("<ref ") == ""
    assert thinking.feed("мысль") == "мысль"
    assert answer.feed('id="c1"/>').startswith("<kb ")
