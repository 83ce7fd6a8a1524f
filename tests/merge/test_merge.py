"""The eight steps together: the handed case, what goes in and what comes out."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opora.domain.knowledge import ChunkType, Place
from opora.domain.search import MatchType, SearchResult
from opora.domain.settings import Effective, RetrievalSettings
from opora.merge.merge import STEPS, merge

CASE: Mapping[str, Any] = json.loads(
    (Path(__file__).parent.parent / "cases/files/json/merge-join-overlap.json").read_text(encoding="utf-8")
)


def test_the_steps_stand_in_the_described_order() -> None:
    assert [name for name, _ in STEPS] == [
        "deduplicate",
        "history",
        "parents",
        "join",
        "faq_answers",
        "neighbours",
        "final",
    ]


async def merged(read, *results, **more) -> list[SearchResult]:
    return list((await merge(list(results), [], query="вопрос", read=read, **more)).results)


async def test_a_long_overlap_is_joined_to_the_source(read, result_of, place_of) -> None:
    text = CASE["long_overlap"]["source"]
    a, b = text[0:1000], text[400:1400]
    for places in (True, False):
        first = result_of("a", a, 0.4, chunk_index=0, place=place_of(0, a) if places else Place())
        second = result_of("b", b, 0.6, chunk_index=1, place=place_of(400, b) if places else Place())
        (one,) = await merged(read, second, first)
        assert one.content == text[0:1400]
        assert (one.chunk_id, one.score, one.sub_chunk_ids) == ("b", 0.6, ("a",))
        if places:
            assert (one.place.start, one.place.end) == (0, 1400)


async def test_repeating_lines_at_known_places_all_stay(read, result_of, place_of) -> None:
    a, b = CASE["periodic"]["a"], CASE["periodic"]["b"]
    first = result_of("a", a, chunk_index=0, place=place_of(0, a))
    second = result_of("b", b, chunk_index=1, place=place_of(len(a), b))
    (one,) = await merged(read, first, second)
    assert one.content.splitlines() == ["| cell | cell |"] * 5


async def test_pieces_that_were_never_neighbours_stay_two(read, result_of) -> None:
    first = result_of("a", CASE["gap"]["a"], chunk_index=2)
    second = result_of("b", CASE["gap"]["b"], chunk_index=4)
    assert {r.content for r in await merged(read, first, second)} == {first.content, second.content}


async def test_a_repeated_table_head_stands_once(read, result_of) -> None:
    first = result_of("a", CASE["repeated_head"]["a"], chunk_index=0)
    second = result_of("b", CASE["repeated_head"]["b"], chunk_index=1)
    (one,) = await merged(read, first, second)
    assert one.content.split() == ["|", "h", "|", "|", "---", "|", "|", "1", "|", "|", "2", "|"]


async def test_an_edited_text_loses_nothing(read, result_of) -> None:
    first = result_of("a", CASE["edited"]["a"], chunk_index=5, place=Place(start=100, end=107))
    second = result_of("b", CASE["edited"]["b"], chunk_index=6, place=Place(start=105, end=115))
    (one,) = await merged(read, first, second)
    assert CASE["edited"]["a"] in one.content
    assert CASE["edited"]["b"] in one.content


async def test_a_short_hit_is_widened_by_its_own_document_only(read, result_of, chunk_of) -> None:
    case = CASE["expand"]
    read.add(chunk_of("p", case["prev"], document_id="other"), chunk_of("n", case["next"], pre_chunk_id="h"))
    hit = result_of("h", case["hit"], 0.7, chunk_index=1, pre_chunk_id="p", next_chunk_id="n")
    (one,) = await merged(read, hit)
    assert "П" not in one.content
    assert one.content.startswith(case["hit"])
    read.add(chunk_of("p", case["prev"]))
    (both,) = await merged(read, hit)
    assert case["hit"] in both.content
    assert both.content.startswith("П")
    assert both.content.endswith("С")
    assert 350 <= len(both.content) <= 850
    assert (both.chunk_id, both.score, both.place) == ("h", 0.7, hit.place)


async def test_a_first_hit_without_a_neighbour_before_it_takes_from_after(read, result_of, chunk_of) -> None:
    read.add(chunk_of("n", "С" * 2000))
    (one,) = await merged(read, result_of("h", "Ставка: 5%.", next_chunk_id="n", pre_chunk_id=""))
    assert one.content.startswith("Ставка: 5%.")
    assert 350 <= len(one.content) <= 850


async def test_the_ranking_is_the_input_and_an_empty_one_stays_empty(read, result_of) -> None:
    found = [result_of(str(n), f"разные слова номер{n}", n / 20, document_id=f"d{n}") for n in range(15)]
    fallback = await merge(
        None, found, query="q", read=read, settings=Effective(values=RetrievalSettings(rerank_top_k=3))
    )
    assert [r.chunk_id for r in fallback.results] == ["14", "13", "12"]
    assert {d.reason for d in fallback.drops} == {"over_top_k"}
    assert (await merge([], found, query="q", read=read)).results == ()
    assert [r.chunk_id for r in (await merge(found[:1], found, query="q", read=read)).results] == ["0"]


async def test_everything_is_read_in_one_batch_and_nothing_for_nothing(read, result_of, chunk_of) -> None:
    await merged(read, result_of("a", "х" * 400, pre_chunk_id="p", next_chunk_id="n"))
    assert read.batches == []
    read.add(chunk_of("par", "x", chunk_type=ChunkType.PARENT_TEXT))
    faq = result_of("f", chunk_type=ChunkType.FAQ, document_id="faq")
    await merged(read, result_of("a", pre_chunk_id="p", next_chunk_id="n", parent_chunk_id="par"), faq)
    assert read.batches == [{"p", "n", "par", "f"}]


async def test_results_come_in_a_total_order_with_their_ranks(read, result_of) -> None:
    items = [result_of(name, f"слово {name}", 0.5, document_id=f"d-{name}") for name in "cab"]
    for seed in range(5):
        found = await merged(read, *random.Random(seed).sample(items, 3))
        assert [(r.chunk_id, r.ranks["merged"]) for r in found] == [("a", 1), ("b", 2), ("c", 3)]


NAMES = ("альфа", "бета", "гамма", "дельта", "эпсилон", "дзета", "эта", "тета")
SENTENCES = [f"Предложение {name} говорит о своём." for name in NAMES]


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.sets(st.integers(0, 7), min_size=1), st.integers(0, 40), st.randoms(use_true_random=False))
async def test_merging_pieces_of_one_document_loses_no_text(result_of, chosen, overlap, rnd) -> None:
    text = " ".join(SENTENCES)
    pieces = []
    for index in sorted(chosen):
        start = text.index(SENTENCES[index])
        begin = max(0, start - overlap)
        content = text[begin : start + len(SENTENCES[index])]
        place = Place(start=begin, end=begin + len(content))
        score = rnd.random()
        pieces.append(result_of(f"c{index}", content, score, chunk_index=index, place=place))
    rnd.shuffle(pieces)

    async def nothing(ids):
        return {}

    stage = await merge(pieces, [], query="вопрос", read=nothing)
    whole = "\n".join(r.content for r in stage.results)
    assert all(SENTENCES[index] in whole for index in chosen)
    covered = {i for r in stage.results for i in (r.chunk_id, *r.sub_chunk_ids)} | {d.chunk_id for d in stage.drops}
    assert covered == {f"c{index}" for index in chosen}
    for result in stage.results:
        shown = text[result.place.start : result.place.end]
        assert (len(shown), shown.split()) == (len(result.content), result.content.split())


async def test_every_piece_that_goes_is_named(read, result_of) -> None:
    items = [
        result_of("a", "один текст", 0.9),
        result_of("b", "Один  ТЕКСТ", 0.8, document_id="other"),
        result_of("c", "за ним другой", 0.7, chunk_index=1),
    ]
    stage = await merge(items, [], query="q", read=read)
    assert [(r.chunk_id, r.sub_chunk_ids) for r in stage.results] == [("a", ("c",))]
    assert sorted((d.chunk_id, d.reason) for d in stage.drops) == [("b", "duplicate"), ("c", "merged")]


async def test_faq_entries_in_a_row_are_not_one_text(read, result_of) -> None:
    items = [
        result_of(f"q{n}", f"Вопрос {n}", chunk_index=n, chunk_type=ChunkType.FAQ, match_type=MatchType.VECTOR)
        for n in range(3)
    ]
    assert len(await merged(read, *items)) == 3


@pytest.mark.parametrize("heading_in_text", [True, False])
async def test_a_heading_that_nothing_shows_is_put_between(read, result_of, heading_in_text: bool) -> None:
    second = "Казань\nСтавка 7%" if heading_in_text else "Ставка 7%"
    items = [
        result_of("a", "Ставка 5%", 0.9, chunk_index=0, context="Ставки > Омск"),
        result_of("b", second, 0.8, chunk_index=1, context="Ставки > Казань"),
    ]
    (one,) = await merged(read, *items)
    assert one.content.index("5%") < one.content.index("Казань") < one.content.index("7%")
    assert one.context == "Ставки > Омск"
