"""Searches the caller's earlier questions and answers, by words and by meaning.

Rounds stand in the search engine under a base of the user's own that no list shows. They are written there when
somebody searches: who never does pays nothing, and an engine that was made anew is filled again by itself. The
database is the truth: what it no longer holds is dropped from the results and then taken out of the engine.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from opora.cite.tags import plain_text
from opora.domain.conversation import StoredRound
from opora.domain.errors import ModelNotConfigured, OporaError
from opora.domain.scope import Scope
from opora.domain.search import IndexRow, SearchMode
from opora.pipeline.history import without_thinking
from opora.ports import Database, Embedder, Reranker, SearchEngine
from opora.retrieve.fuse import KEYWORD, VECTOR, ArmList, fuse
from opora.text.query import clean_query

_log = logging.getLogger(__name__)

CANDIDATES = 50
"""Rounds that each arm hands on."""
WRITE_STEP = 256
EMBED_STEP = 64
"""Rounds that get their vectors during one search, newest first; the rest follows with the next ones."""
MAX_TEXT_CHARS = 4_000
"""How much of a round is searched."""


class Places(Protocol):
    """Makes the scope of the hidden base (`opora.access`)."""

    def history(self, scope: Scope) -> Scope: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRound:
    round_: StoredRound
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRounds:
    rounds: tuple[FoundRound, ...] = ()
    warnings: tuple[str, ...] = ()


class HistorySearch:
    """Everything is done in the name of the caller, over their own rounds."""

    def __init__(
        self,
        *,
        database: Database,
        engine: SearchEngine,
        places: Places,
        embedder: Embedder | None,
        reranker: Reranker | None,
    ) -> None:
        self._database = database
        self._engine = engine
        self._places = places
        self._embedder = embedder
        self._reranker = reranker

    async def search(
        self,
        scope: Scope,
        query: str,
        *,
        mode: SearchMode | None = None,
        limit: int = 10,
        session_ids: Collection[str] | None = None,
    ) -> FoundRounds:
        """The best rounds first. Without a mode: by both ways where there is an embedding model, else by words.

        Raises `ModelNotConfigured` for a search by meaning without an embedding model.
        """
        text = clean_query(query)
        mode = mode or (SearchMode.HYBRID if self._embedder else SearchMode.FULLTEXT)
        if mode is not SearchMode.FULLTEXT and self._embedder is None:
            raise ModelNotConfigured(
                "Messages can't be searched by meaning: no embedding model is set.",
                hint="Search with mode 'keyword', or set OPORA_EMBEDDING.",
            )
        hidden = self._places.history(scope)
        waiting = await self._fill(scope, hidden, with_vectors=mode is not SearchMode.FULLTEXT)
        if session_ids is not None:
            hidden = replace(hidden, document_ids=frozenset(session_ids))
        ranked = await self._ranked(hidden, text, mode)
        found, gone = await self._held(scope, ranked, limit if self._reranker is None else CANDIDATES)
        await self._take_out(hidden, gone)
        warnings = (f"{waiting} earlier rounds are searched by words only so far.",) if waiting else ()
        found, failed = await self._reranked(text, found)
        return FoundRounds(rounds=tuple(found[:limit]), warnings=(*warnings, *failed))

    async def forget(
        self, scope: Scope, *, session_ids: Collection[str] = (), message_ids: Collection[str] = ()
    ) -> None:
        """Take what was deleted out of the engine; a failure is put right by a later search."""
        hidden = self._places.history(scope)
        base_id = hidden.bases[0].base_id
        try:
            if session_ids:
                await self._engine.delete_documents(hidden, base_id, session_ids)
            if message_ids:
                await self._engine.delete_chunks(hidden, base_id, message_ids)
        except OporaError as error:
            _log.warning("Deleted messages could not be taken out of the search engine yet: %s", error.message)

    async def _fill(self, scope: Scope, hidden: Scope, *, with_vectors: bool) -> int:
        """Write what the engine lacks; returns how many rounds still wait for their vector."""
        words = await self._engine.generation()
        embedder = self._embedder
        whole = words if embedder is None else f"{words} {embedder.card.identity}"
        while True:
            async with self._database.read() as repositories:
                lacking = await repositories.rounds.unindexed(scope, (words, whole), limit=WRITE_STEP)
            if not lacking:
                break
            await self._write(scope, hidden, lacking, words)
        if embedder is None or not with_vectors:
            return 0
        async with self._database.read() as repositories:
            lacking = await repositories.rounds.unindexed(scope, (whole,), limit=EMBED_STEP)
        if not lacking:
            return 0
        await self._write(scope, hidden, lacking, whole, embedder)
        async with self._database.read() as repositories:
            return await repositories.rounds.count_unindexed(scope, (whole,))

    async def _write(
        self, scope: Scope, hidden: Scope, rounds: Sequence[StoredRound], stamp: str, embedder: Embedder | None = None
    ) -> None:
        ref = hidden.bases[0]
        texts = [round_text(one) for one in rounds]
        vectors = None if embedder is None else await embedder.embed_passages(texts)
        rows = [
            IndexRow(
                chunk_id=one.answer.message_id,
                base_id=ref.base_id,
                tenant_id=ref.tenant_id,
                document_id=one.answer.session_id,
                text=text,
                vector=None if vectors is None else np.ascontiguousarray(vectors[place], dtype=np.float32).tobytes(),
                dimension=0 if vectors is None else int(vectors.shape[1]),
            )
            for place, (one, text) in enumerate(zip(rounds, texts, strict=True))
        ]
        await self._engine.write(hidden, rows)
        async with self._database.begin() as repositories:
            await repositories.rounds.mark_indexed(scope, [one.answer.message_id for one in rounds], stamp)

    async def _ranked(self, hidden: Scope, text: str, mode: SearchMode) -> dict[str, float]:
        lists = []
        if mode is not SearchMode.SEMANTIC:
            hits = await self._engine.search_keyword(hidden, text, top_k=CANDIDATES)
            lists.append(ArmList(arm=KEYWORD, hits=hits))
        if mode is not SearchMode.FULLTEXT and self._embedder is not None:
            vector = await self._embedder.embed_query(text)
            threshold = self._embedder.card.vector_threshold
            hits = await self._engine.search_vector(hidden, vector, top_k=CANDIDATES, threshold=threshold)
            lists.append(ArmList(arm=VECTOR, hits=hits))
        return {item.chunk_id: item.score for item in fuse(lists)}

    async def _held(self, scope: Scope, ranked: Mapping[str, float], limit: int) -> tuple[list[FoundRound], list[str]]:
        """The best that the database holds, and the ids that it does not."""
        async with self._database.read() as repositories:
            held = await repositories.rounds.get_many(scope, list(ranked))
        found = [FoundRound(round_=held[key], score=score) for key, score in ranked.items() if key in held]
        return found[:limit], [key for key in ranked if key not in held]

    async def _take_out(self, hidden: Scope, gone: Sequence[str]) -> None:
        if gone:
            await self.forget(hidden, message_ids=gone)

    async def _reranked(self, text: str, found: list[FoundRound]) -> tuple[list[FoundRound], tuple[str, ...]]:
        """In the order of the reranking model, where one is set; while it fails the order stands, with a warning."""
        if self._reranker is None or not found:
            return found, ()
        try:
            scores = await self._reranker.rerank(text, [round_text(one.round_) for one in found])
        except OporaError as error:
            return found, (f"Messages were not reranked: {error.message}",)
        judged = [replace(one, score=score) for one, score in zip(found, scores, strict=True)]
        return sorted(judged, key=lambda one: (-one.score, one.round_.answer.message_id)), ()


def round_text(one: StoredRound) -> str:
    """What of a round is searched: the question and the answer, without thinking and citation tags."""
    question = one.question.content if one.question else ""
    answer = plain_text(without_thinking(one.answer.content)).strip()
    return f"{question}\n{answer}"[:MAX_TEXT_CHARS].strip() or "-"
