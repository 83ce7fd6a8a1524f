"""Each citation is laid beside its passage, with the statement before it found there or not."""

from dataclasses import replace

from opora.cite.check import check_citations
from opora.cite.tags import kb_tag, web_tag
from opora.domain.conversation import Support
from opora.domain.search import MatchType, SearchResult

PASSAGE = "Общие правила. Расходы на проезд возмещают после\nвозвращения. 差旅费在返回后报销。"


def passage(chunk_id: str, *sub: str) -> SearchResult:
    return SearchResult(
        chunk_id=chunk_id, base_id="b", tenant_id="t", document_id="d", content=PASSAGE, sub_chunk_ids=sub
    )


def tag(chunk_id: str) -> str:
    return kb_tag(title="Правила", chunk_id=chunk_id, base_id="b", document_id="d")


def test_a_quote_is_found_with_its_offsets_and_other_words_are_not() -> None:
    answer = f"> «Расходы на проезд возмещают после возвращения.»{tag('a')}\n\nКороче: деньги вернут потом.{tag('a')}"
    quoted, told = check_citations(answer, [passage("a")])
    assert quoted.quote is not None
    assert PASSAGE[quoted.quote.start : quoted.quote.end].startswith("Расходы на проезд")
    assert (told.quote, told.statement) == (None, "Короче: деньги вернут потом.")
    assert (quoted.number, told.number) == (1, 1)


def test_only_the_last_sentence_may_be_the_quote() -> None:
    (checked,) = check_citations(f"Вот ответ. Расходы на проезд возмещают после возвращения.{tag('a')}", [passage("a")])
    assert checked.statement == "Расходы на проезд возмещают после возвращения."
    assert checked.quote is not None
    (checked,) = check_citations(f"答案如下。差旅费在返回后报销。{tag('a')}", [passage("a")])
    assert checked.quote is not None


def test_two_tags_in_a_row_stand_behind_one_statement() -> None:
    checked = check_citations(f"Общие правила.{tag('a')}{tag('b')}{tag('a')}", [passage("a"), passage("b")])
    assert [(one.number, one.statement) for one in checked] == [
        (1, "Общие правила."),
        (2, "Общие правила."),
        (1, "Общие правила."),
    ]


def test_a_merged_passage_is_found_by_the_chunks_in_it() -> None:
    (checked,) = check_citations(f"Общие правила.{tag('inner')}", [passage("outer", "inner")])
    assert checked.support is Support.SUPPORTED


def test_a_citation_outside_the_references_and_one_of_the_web_have_no_passage() -> None:
    checked = check_citations(f"Да.{tag('x')} Нет.{web_tag(url='https://e.org', title='E')}", [passage("a")])
    assert [(one.support, one.quote, one.best) for one in checked] == [(Support.NOT_FOUND, None, None)] * 2
    assert [one.number for one in checked] == [1, 2]


def test_a_page_of_the_web_is_checked_by_its_address() -> None:
    page = replace(passage("w"), source="https://e.org", match_type=MatchType.WEB)
    (checked,) = check_citations(f"Общие правила.{web_tag(url='https://e.org', title='E')}", [page])
    assert (checked.kind, checked.support) == ("web", Support.SUPPORTED)
    # A document that came from an address is cited by its chunk, and never by that address.
    (checked,) = check_citations(
        f"Общие правила.{web_tag(url='https://e.org', title='E')}", [replace(passage("a"), source="https://e.org")]
    )
    assert checked.support is Support.NOT_FOUND


def test_no_citations() -> None:
    assert check_citations("Просто текст.", [passage("a")]) == []
    assert check_citations(tag("a"), [passage("a")])[0].statement == ""
