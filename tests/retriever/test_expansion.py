"""Chains of neighbours: what they may hold, where they end, and laws that hold for any document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opora.domain.context import NEIGHBOUR, ContextResult
from opora.domain.search import ScoreKind
from opora.ports import Vectors
from opora.retriever.expansion import MAX_LINKS, MIN_SIMILARITY, cosine, expanded

from .conftest import piece, unit


def row_of(count: int, document: str = "d") -> list[ContextResult]:
    """The pieces of one document, linked."""
    ids = [f"{document}{number}" for number in range(count)]
    return [
        piece(
            one,
            number,
            document=document,
            before=ids[number - 1] if number else "",
            after=ids[number + 1] if number + 1 < count else "",
        )
        for number, one in enumerate(ids)
    ]


def turned(*degrees: float) -> dict[str, Vectors]:
    """Vectors of a plane by their angle, for pieces d0, d1 and so on."""
    return {f"d{n}": unit(np.cos(np.radians(one)), np.sin(np.radians(one))) for n, one in enumerate(degrees)}


def grow(
    pieces: Sequence[ContextResult], vectors: Mapping[str, Vectors], *found: int
) -> list[tuple[str, str, str, float]]:
    by_id = {one.chunk_id: one for one in pieces}
    results = expanded([pieces[at] for at in found], by_id, vectors)
    return [(one.chunk_id, one.neighbour_of, one.linked_to, round(one.score, 3)) for one in results]


def test_the_closer_side_is_taken_first_and_three_links_are_the_most() -> None:
    assert grow(row_of(5), turned(0, 10, 20, 25, 30), 2) == [
        ("d2", "", "", 0.9),
        ("d3", "d2", "d2", 0.996),
        ("d4", "d2", "d3", 0.996),
    ]
    assert grow(row_of(5), turned(0, 40, 60, 70, 120), 2)[1:] == [
        ("d3", "d2", "d2", 0.985),
        ("d1", "d2", "d2", 0.94),
    ]


def test_a_link_is_close_to_the_one_before_it_and_not_to_the_found_one() -> None:
    """d2 is at a right angle to d0, yet close to d1, through which the chain goes."""
    assert grow(row_of(3), turned(0, 45, 90), 0) == [
        ("d0", "", "", 0.9),
        ("d1", "d0", "d0", 0.707),
        ("d2", "d0", "d1", 0.707),
    ]


@pytest.mark.parametrize(("angle", "is_added"), [(53.1, True), (53.2, False)])
def test_six_tenths_is_enough_and_less_is_not(angle: float, is_added: bool) -> None:
    assert MIN_SIMILARITY == 0.6
    assert (len(grow(row_of(2), turned(0, angle), 0)) == 2) is is_added


def test_equal_sides_grow_forward_first() -> None:
    assert [one[0] for one in grow(row_of(3), turned(10, 20, 30), 1)] == ["d1", "d2", "d0"]


def test_what_was_found_itself_ends_a_chain_at_that_side_and_is_told_once() -> None:
    assert grow(row_of(6), turned(0, 5, 10, 15, 20, 25), 2, 3) == [
        ("d2", "", "", 0.9),
        ("d1", "d2", "d2", 0.996),
        ("d0", "d2", "d1", 0.996),
        ("d3", "", "", 0.9),
        ("d4", "d3", "d3", 0.996),
        ("d5", "d3", "d4", 0.996),
    ]


def test_what_was_added_for_a_better_piece_is_not_told_again() -> None:
    told = grow(row_of(4), turned(0, 5, 10, 15), 0, 2)
    assert [(one[0], one[1]) for one in told] == [("d0", ""), ("d1", "d0"), ("d2", ""), ("d3", "d2")]


@pytest.mark.parametrize(
    "broken",
    [
        {"document_id": "other"},
        {"base_id": "other"},
        {"chunk_index": 7},
    ],
)
def test_only_the_next_number_of_the_same_document_is_a_neighbour(broken: dict[str, object]) -> None:
    pieces = row_of(2)
    pieces[1] = replace(pieces[1], **broken)
    assert [one[0] for one in grow(pieces, turned(0, 0), 0)] == ["d0"]


def test_a_piece_without_a_vector_or_of_another_model_ends_the_chain() -> None:
    vectors = turned(0, 0, 0)
    del vectors["d1"]
    assert [one[0] for one in grow(row_of(3), vectors, 0)] == ["d0"]
    assert cosine(unit(1, 0), unit(1, 0, 0)) is None
    assert cosine(unit(1, 0), np.zeros(2, np.float32)) is None


def test_a_neighbours_score_says_what_it_is() -> None:
    pieces = row_of(2)
    found, neighbour = expanded(pieces[:1], {one.chunk_id: one for one in pieces}, turned(0, 20))
    assert (found.kind, found.neighbour_of) == (ScoreKind.COSINE, "")
    assert (neighbour.kind, neighbour.neighbour_of, neighbour.linked_to) == (ScoreKind.NEIGHBOUR, "d0", "d0")
    assert neighbour.scores == {NEIGHBOUR: neighbour.score}
    assert neighbour.ranks == {}


@st.composite
def shelves(draw: st.DrawFn) -> tuple[list[ContextResult], list[ContextResult], dict[str, Vectors]]:
    """Documents, what of them was found in which order, and vectors for most of the pieces."""
    pieces = [one for name in "ab" for one in row_of(draw(st.integers(1, 8)), name)]
    angles = draw(st.lists(st.integers(0, 180), min_size=len(pieces), max_size=len(pieces)))
    vectors = {
        one.chunk_id: unit(np.cos(np.radians(angle)), np.sin(np.radians(angle)))
        for one, angle in zip(pieces, angles, strict=True)
        if angle != 90
    }
    found = draw(st.lists(st.sampled_from(pieces), unique_by=lambda one: one.chunk_id, max_size=6))
    return pieces, found, vectors


@given(shelves())
def test_laws_of_chains(shelf: tuple[list[ContextResult], list[ContextResult], dict[str, Vectors]]) -> None:
    pieces, found, vectors = shelf
    by_id = {one.chunk_id: one for one in pieces}
    results = expanded(found, by_id, vectors)
    ids = [one.chunk_id for one in results]
    assert len(ids) == len(set(ids))
    assert [one for one in results if not one.neighbour_of] == found
    numbers: dict[str, list[int]] = {}
    for one in results:
        if not one.neighbour_of:
            continue
        link, start = by_id[one.linked_to], by_id[one.neighbour_of]
        assert (link.document_id, start.document_id) == (one.document_id, one.document_id)
        assert abs(link.chunk_index - one.chunk_index) == 1
        assert abs(start.chunk_index - one.chunk_index) < MAX_LINKS
        assert one.score >= MIN_SIMILARITY
        assert one.score == cosine(vectors[one.linked_to], vectors[one.chunk_id])
        numbers.setdefault(one.neighbour_of, []).append(one.chunk_index)
        assert ids.index(one.neighbour_of) < ids.index(one.chunk_id)
    assert all(len(of_one) < MAX_LINKS for of_one in numbers.values())


@given(shelves(), st.randoms())
def test_the_order_of_reading_changes_nothing(
    shelf: tuple[list[ContextResult], list[ContextResult], dict[str, Vectors]], random: Random
) -> None:
    pieces, found, vectors = shelf
    shuffled = list(pieces)
    random.shuffle(shuffled)
    one, other = ({piece.chunk_id: piece for piece in some} for some in (pieces, shuffled))
    assert expanded(found, one, vectors) == expanded(found, other, vectors)
