"""What the event pipeline itself costs: ``python -m benchmarks.pipeline_speed``.

Three ways over the nine events of a question: plugins that do nothing, run by manager and orchestrator; the same nine
as plain function calls; and the real plugins over 50 results in memory, without storage and without a model.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, ClassVar

from benchmarks.made_up import Prose
from benchmarks.measuring import p50, p95, run_as_served, table
from opora.chat.orchestrator import Orchestrator
from opora.domain.question import Draft, Question
from opora.domain.scope import LOCAL_PRINCIPAL, BaseRef, Scope
from opora.domain.search import ScoreKind, SearchRequest, SearchResult
from opora.domain.settings import Effective
from opora.domain.stream import StreamEvent
from opora.domain.trace import Stage
from opora.models.extractive import SentenceQuoter
from opora.pipeline.builder import PRESETS
from opora.pipeline.events import EventType
from opora.pipeline.fallback import Fallback
from opora.pipeline.manager import EventManager
from opora.pipeline.plugin import Next, Plugin
from opora.pipeline.run import Run
from opora.pipeline.services import Services
from opora.pipeline.table import make_plugins

EVENTS = PRESETS["rag_stream"]
RESULTS = 50
ROUNDS = 2000
REAL_ROUNDS = 200
BASE = "base"
SCOPE = Scope(principal=LOCAL_PRINCIPAL, bases=(BaseRef(base_id=BASE, tenant_id=LOCAL_PRINCIPAL.tenant_id),))


class NullPlugin:
    """Hands the draft on."""

    name: ClassVar[str] = "null"
    events: ClassVar[frozenset[EventType]] = frozenset(EVENTS)

    async def on_event(self, event: EventType, draft: Draft, run: Run, call_next: Next) -> Draft:
        return await call_next(draft)


class NoStorage:
    """A database that holds nothing and takes no time."""

    messages: Any
    chunks: Any
    citations: Any

    def __init__(self) -> None:
        self.messages = self.chunks = self.citations = self

    @asynccontextmanager
    async def read(self) -> AsyncIterator[NoStorage]:
        yield self

    async def recent(self, scope: Scope, session_id: str, **limits: Any) -> list[Any]:
        return []

    async def uses(self, scope: Scope, document_ids: Collection[str]) -> dict[str, Any]:
        return {}

    async def get_many(self, scope: Scope, chunk_ids: Collection[str]) -> dict[str, Any]:
        return {}


class Prepared:
    """A search that has found everything already."""

    def __init__(self, results: tuple[SearchResult, ...]) -> None:
        self._stage = Stage(results=results)

    async def search(self, scope: Scope, request: SearchRequest, *, settings: Effective | None = None) -> Stage:
        return self._stage


def question_of(text: str) -> Question:
    return Question(
        text=text,
        scope=SCOPE,
        session_id="session",
        request_id="request",
        user_message_id="user",
        assistant_message_id="assistant",
        asked_at=datetime(2026, 1, 1, tzinfo=UTC),
        language="ru",
    )


def results_and_question(count: int) -> tuple[tuple[SearchResult, ...], str]:
    """Passages of about 500 characters, and a question that the first one answers."""
    prose = Prose(random.Random(7))
    passages = [" ".join(sentence for part in prose.paragraphs(2) for sentence in part)[:500] for _ in range(count)]
    results = tuple(
        SearchResult(
            chunk_id=f"chunk-{rank}",
            base_id=BASE,
            tenant_id=LOCAL_PRINCIPAL.tenant_id,
            document_id=f"document-{rank // 5}",
            content=text,
            title=f"Title {rank // 5}",
            chunk_index=rank,
            score=1 / (rank + 1),
            kind=ScoreKind.RRF,
            scores={"fused": 1 / (rank + 1), "vector": 0.9 - rank / 200},
            ranks={"fused": rank + 1, "vector": rank + 1},
        )
        for rank, text in enumerate(passages)
    )
    return results, prose.question(passages[0].split(".")[0])


async def _last(draft: Draft) -> Draft:
    return draft


def in_order(plugins: Sequence[Plugin]) -> list[tuple[EventType, Plugin]]:
    """Events and plugins in the order in which a question meets them."""
    return [(event, plugin) for event in EVENTS for plugin in plugins if event in plugin.events]


async def in_a_row(plugins: Sequence[tuple[EventType, Plugin]], question: Question) -> Draft:
    """The plugins as plain calls: what they cost without manager and orchestrator."""
    draft, run = Draft(question=question), Run()
    for event, plugin in plugins:
        draft = await plugin.on_event(event, draft, run, _last)
    return draft


async def _nowhere(event: StreamEvent) -> None:
    return None


async def measured(rounds: int, *calls: Callable[[], Awaitable[object]]) -> list[list[float]]:
    """Milliseconds of each call, taken in turns, so that what else the machine does falls on all alike."""
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds):
        for call, taken in zip(calls, times, strict=True):
            begun = time.perf_counter()
            await call()
            taken.append((time.perf_counter() - begun) * 1000)
    return [taken[len(taken) // 10 :] for taken in times]


def services_of(results: tuple[SearchResult, ...]) -> Services:
    storage: Any = NoStorage()
    return Services(database=storage, search=Prepared(results), quoter=SentenceQuoter(None))


async def measure(*, rounds: int, real_rounds: int) -> dict[str, dict[str, float]]:
    question = question_of("что где когда")
    nulls: list[Plugin] = [NullPlugin()]
    results, text = results_and_question(RESULTS)
    services = services_of(results)
    fallback = Fallback(services)
    called = in_order(nulls)
    idle = Orchestrator(EventManager(nulls), fallback=fallback)
    pipeline, plain = await measured(
        rounds, lambda: idle.answer(question, Run(emit=_nowhere)), lambda: in_a_row(called, question)
    )

    asked = question_of(text)
    real = make_plugins(services)
    order = in_order(real)
    whole = Orchestrator(EventManager(real), fallback=fallback)
    times: dict[str, list[float]] = defaultdict(list)

    async def answer() -> None:
        run = Run(emit=_nowhere)
        draft = await whole.answer(asked, run)
        if not draft.quotes:
            raise RuntimeError("the question found no answer, so the figures would mean nothing")
        for event, taken in run.times:
            times[event].append(taken)

    orchestrated, in_row = await measured(real_rounds, answer, lambda: in_a_row(order, asked))
    return {
        "null plugins": _figures(pipeline, plain),
        "real plugins, 50 results": _figures(orchestrated, in_row)
        | {f"{event}_ms": p50(taken) for event, taken in times.items()},
    }


def _figures(pipeline: list[float], plain: list[float]) -> dict[str, float]:
    return {
        "p50_ms": p50(pipeline),
        "p95_ms": p95(pipeline),
        "plain_calls_p50_ms": p50(plain),
        "own_addition_ms": p50(pipeline) - p50(plain),
        "ratio_to_plain_calls": p50(pipeline) / p50(plain),
    }


def run(*, rounds: int = ROUNDS, real_rounds: int = REAL_ROUNDS) -> dict[str, dict[str, float]]:
    """Figures by kind of plugins; milliseconds."""
    return run_as_served(measure(rounds=rounds, real_rounds=real_rounds))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--real-rounds", type=int, default=REAL_ROUNDS)
    arguments = parser.parse_args()
    print(table(run(rounds=arguments.rounds, real_rounds=arguments.real_rounds)))


if __name__ == "__main__":
    main()
