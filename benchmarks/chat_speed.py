"""How long a whole question takes, from asking to the terminal event: ``python -m benchmarks.chat_speed``.

A real installation on SQLite files with about 1,000 chunks, an embedder without a model and answers made of quotes,
followed as a client follows it. The query's embedding is taken off. ``--profile`` says where the time goes.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import random
import re
import tempfile
import time
import zlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

from benchmarks.made_up import DIMENSION, Prose, units
from benchmarks.measuring import p50, p95, run_as_served, table
from opora.bootstrap import App, Models
from opora.domain.scope import LOCAL_PRINCIPAL, Scope
from opora.domain.search import SearchRequest
from opora.domain.stream import TERMINAL
from opora.ports import EmbedderCard, Vectors
from opora.settings import Settings

CHUNKS = 1_000
DOCUMENTS = 20
PARAGRAPHS_A_CHUNK = 0.77
"""Of this prose; only the size of the base hangs on it, and that is reported."""
QUESTIONS = 60
ROUNDS = 6
"""Questions in one session: the last one has the five rounds before that are read by default."""


class TimedEmbedder:
    """Vectors of the words that a text holds, so that a question is near its passage, and how long the query took.

    No model is run, and as the card has no floor the quotes are chosen by words alone.
    """

    card = EmbedderCard(identity="words-384", dimension=DIMENSION, max_tokens=1_000_000, vector_threshold=0.0)

    def __init__(self) -> None:
        self.taken = 0.0

    async def embed_query(self, text: str) -> Vectors:
        begun = time.perf_counter()
        vector = _vector(text)
        self.taken = (time.perf_counter() - begun) * 1000
        return vector

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return np.stack([_vector(text) for text in texts])

    async def close(self) -> None: ...


@cache
def _of_word(word: str) -> Vectors:
    vector: Vectors = units(np.random.default_rng(zlib.crc32(word.encode())), 1)[0]
    return vector


def _vector(text: str) -> Vectors:
    total = np.sum([_of_word(word) for word in re.findall(r"\w+", text.lower())] or [_of_word("")], axis=0)
    unit: Vectors = total / np.linalg.norm(total)
    return unit


@dataclass(slots=True)
class Times:
    """Milliseconds of each question, and of each event by name."""

    whole: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    """Of all threads together: what else the machine does hardly changes it."""
    events: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    unanswered: int = 0


@dataclass(slots=True)
class House:
    """An installation with documents in it, and questions that they answer."""

    app: App
    embedder: TimedEmbedder
    scope: Scope
    chunks: int
    prose: Prose
    sentences: list[str]

    async def session(self) -> str:
        return (await self.app.sessions.create(await self.app.access.tenant(LOCAL_PRINCIPAL))).session_id

    async def ask(self, session_id: str, text: str, times: Times) -> None:
        """One question to its end. What got no quotes, which is less work, does not count."""
        chat = self.app.chat
        begun, worked = time.perf_counter(), time.process_time()
        asked = await chat.ask(self.scope, session_id, text)
        async for _, event in chat.follow(self.scope, session_id, asked.assistant_message_id):
            last = event
        whole, processor = time.perf_counter() - begun, time.process_time() - worked
        if last.response_type is not TERMINAL or last.data["finish"] != "complete":
            times.unanswered += 1
            return
        times.processor.append(processor * 1000 - self.embedder.taken)
        times.whole.append(whole * 1000 - self.embedder.taken)
        message = await self.app.sessions.message(self.scope, asked.assistant_message_id)
        for entry in message.trace["times"]:
            times.events[entry["event"]].append(entry["ms"])


async def build(folder: Path, chunks: int) -> tuple[App, House]:
    """Open an installation and take the made-up documents in, the way a user's are."""
    embedder = TimedEmbedder()
    app = await App.open(Settings(data=folder), models=Models(embedder=embedder, chat=None))
    prose = Prose(random.Random(7))
    base = await app.bases.create(await app.access.tenant(LOCAL_PRINCIPAL), name="Made up")
    scope = await app.access.bases(LOCAL_PRINCIPAL, [base.base_id])
    ids, sentences = [], []
    for number in range(DOCUMENTS):
        paragraphs = prose.paragraphs(int(chunks / DOCUMENTS * PARAGRAPHS_A_CHUNK))
        sentences += [sentence for part in paragraphs for sentence in part]
        content = "\n\n".join(" ".join(part) for part in paragraphs)
        document = await app.documents.add_text(scope, base.base_id, title=f"Made up {number}", content=content)
        ids.append(document.document_id)
    ready = await app.documents.wait(scope, ids, timeout=300)
    counted = sum(document.chunk_count for document in ready)
    return app, House(app, embedder, scope, counted, prose, sentences)


async def measure(*, chunks: int, questions: int, profile: bool) -> dict[str, dict[str, float]]:
    with tempfile.TemporaryDirectory(prefix="opora-bench-") as folder:
        app, house = await build(Path(folder) / "data", chunks)
        try:
            return await _ask_all(house, questions, profile)
        finally:
            await app.close()


async def _ask_all(house: House, questions: int, profile: bool) -> dict[str, dict[str, float]]:
    chance = random.Random(11)
    asked = [house.prose.question(sentence) for sentence in chance.sample(house.sentences, questions + 5)]
    for text in asked[:5]:
        await house.ask(await house.session(), text, Times())
    first, later, searches = Times(), Times(), []
    profiler = cProfile.Profile(time.thread_time)
    for place, text in enumerate(asked[5:]):
        fresh = await house.session()
        if profile:
            profiler.enable()
        await house.ask(fresh, text, first)
        profiler.disable()
        begun = time.perf_counter()
        await house.app.search.search(house.scope, SearchRequest(query=text))
        searches.append((time.perf_counter() - begun) * 1000)
        if place % ROUNDS == 0:
            long = fresh
        else:
            await house.ask(long, text, later if place % ROUNDS == ROUNDS - 1 else Times())
    if profile:
        pstats.Stats(profiler).sort_stats("tottime").print_stats(45)
    return {
        "first in its session": _figures(house, first, p50(searches)),
        f"number {ROUNDS} in its session": _figures(house, later, p50(searches)),
    }


def _figures(house: House, times: Times, search: float) -> dict[str, float]:
    if times.unanswered > len(times.whole):
        raise RuntimeError("most questions found no answer, so the figures would mean nothing")
    figures: dict[str, float] = {
        "chunks": house.chunks,
        "p50_ms": p50(times.whole),
        "p95_ms": p95(times.whole),
        "processor_p50_ms": p50(times.processor),
        "search_alone_ms": search,
        "ratio_to_search": p50(times.whole) / search,
    }
    events = {f"{event}_ms": p50(taken) for event, taken in times.events.items()}
    return figures | events | {"outside_events_ms": figures["p50_ms"] - sum(events.values())}


def run(*, chunks: int = CHUNKS, questions: int = QUESTIONS, profile: bool = False) -> dict[str, dict[str, float]]:
    """Figures by place in the session; milliseconds beyond the embedding of the query."""
    return run_as_served(measure(chunks=chunks, questions=questions, profile=profile))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=CHUNKS)
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    parser.add_argument("--profile", action="store_true", help="print where the time goes; figures are inflated then")
    arguments = parser.parse_args()
    print(table(run(chunks=arguments.chunks, questions=arguments.questions, profile=arguments.profile)))


if __name__ == "__main__":
    main()
