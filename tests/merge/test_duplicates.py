"""Doubles and near doubles, and what must never be taken for one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opora.domain.knowledge import ChunkType
from opora.domain.search import SearchResult
from opora.merge import duplicates
from opora.merge.duplicates import is_near_duplicate, without_duplicates, without_near_duplicates
from opora.merge.order import order_key
from opora.merge.piece import Piece
from opora.merge.state import Merging, Sources
from opora.merge.texts import Texts

WORDS = [
    *("альфа", "бета", "гамма", "дельта", "эпсилон", "дзета", "тета", "йота", "каппа", "лямбда"),
    *("мю", "ню", "кси", "омикрон", "пи", "ро", "сигма", "тау", "фи", "хи"),
]
RULE = " ".join(WORDS)


def left(step, *results) -> tuple[list[str], list[tuple[str, str]]]:
    state = step(Merging(pieces=tuple(Piece.of(r) for r in results)), Sources(query="q"))
    return [p.result.chunk_id for p in state.pieces], [(d.chunk_id, d.reason) for d in state.drops]


def test_the_described_numbers() -> None:
    assert (duplicates.NEAR_DUPLICATE_RATIO, duplicates.MAX_SIZE_RATIO) == (0.85, 3)


def test_the_better_of_two_equal_texts_stays(result_of) -> None:
    kept, gone = left(without_duplicates, result_of("a", "Текст", 0.4), result_of("b", "текст ", 0.6, document_id="d2"))
    assert (kept, gone) == (["b"], [("a", "duplicate")])


def test_one_chunk_found_twice_is_one_and_no_drop(result_of) -> None:
    kept, gone = left(without_duplicates, result_of("a", "x", 0.4), result_of("a", "y", 0.6))
    assert (kept, gone) == (["a"], [])


def test_equal_words_under_different_headings_are_different_facts(result_of) -> None:
    items = [result_of("a", "Ставка 5%.", context="Омск"), result_of("b", "Ставка 5%.", context="Казань")]
    for step in (without_duplicates, without_near_duplicates):
        assert left(step, *items)[0] == ["a", "b"]


def test_blank_texts_equal_nothing(result_of) -> None:
    assert len(left(without_duplicates, result_of("a", " "), result_of("b", "\n", chunk_index=1))[0]) == 2


@pytest.mark.parametrize(("shared", "is_double"), [(17, True), (16, False)])
def test_near_doubles_share_85_percent_of_the_smaller(result_of, shared: int, is_double: bool) -> None:
    other = " ".join([*WORDS[:shared], *(f"{w}ов" for w in WORDS[shared:])])
    kept, gone = left(without_near_duplicates, result_of("a", RULE, 0.9), result_of("b", other, 0.8, document_id="d2"))
    assert kept == (["a"] if is_double else ["a", "b"])
    assert gone == ([("b", "duplicate")] if is_double else [])


def test_the_lower_score_goes_also_when_it_is_contained(result_of) -> None:
    part = " ".join(WORDS[3:9])
    assert left(without_near_duplicates, result_of("a", RULE, 0.9), result_of("b", part, 0.8))[0] == ["a"]


def test_a_long_text_does_not_swallow_a_short_one_that_it_only_resembles(result_of) -> None:
    short = " ".join(reversed(WORDS[:6]))
    long = " ".join([*WORDS, *(f"{w}а {w}у {w}ом" for w in WORDS)])
    assert left(without_near_duplicates, result_of("a", long, 0.9), result_of("b", short, 0.8))[0] == ["a", "b"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (f"{RULE} ставка 5%", f"{RULE} ставка 7%"),
        (f"{RULE} ставка 5,5%", f"{RULE} ставка 5%"),
        (f"{RULE} код KB-1234", f"{RULE} код KB-1235"),
        (f"{RULE} не возмещается", f"{RULE} возмещается"),
        (f"{RULE} возмещается", f"{RULE} не возмещается"),
        (f"{RULE} действует в Казани", f"{RULE} действует в Омске"),
        (f"Город | {' | '.join(WORDS)}\nКазань | да", f"Город | {' | '.join(WORDS)}\nОмск | да"),
        (f"| {' | '.join(WORDS)} | да |", f"| {' | '.join(WORDS)} | позже |"),
        ("报销标准适用于全体员工的差旅交通住宿费用不报销", "报销标准适用于全体员工的差旅交通住宿费用可报销"),
    ],
)
def test_a_differing_cell_number_code_name_or_negation_is_never_lost(result_of, first: str, second: str) -> None:
    items = [result_of("a", first, 0.9), result_of("b", second, 0.8, document_id="d2")]
    kept, _ = left(without_near_duplicates, *items)
    assert kept == ["a", "b"]


def test_ninety_two_percent_alike_rows_of_one_table_all_stay(result_of) -> None:
    rows = [f"Отдел: {n} | {' | '.join(f'{w}: {w}' for w in WORDS)} | Сумма: {n * 100}" for n in range(1, 9)]
    items = [result_of(f"r{n}", row, 0.9 - n / 100, chunk_index=n * 2) for n, row in enumerate(rows)]
    assert len(left(without_near_duplicates, *items)[0]) == 8


def test_an_image_hit_that_goes_leaves_its_mark(result_of) -> None:
    items = [
        result_of("c", "подпись", 0.9, chunk_type=ChunkType.IMAGE_CAPTION),
        result_of("v", "подпись", 0.8, chunk_type=ChunkType.IMAGE_VECTOR),
    ]
    for step in (without_duplicates, without_near_duplicates):
        state = step(Merging(pieces=tuple(Piece.of(r) for r in items)), Sources(query="q"))
        assert [(p.result.chunk_id, p.result.metadata) for p in state.pieces] == [("c", {"image_vector_match": "true"})]


def plain(results: list[SearchResult]) -> list[str]:
    texts, kept = Texts(), []
    for piece in sorted((Piece.of(r) for r in results), key=lambda p: order_key(p.result)):
        if not any(is_near_duplicate(piece, other, texts) for other in kept):
            kept.append(piece)
    return [p.result.chunk_id for p in kept]


@settings(max_examples=80)
@given(st.lists(st.lists(st.sampled_from("abcdefgh"), min_size=0, max_size=14), max_size=7))
def test_the_index_finds_what_comparing_every_pair_would(texts: list[list[str]]) -> None:
    results = [
        SearchResult(
            chunk_id=str(n), base_id="b", tenant_id="t", document_id=f"d{n}", content=" ".join(words), score=1 - n / 10
        )
        for n, words in enumerate(texts)
    ]
    assert left(without_near_duplicates, *results)[0] == plain(results)
