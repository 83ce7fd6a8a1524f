"""How far a passage bears out a statement, told by words and figures."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opora.cite.check import check_citations
from opora.cite.registry import Registry
from opora.cite.support import PARTLY_SHARE, SUPPORTED_SHARE, Evidence
from opora.domain.conversation import Quote, Support
from opora.domain.search import SearchResult
from opora.models.quote_units import quote_units
from opora.pipeline.quotes import quoted_pieces

RULES = (
    "Расходы на проезд возмещают по документам после возвращения. Суточные в Москве составляют 700 рублей. "
    "Командировку не оформляют, если поездка короче одного дня. Заявление подают за 3 дня."
)
OTHER = "Ежегодный отпуск длится 28 календарных дней. Больничный оплачивают с первого дня."


def passage(content: str, chunk_id: str = "a") -> SearchResult:
    return SearchResult(chunk_id=chunk_id, base_id="b", tenant_id="t", document_id="d", content=content)


def judged(statement: str, content: str = RULES):
    return Evidence([passage(RULES), passage(OTHER, "b")]).judge([statement], content)[1]


@pytest.mark.parametrize(
    ("statement", "support"),
    [
        ("Суточные в Москве составляют 700 рублей.", Support.SUPPORTED),
        ("суточные в Москве составляют  700 рублей", Support.SUPPORTED),
        ("В Москве суточные — 700 рублей.", Support.SUPPORTED),
        ("После возвращения расходы на проезд возмещаются по документам.", Support.SUPPORTED),
        ("Заявление подают за 3 дня; расходы возмещают по документам.", Support.PARTLY),
        ("Суточные в Москве составляют 900 рублей.", Support.PARTLY),
        ("Командировку оформляют, если поездка короче одного дня.", Support.PARTLY),
        ("Расходы на проезд не возмещают по документам после возвращения.", Support.PARTLY),
        ("Ежегодный отпуск длится 28 календарных дней.", Support.NOT_FOUND),
        ("Travel costs are refunded.", Support.NOT_FOUND),
        ("", Support.NOT_FOUND),
    ],
)
def test_classes(statement: str, support: Support) -> None:
    assert judged(statement).support is support


def test_the_best_run_is_the_shortest_that_says_it() -> None:
    found = judged("В Москве суточные — 700 рублей.")
    assert RULES[found.start : found.end] == "Суточные в Москве составляют 700 рублей."
    assert not found.verbatim
    wide = judged("Расходы возмещают по документам, а суточные в Москве составляют 700 рублей.")
    assert RULES[wide.start : wide.end].endswith("700 рублей.")
    assert RULES[wide.start : wide.end].startswith("Расходы")


def test_shares_are_told_and_bound_the_classes() -> None:
    assert judged("Суточные в Москве составляют 700 рублей.").share == 1.0
    assert judged("Суточные в Москве составляют 900 рублей.").share > SUPPORTED_SHARE
    assert judged("Ежегодный отпуск длится 28 календарных дней.").share < PARTLY_SHARE


def test_chinese_in_other_words() -> None:
    content = "员工出差返回后，差旅费凭票据报销。住宿费每天上限为500元。"
    evidence = Evidence([passage(content)])
    assert evidence.judge(["返回后凭票据报销差旅费。"], content)[1].support is Support.SUPPORTED
    assert evidence.judge(["住宿费每天上限为600元。"], content)[1].support is Support.PARTLY
    assert evidence.judge(["年假为二十天。"], content)[1].support is Support.NOT_FOUND


def test_the_longest_reading_that_stands_there_is_taken() -> None:
    evidence = Evidence([passage(RULES)])
    statement, found = evidence.judge(["Так: заявление подают.", "Заявление подают за 3 дня."], RULES)
    assert (statement, found.verbatim) == ("Заявление подают за 3 дня.", True)


WORDS = st.sampled_from(
    ["срок", "отпуск", "**важно**", "3", "1 000", "> цитата", "- пункт", "| а | б |", "`код`", "не", "_т_", "差旅费",
     "<kb/>", '<ref id="c1"/>', "a<b", "«да»", "e.g.", "\n", "\n\n", ". ", "! ", "。", "# Заголовок\n"]
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=25).map(" ".join), st.data())
def test_an_answer_of_quotes_is_supported_by_construction(content: str, data: st.DataObject) -> None:
    """Whatever a document holds: what is quoted from it is found there again."""
    source = passage(content)
    units = [unit for unit in quote_units(content) if content[unit.start : unit.end].strip()]
    if not units:
        return
    chosen = data.draw(st.lists(st.sampled_from(units), min_size=1, max_size=3, unique=True))
    quotes = [Quote(chunk_id="a", text=content[u.start : u.end], start=u.start, end=u.end, score=1.0) for u in chosen]
    pieces = list(quoted_pieces(quotes, [source], Registry()))
    checked = check_citations("".join(pieces), [source])
    assert [one.support for one in checked] == [Support.SUPPORTED] * len(pieces), (pieces, checked)


def test_of_two_sentences_that_hold_as_much_the_one_that_agrees_is_the_evidence() -> None:
    source = passage("Срок.\n\nСрок <kb/> не продлевают.")
    (checked,) = check_citations('Срок не продлевают <kb doc="" chunk_id="a" kb_id="b" knowledge_id="d"/>', [source])
    assert checked.support is Support.SUPPORTED
    content = "срок \n\n срок <kb/> не"
    (checked,) = check_citations('> срок  не <kb doc="" chunk_id="a" kb_id="b" knowledge_id="d"/>', [passage(content)])
    assert checked.support is Support.SUPPORTED
