"""The chain of ``chunk_rerank`` over a real database: what is applied first, what last, and on which bases."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

import pytest

from opora.domain.errors import Unavailable
from opora.domain.knowledge import BaseType, ChunkType, Document, IndexingStrategy, KnowledgeBase
from opora.domain.question import Draft
from opora.domain.scope import BaseRef, Principal
from opora.domain.search import MatchType, ScoreKind, SearchRequest, SearchResult
from opora.domain.trace import Stage
from opora.pipeline.events import EventType
from opora.pipeline.manager import EventManager
from opora.pipeline.plugin import Next
from opora.pipeline.run import Run
from opora.pipeline.services import Services
from opora.pipeline.table import make_plugins
from opora.ports import Repositories, RerankerCard
from opora.store.database import SqlDatabase

NOW = datetime(2026, 1, 2, tzinfo=UTC)
E = EventType.CHUNK_RERANK
GRAPH = MatchType.GRAPH


class Elsewhere:
    """Search and quotes are no part of this event."""

    async def search(self, *_: Any, **__: Any) -> Stage:
        raise AssertionError(SearchRequest)

    async def quotes(self, *_: Any) -> list[Any]:
        raise AssertionError


class Judge:
    card = RerankerCard(identity="judge")

    def __init__(self, score: float) -> None:
        self._score = score

    async def rerank(self, query: str, passages: Sequence[str]) -> list[float]:
        return [self._score for _ in passages]

    async def close(self) -> None: ...


class Seen:
    """Notes what is ranked when the way back passes its place in the chain."""

    name = "seen"
    events: ClassVar = frozenset({E})

    def __init__(self) -> None:
        self.scores: dict[str, float] = {}

    async def on_event(self, event: EventType, draft: Draft, run: Run, call_next: Next) -> Draft:
        draft = await call_next(draft)
        self.scores = scores_of(draft)
        return draft


def scores_of(draft: Draft) -> dict[str, float]:
    return {result.chunk_id: round(result.score, 6) for result in draft.ranked or ()}


def result(chunk_id: str, score: float, document_id: str = "d-plain", **values: Any) -> SearchResult:
    given = {
        "base_id": "kb-1",
        "tenant_id": "default",
        "content": f"{chunk_id} in its own words",
        "kind": ScoreKind.RRF,
    }
    return SearchResult(chunk_id=chunk_id, document_id=document_id, score=score, **(given | values))


def page(chunk_id: str, score: float, document_id: str = "d-page") -> SearchResult:
    return result(chunk_id, score, document_id, chunk_type=ChunkType.WIKI_PAGE)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[SqlDatabase]:
    database = await SqlDatabase(f"sqlite+aiosqlite:///{tmp_path}/opora.db").open()
    yield database
    await database.close()


@pytest.fixture
def stored(database: SqlDatabase, draft: Draft) -> Callable[..., Any]:
    """Store a base and how often the caller cited each of its documents."""

    async def store(cited: dict[str, int] | None = None, **base: Any) -> None:
        dates = {"created_at": NOW, "updated_at": NOW}
        scope = draft.question.scope
        async with database.begin() as repositories:
            await repositories.bases.add(
                KnowledgeBase(**({"base_id": "kb-1", "tenant_id": "default", "name": "kb"} | dates | base))
            )
            for document_id, times in (cited or {}).items():
                document = Document(
                    document_id=document_id,
                    base_id="kb-1",
                    tenant_id="default",
                    title="",
                    file_name="a.txt",
                    file_type="txt",
                    file_size=1,
                    file_hash=document_id,
                    **dates,
                )
                await repositories.documents.add(scope, document)
                for _ in range(times):
                    await repositories.citations.add(scope, [document_id])

    return store


def manager_over(database: Any, reranker: Judge | None = None) -> EventManager:
    elsewhere = Elsewhere()
    services = Services(database=database, search=elsewhere, quoter=elsewhere, reranker=reranker)
    return EventManager(make_plugins(services))


async def ranked(manager: EventManager, draft: Draft, *found: SearchResult) -> Draft:
    return await manager.trigger(E, replace(draft, found=found), Run())


def test_the_chain_is_the_described_one(database: SqlDatabase) -> None:
    chain = manager_over(database).chain(E)
    assert [plugin.name for plugin in chain] == ["rerank", "wiki_boost", "memory_affinity"]


async def test_ranked_first_then_affinity_then_the_wiki(
    database: SqlDatabase, stored: Callable[..., Any], draft: Draft
) -> None:
    await stored({"d-page": 2, "d-cited": 4}, base_type=BaseType.WIKI)
    manager = manager_over(database, Judge(0.5))
    between, innermost = Seen(), Seen()
    manager.register(between, after="wiki_boost")
    manager.register(innermost, after="memory_affinity")
    done = await ranked(manager, draft, result("a", 0.9), result("b", 0.8, "d-cited"), page("w", 0.6))
    composed = {"a": 0.67, "b": 0.64, "w": 0.58}
    assert innermost.scores == composed
    assert between.scores == {"b": round(0.64 * 1.1, 6), "a": 0.67, "w": round(0.58 * 1.05, 6)}
    assert list(between.scores) == ["b", "a", "w"]
    assert scores_of(done) == {"w": round(0.58 * 1.05 * 1.3, 6), "b": round(0.64 * 1.1, 6), "a": 0.67}
    assert [r.chunk_id for r in done.ranked or ()] == ["w", "b", "a"]
    assert [r.ranks["ranked"] for r in done.ranked or ()] == [1, 2, 3]


@pytest.mark.parametrize(
    ("base", "raised"),
    [
        ({}, False),
        ({"base_type": BaseType.WIKI}, True),
        ({"indexing": IndexingStrategy(wiki=True)}, True),
        ({"base_id": "kb-elsewhere", "base_type": BaseType.WIKI}, False),
        ({"tenant_id": "other", "base_type": BaseType.WIKI}, False),
    ],
)
async def test_wiki_pages_are_raised_where_a_searched_base_keeps_a_wiki(
    database: SqlDatabase, stored: Callable[..., Any], draft: Draft, base: dict[str, Any], raised: bool
) -> None:
    await stored(**base)
    done = await ranked(manager_over(database), draft, result("a", 0.6), page("w", 0.5))
    assert scores_of(done) == ({"w": 0.65, "a": 0.6} if raised else {"a": 0.6, "w": 0.5})


async def test_a_wiki_that_another_tenant_shares_counts(
    database: SqlDatabase, stored: Callable[..., Any], draft: Draft
) -> None:
    await stored(tenant_id="other", base_type=BaseType.WIKI)
    question = draft.question
    shared = replace(question.scope, bases=(BaseRef(base_id="kb-1", tenant_id="other"),))
    done = await ranked(
        manager_over(database), replace(draft, question=replace(question, scope=shared)), page("w", 0.5)
    )
    assert scores_of(done) == {"w": 0.65}


async def test_only_the_callers_own_use_counts_and_from_the_second_time(
    database: SqlDatabase, stored: Callable[..., Any], draft: Draft
) -> None:
    await stored({"d-once": 1, "d-twice": 2})
    found = (result("a", 0.5, "d-once"), result("b", 0.49, "d-twice"))
    manager = manager_over(database)
    assert list(scores_of(await ranked(manager, draft, *found))) == ["b", "a"]
    somebody = Principal(tenant_id="default", user_id="somebody else")
    question = draft.question
    theirs = replace(draft, question=replace(question, scope=replace(question.scope, principal=somebody)))
    assert list(scores_of(await ranked(manager, theirs, *found))) == ["a", "b"]


async def test_counts_that_cannot_be_read_are_a_warning(database: SqlDatabase, draft: Draft) -> None:
    class Down:
        def read(self) -> AbstractAsyncContextManager[Repositories]:
            raise Unavailable("The database failed.")

    done = await ranked(manager_over(Down()), draft, result("a", 0.5))
    assert scores_of(done) == {"a": 0.5}
    assert done.warnings == ("Earlier use of the documents was not considered: The database failed.",)


async def test_nothing_good_enough_stays_nothing(
    database: SqlDatabase, stored: Callable[..., Any], draft: Draft
) -> None:
    await stored(base_type=BaseType.WIKI)
    done = await ranked(manager_over(database, Judge(0.01)), draft, page("w", 0.5))
    assert done.ranked == ()
    assert done.nothing_found


async def test_nothing_to_rank_is_no_ranking(database: SqlDatabase, draft: Draft) -> None:
    done = await ranked(manager_over(database), draft)
    assert done.ranked is None
    assert not done.nothing_found


async def test_diagnostics_and_warnings_of_ranking_stand_in_the_draft(
    database: SqlDatabase, stored: Callable[..., Any], draft: Draft
) -> None:
    await stored()
    image = result("p", 0.5, chunk_type=ChunkType.IMAGE_VECTOR, scores={"vector": 0.6})
    done = await ranked(manager_over(database, Judge(0.01)), draft, image)
    assert done.diagnostics == {"images_scored": 1, "images_kept": 1}
    assert [r.metadata["kept_by"] for r in done.ranked or ()] == ["image_vector"]
