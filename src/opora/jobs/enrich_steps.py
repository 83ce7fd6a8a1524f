"""What is added to a document, step by step: its summary, descriptions of its tables, questions, entities.

Each step writes to the engine first, where nothing of it is found until the database holds it, and keeps what it made
together with its cost in one transaction.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, TypeVar

from opora.domain.enrichment import GENERATED_QUESTIONS, Enrichment, EnrichmentStep
from opora.domain.forms import form_id
from opora.domain.graph import ENTITIES, as_metadata
from opora.domain.knowledge import Chunk, ChunkType
from opora.domain.work import WorkKind
from opora.index.writer import write_keywords
from opora.ingest.enrich.choice import tables_of, to_be_asked
from opora.ingest.enrich.excerpt import excerpt
from opora.ingest.enrich.facts import read_facts
from opora.ingest.enrich.replies import read_questions, read_text
from opora.jobs.desk import Desk
from opora.jobs.enrich_tags import choose_tags
from opora.jobs.graph import queue_graph
from opora.ports import Repositories

EXCERPT_TOKENS = 3_000
"""How much of a document a model is shown for its summary."""
AT_ONCE = 4
"""Chunks that are asked about side by side."""

T = TypeVar("T")
Step = Callable[[Desk, Enrichment], Awaitable[Enrichment]]


async def summarise(desk: Desk, state: Enrichment) -> Enrichment:
    """A summary of the text, as a chunk that is searched and as the document's description where it has none."""
    text = excerpt([chunk.search_text for chunk in desk.chunks], EXCERPT_TOKENS)
    reply, state = await desk.ask("generate_summary", {"content": text}, state)
    summary = read_text(reply)
    written = state.summary
    state = replace(state, summary=summary or written)
    rows = [_about(desk, ChunkType.SUMMARY, summary)] if summary else []

    async def also(stored: Repositories) -> None:
        document = await stored.documents.get(desk.scope, desk.document.document_id)
        if summary and document.description in ("", written):
            await stored.documents.update(desk.scope, replace(document, description=summary))

    return await _kept(desk, state, rows, EnrichmentStep.SUMMARY, also)


async def describe_tables(desk: Desk, state: Enrichment) -> Enrichment:
    """A description of each sheet as a chunk that is searched: it finds the table by what it is about."""
    rows: list[Chunk] = []
    for table in tables_of(desk.chunks):
        values = {"name": table.name or desk.document.title, "content": table.text}
        reply, state = await desk.ask("generate_table_summary", values, state)
        if description := read_text(reply):
            rows.append(_about(desk, ChunkType.TABLE_SUMMARY, description, context=table.name, place=len(rows) + 1))
    return await _kept(desk, state, rows, EnrichmentStep.TABLES)


async def ask_questions(desk: Desk, state: Enrichment) -> Enrichment:
    """Questions that each chunk answers, as rows that lead to it. Begins again behind the last batch that was kept;
    makes way after each batch for other work on the document."""
    left = [chunk for chunk in to_be_asked(desk.chunks) if GENERATED_QUESTIONS not in chunk.metadata]
    for start in range(0, len(left), AT_ONCE):
        batch = left[start : start + AT_ONCE]
        made = await _all(_questions(desk, chunk, state, len(batch)) for chunk in batch)
        state = replace(state, tokens=state.tokens + sum(one.tokens - state.tokens for _, one in made))
        forms = [
            form for chunk, (questions, _) in zip(batch, made, strict=True) for form in form_rows(chunk, questions)
        ]
        asked = [
            replace(chunk, metadata={**chunk.metadata, GENERATED_QUESTIONS: list(questions)})
            for chunk, (questions, _) in zip(batch, made, strict=True)
        ]
        is_last = start + AT_ONCE >= len(left)

        async def also(stored: Repositories, asked: Sequence[Chunk] = asked) -> None:
            there = await stored.chunks.get_many(desk.scope, [chunk.chunk_id for chunk in asked])
            for chunk in asked:
                if chunk.chunk_id in there:
                    await stored.chunks.update(desk.scope, replace(there[chunk.chunk_id], metadata=chunk.metadata))

        state = await _kept(desk, state, forms, EnrichmentStep.QUESTIONS if is_last else None, also)
        if not is_last and await _is_awaited(desk):
            return state
    return state if left else await _kept(desk, state, [], EnrichmentStep.QUESTIONS)


async def name_entities(desk: Desk, state: Enrichment) -> Enrichment:
    """What each chunk speaks of and how it is related, kept with the chunk; the graph is written when all is known."""
    left = [chunk for chunk in to_be_asked(desk.chunks) if ENTITIES not in chunk.metadata]
    for start in range(0, len(left), AT_ONCE):
        batch = left[start : start + AT_ONCE]
        made = await _all(
            desk.ask("graph_extraction", {"content": chunk.search_text}, state, calls=len(batch)) for chunk in batch
        )
        state = replace(state, tokens=state.tokens + sum(one.tokens - state.tokens for _, one in made))
        facts = {
            chunk.chunk_id: as_metadata(read_facts(reply, chunk.search_text))
            for chunk, (reply, _) in zip(batch, made, strict=True)
        }
        is_last = start + AT_ONCE >= len(left)

        async def also(
            stored: Repositories, facts: Mapping[str, dict[str, Any]] = facts, is_last: bool = is_last
        ) -> None:
            there = await stored.chunks.get_many(desk.scope, list(facts))
            for chunk_id, chunk in there.items():
                await stored.chunks.update(desk.scope, replace(chunk, metadata={**chunk.metadata, **facts[chunk_id]}))
            if is_last:
                await queue_graph(desk.ground, stored, desk.work, desk.base)

        state = await _kept(desk, state, [], EnrichmentStep.ENTITIES if is_last else None, also)
        if not is_last and await _is_awaited(desk):
            return state
    return state if left else await _kept(desk, state, [], EnrichmentStep.ENTITIES)


STEPS: Mapping[EnrichmentStep, Step] = MappingProxyType(
    {
        EnrichmentStep.SUMMARY: summarise,
        EnrichmentStep.TABLES: describe_tables,
        EnrichmentStep.TAGS: choose_tags,
        EnrichmentStep.QUESTIONS: ask_questions,
        EnrichmentStep.ENTITIES: name_entities,
    }
)


def form_rows(chunk: Chunk, questions: Sequence[str]) -> list[Chunk]:
    """The searched rows that lead to a chunk, one a question."""
    texts = {form_id(chunk.chunk_id, question): question for question in questions}
    return [
        replace(
            chunk,
            chunk_id=row_id,
            content=text,
            context="",
            chunk_type=ChunkType.QUESTION,
            parent_chunk_id=chunk.chunk_id,
            pre_chunk_id="",
            next_chunk_id="",
            metadata={},
        )
        for row_id, text in texts.items()
    ]


async def _questions(desk: Desk, chunk: Chunk, state: Enrichment, calls: int) -> tuple[tuple[str, ...], Enrichment]:
    count = desk.base.enrichment.question_count
    values = {"title": desk.document.title, "content": chunk.search_text, "count": str(count)}
    reply, state = await desk.ask("generate_questions", values, state, calls=calls)
    return read_questions(reply, count=count), state


def _about(desk: Desk, kind: ChunkType, text: str, *, context: str = "", place: int = 0) -> Chunk:
    """A chunk that says something about its document; its id comes from what it says, like that of every chunk."""
    name = "\0".join((desk.document.document_id, kind.value, context, text))
    return Chunk(
        chunk_id=hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:32],
        base_id=desk.base.base_id,
        tenant_id=desk.base.tenant_id,
        document_id=desk.document.document_id,
        chunk_index=len(desk.chunks) + place,
        content=text,
        context=context or desk.document.title,
        chunk_type=kind,
        tag_ids=desk.document.tag_ids,
    )


async def _kept(
    desk: Desk,
    state: Enrichment,
    rows: Sequence[Chunk],
    done: EnrichmentStep | None,
    also: Callable[[Repositories], Awaitable[None]] | None = None,
) -> Enrichment:
    """Rows to the engine, then rows, cost and what else belongs to them in one transaction, and their vectors next."""
    ground, document_id = desk.ground, desk.document.document_id
    ids = [row.chunk_id for row in rows]
    has_model = bool(rows) and await ground.embedders.of(desk.base) is not None
    if rows:
        async with ground.database.begin() as stored:
            await ground.hold(stored, desk.work)
            await stored.chunks.add_strays(desk.scope, desk.document, ids)
        await write_keywords(ground.engine, desk.scope, rows, desk.base.indexing)
    async with ground.database.begin() as stored:
        state = await desk.save(stored, state, done=done)
        if also is not None:
            await also(stored)
        if rows:
            document = await stored.documents.get(desk.scope, document_id)
            await stored.chunks.put(desk.scope, document, rows)
            own = sum(row.chunk_type is not ChunkType.QUESTION for row in rows)
            await stored.documents.update(desk.scope, replace(document, chunk_count=document.chunk_count + own))
            if desk.base.indexing.vector and has_model:
                await stored.work.add(ground.follow_up(desk.work, WorkKind.EMBED))
    return state


async def _all(calls: Iterable[Awaitable[T]]) -> list[T]:
    """What all of them give. Where one fails the others are waited for, so that none is left behind."""
    made = await asyncio.gather(*calls, return_exceptions=True)
    results: list[T] = []
    for one in made:
        if isinstance(one, BaseException):
            raise one
        results.append(one)
    return results


async def _is_awaited(desk: Desk) -> bool:
    async with desk.ground.database.read() as stored:
        return bool(
            await stored.work.waiting(desk.document.document_id) - {WorkKind.ENRICH, WorkKind.EMBED, WorkKind.GRAPH}
        )
