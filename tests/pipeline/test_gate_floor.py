"""The gate judges cosines by the floor of the model that made them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from opora.domain.question import Draft, Question
from opora.domain.scope import LOCAL_PRINCIPAL, BaseRef, Scope
from opora.domain.search import SearchRequest, SearchResult
from opora.domain.settings import Effective
from opora.domain.trace import Stage
from opora.models.extractive import SentenceQuoter
from opora.pipeline.events import EventType
from opora.pipeline.manager import EventManager
from opora.pipeline.plugins.search_parallel import SearchParallel
from opora.pipeline.run import Run
from opora.pipeline.services import Services
from opora.retrieve.gate import OperatingPoint


class Found:
    """One passage that holds the question's words, with a cosine far below the floor of the installation's model."""

    def __init__(self, model_floor: float | None) -> None:
        self._floor = model_floor

    async def search(self, scope: Scope, request: SearchRequest, *, settings: Effective | None = None) -> Stage:
        passage = SearchResult(
            chunk_id="a",
            base_id="b",
            tenant_id="default",
            document_id="d",
            content="Расходы на проезд возмещают после возвращения.",
            score=0.5,
            scores={"vector": 0.4},
        )
        return Stage(results=(passage,), model_floor=self._floor)


@pytest.mark.parametrize(("floor", "nothing"), [(None, True), (0.78, True), (0.0, False), (0.3, False)])
async def test_a_cosine_is_judged_by_the_floor_of_its_own_model(floor: float | None, nothing: bool) -> None:
    database: Any = None
    gate = OperatingPoint(model_floor=0.78)
    services = Services(database=database, search=Found(floor), quoter=SentenceQuoter(None), gate=gate)
    question = Question(
        text="Расходы на проезд возмещают?",
        scope=Scope(principal=LOCAL_PRINCIPAL, bases=(BaseRef(base_id="b", tenant_id="default"),)),
        session_id="s",
        request_id="r",
        user_message_id="u",
        assistant_message_id="a",
        asked_at=datetime(2026, 1, 2, tzinfo=UTC),
    )
    manager = EventManager([SearchParallel(services)])
    draft = await manager.trigger(EventType.CHUNK_SEARCH_PARALLEL, Draft(question=question), Run())
    assert draft.nothing_found is nothing
