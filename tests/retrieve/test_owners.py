"""Rows that are forms become hits of their owners before ranks are made."""

from opora.domain.forms import form_id
from opora.domain.search import EngineHit, ScoreKind
from opora.retrieve.owners import owned, to_owners


def hit(chunk_id: str, score: float) -> EngineHit:
    return EngineHit(chunk_id=chunk_id, base_id="kb", document_id="d", score=score, kind=ScoreKind.COSINE)


A, B = form_id("one", "a"), form_id("one", "b")


def test_each_owner_stands_once_at_its_best_row() -> None:
    found = owned([hit(A, 0.9), hit("two", 0.8), hit(B, 0.7), hit("one", 0.6), hit("three", 0.5)], ())
    assert [(one.chunk_id, one.score) for one in found] == [("one", 0.9), ("two", 0.8), ("three", 0.5)]


async def test_a_form_that_was_taken_back_leads_nowhere() -> None:
    asked: list[set[str]] = []

    async def living(ids: object) -> set[str]:
        asked.append(set(ids))  # type: ignore[call-overload]
        return {B}

    found = await to_owners([hit(A, 0.9), hit("two", 0.8), hit(B, 0.7)], living)
    assert [(one.chunk_id, one.score) for one in found] == [("two", 0.8), ("one", 0.7)]
    assert asked == [{A, B}]


async def test_rows_without_forms_ask_nobody() -> None:
    async def living(ids: object) -> set[str]:
        raise AssertionError

    hits = [hit("one", 0.9), hit("two", 0.8)]
    assert await to_owners(hits, living) is hits
