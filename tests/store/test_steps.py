"""Steps of processing: the last attempts of a document, and no more rows than are kept."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from opora.domain.knowledge import Document, KnowledgeBase
from opora.domain.scope import Scope
from opora.domain.steps import KEPT_ATTEMPTS, KEPT_STEPS, Step, StepName
from opora.store.database import SqlDatabase

from .conftest import NOW


def step(number: int, name: StepName = StepName.EMBED) -> Step:
    return Step(
        step_id=f"s-{number:05}",
        document_id="d-1",
        name=name,
        started_at=NOW + timedelta(seconds=number),
        microseconds=number,
        counts={"chunks": number},
        error="" if number % 2 else "Kaputt.",
    )


async def test_steps_come_back_by_attempt_and_the_old_ones_go(
    database: SqlDatabase,
    scope_of: Callable[..., Scope],
    base_of: Callable[..., KnowledgeBase],
    document_of: Callable[..., Document],
) -> None:
    scope = scope_of("kb-1")
    async with database.begin() as stored:
        await stored.bases.add(base_of())
        await stored.documents.add(scope, document_of())
        await stored.steps.add(scope, "absent", [step(0)], is_attempt=True)
        await stored.steps.add(scope_of("kb-1", tenant_id="other"), "d-1", [step(0)], is_attempt=True)
        for number in range(1, KEPT_ATTEMPTS + 3):
            await stored.steps.add(scope, "d-1", [step(2 * number, StepName.READ)], is_attempt=True)
            await stored.steps.add(scope, "d-1", [step(2 * number + 1)], is_attempt=False)
        found = await stored.steps.of_document(scope, "d-1")
        assert await stored.steps.of_document(scope_of("kb-1", tenant_id="other"), "d-1") == []
    assert [one.attempt for one in found] == [number for number in range(3, 8) for _ in range(2)]
    assert (found[0].counts, found[0].error, found[1].error) == ({"chunks": 6}, "Kaputt.", "")
    async with database.begin() as stored:
        many = [step(1_000 + number) for number in range(KEPT_STEPS)]
        await stored.steps.add(scope, "d-1", many, is_attempt=False)
        found = await stored.steps.of_document(scope, "d-1")
        assert [one.step_id for one in found] == [one.step_id for one in many]
        await stored.documents.delete(scope, "d-1")
        assert await stored.steps.of_document(scope, "d-1") == []
