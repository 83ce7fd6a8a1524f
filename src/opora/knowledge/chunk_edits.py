"""Use cases on the words of chunks: correct, add, take out, look back, go back.

An edit gives the chunk a new id in the same place. The engine gets the new row, words and vector together, before the
database holds it, so that no search meets it; one transaction then puts it in the place of the old one, and the old row
is taken out of the engine by a worker. What is found is always one state or the other, never a mix.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from opora.domain.errors import Conflict, InvalidInput, NotFound
from opora.domain.knowledge import CHUNK_HARD_CAP, Chunk, ChunkType, Document, KnowledgeBase
from opora.domain.revisions import ChunkRevision, RevisionOrigin
from opora.domain.scope import Scope
from opora.domain.work import Work, WorkKind
from opora.index.edits import added_chunk, linked, parent_with, revised, revised_id
from opora.index.reading import all_chunks
from opora.index.writer import write_keywords, write_vectors
from opora.ports import Clock, Database, Embedders, Jobs, NewId, Repositories, SearchEngine
from opora.text.fold import clean

EDITABLE = frozenset({ChunkType.TEXT})


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """One state of a chunk as people look back at it."""

    revision: ChunkRevision
    is_current: bool


class ChunkEdits:
    def __init__(
        self,
        database: Database,
        engine: SearchEngine,
        jobs: Jobs,
        *,
        embedders: Embedders,
        clock: Clock,
        new_id: NewId,
    ) -> None:
        self._database = database
        self._engine = engine
        self._jobs = jobs
        self._embedders = embedders
        self._clock = clock
        self._new_id = new_id

    async def revisions(self, scope: Scope, chunk_id: str) -> list[State]:
        """All states, oldest first; a chunk that nobody edited has one."""
        async with self._database.read() as stored:
            states = await stored.revisions.lineage(scope, chunk_id)
            if not states:
                states = [_first(await _chunk(stored, scope, chunk_id), self._clock())]
        last = states[-1]
        return [State(revision=one, is_current=one is last and not one.is_deleted) for one in states]

    async def current_id(self, scope: Scope, chunk_id: str) -> str:
        """The id of the chunk's present state, by that of any of its states.

        Raises `NotFound` for a chunk that was taken out.
        """
        async with self._database.read() as stored:
            states = await stored.revisions.lineage(scope, chunk_id)
        if states and states[-1].is_deleted:
            raise NotFound("This chunk was deleted.", details={"chunk_id": chunk_id})
        return states[-1].chunk_id if states else chunk_id

    async def edit(self, scope: Scope, chunk_id: str, content: str) -> Chunk:
        """Give the chunk other words. ``chunk_id`` names the state that was edited.

        Raises `Conflict`, with both versions, when somebody else edited that state first.
        """
        text = _checked(content)
        return await self._revise(scope, chunk_id, lambda _: text, RevisionOrigin.EDIT, yours=text)

    async def revert(self, scope: Scope, chunk_id: str, revision: int) -> Chunk:
        """Make the words of an earlier state the present ones again, as a new state. A deleted chunk stays away."""

        def words(states: Sequence[ChunkRevision]) -> str:
            for one in states:
                if one.revision == revision:
                    return one.content
            raise InvalidInput.of("revision", f"This chunk has no state {revision}.", hint="See its revisions.")

        current = await self.current_id(scope, chunk_id)
        return await self._revise(scope, current, words, RevisionOrigin.REVERT)

    async def add(self, scope: Scope, document_id: str, content: str, *, after: str = "") -> Chunk:
        """A chunk that people wrote, behind another one (by any of its ids) or at the end of the document."""
        text, now = _checked(content), self._clock()
        behind = await self.current_id(scope, after) if after else ""
        async with self._database.read() as stored:
            document = await _document(stored, scope, document_id)
            chunks = await all_chunks(stored, scope, document_id)
            lineage = await stored.revisions.lineage(scope, behind) if behind else []
            base = await _base(stored, document)
        pattern = _behind(chunks, behind)
        state = ChunkRevision(
            chunk_id=self._new_id(),
            lineage_id="",
            document_id=document_id,
            base_id=document.base_id,
            tenant_id=document.tenant_id,
            revision=0,
            origin=RevisionOrigin.ADDED,
            content=text,
            author=scope.principal.user_id,
            after=lineage[0].lineage_id if lineage else behind,
            created_at=now,
        )
        state = replace(state, lineage_id=state.chunk_id)
        chunk = added_chunk(state, pattern)
        embedded_by = await self._to_engine(scope, chunk, base)
        async with self._database.begin() as stored:
            chunks = await all_chunks(stored, scope, document_id)
            pattern = _behind(chunks, behind)
            place = len(chunks) if pattern is None else chunks.index(pattern) + 1
            await stored.revisions.add(scope, [state])
            chunks = [*chunks[:place], chunk, *chunks[place:]]
            await self._put(stored, scope, document_id, chunks, new=chunk, embedded_by=embedded_by)
        self._jobs.wake()
        return await self._stored(scope, chunk.chunk_id)

    async def delete(self, scope: Scope, document_id: str, chunk_ids: Sequence[str]) -> list[str]:
        """Take chunks of the document out, each by its present id; they stay away when the document is read anew.

        ``scope`` holds no other document.
        """
        ids = list(dict.fromkeys(chunk_ids))
        async with self._database.begin() as stored:
            gone = [await _editable(stored, scope, chunk_id) for chunk_id in ids]
            for chunk in gone:
                await self._record_deletion(stored, scope, chunk)
            taken = frozenset(ids)
            left = [one for one in await all_chunks(stored, scope, document_id) if one.chunk_id not in taken]
            await self._put(stored, scope, document_id, left, gone=gone)
        self._jobs.wake()
        return ids

    async def _record_deletion(self, stored: Repositories, scope: Scope, chunk: Chunk) -> None:
        now = self._clock()
        states = await stored.revisions.lineage(scope, chunk.chunk_id) or [_first(chunk, now)]
        last = replace(
            states[-1],
            revision=states[-1].revision + 1,
            origin=RevisionOrigin.DELETED,
            author=scope.principal.user_id,
            created_at=now,
        )
        await stored.revisions.add(scope, [*_unkept(states, chunk), last])

    async def _revise(
        self,
        scope: Scope,
        chunk_id: str,
        words: Callable[[Sequence[ChunkRevision]], str],
        origin: RevisionOrigin,
        *,
        yours: str = "",
    ) -> Chunk:
        async with self._database.read() as stored:
            before, states = await _state(stored, scope, chunk_id, self._clock(), yours=yours)
            content = words(states)
            document = await _document(stored, scope, before.document_id)
            base = await _base(stored, document)
        if content == before.content:
            return before
        revision = states[-1].revision + 1
        new_id = revised_id(states[0].lineage_id, revision, content)
        after = revised(before, chunk_id=new_id, content=content)
        embedded_by = await self._to_engine(scope, after, base)
        state = replace(
            states[-1],
            chunk_id=new_id,
            revision=revision,
            origin=origin,
            content=content,
            author=scope.principal.user_id,
            created_at=self._clock(),
        )
        try:
            async with self._database.begin() as stored:
                before, states = await _state(stored, scope, chunk_id, self._clock(), yours=content)
                await stored.revisions.add(scope, [*_unkept(states, before), state])
                chunks = await all_chunks(stored, scope, after.document_id)
                chunks = [after if one.chunk_id == chunk_id else one for one in chunks]
                await self._put(
                    stored, scope, after.document_id, chunks, new=after, gone=[before], embedded_by=embedded_by
                )
        except (Conflict, NotFound):
            await self._take_back(scope, document, new_id)
            raise
        self._jobs.wake()
        return await self._stored(scope, new_id)

    async def _take_back(self, scope: Scope, document: Document, chunk_id: str) -> None:
        """Have a worker take out of the engine what did not come to be."""
        async with self._database.begin() as stored:
            await stored.chunks.add_strays(scope, document, [chunk_id])
            await stored.work.add(self._work(document, WorkKind.CLEAN_CHUNKS))
        self._jobs.wake()

    async def _to_engine(self, scope: Scope, chunk: Chunk, base: KnowledgeBase) -> str:
        """Words and vector in one write; the identity of the vector's model, '' where there is none. A failure leaves
        everything as it was."""
        embedder = await self._embedders.of(base)
        if embedder is None or not base.indexing.vector:
            await write_keywords(self._engine, scope, [chunk], base.indexing)
            return ""
        vectors = await embedder.embed_passages([chunk.search_text])
        await write_vectors(self._engine, scope, [chunk], vectors, embedder.card.dimension, base.indexing)
        return embedder.card.identity

    async def _put(
        self,
        stored: Repositories,
        scope: Scope,
        document_id: str,
        chunks: Sequence[Chunk],
        *,
        new: Chunk | None = None,
        gone: Sequence[Chunk] = (),
        embedded_by: str = "",
    ) -> None:
        """The chunks of a document in their new order, without those that went; counts and what follows."""
        document = await _document(stored, scope, document_id)
        if gone:
            ids = [one.chunk_id for one in gone]
            forms = await stored.chunks.forms(scope, ids)
            await stored.chunks.delete(scope, ids)
            rows = [form.chunk_id for owned in forms.values() for form in owned]
            await stored.chunks.add_strays(scope, document, [*ids, *rows])
            await stored.work.add(self._work(document, WorkKind.CLEAN_CHUNKS))
        now = {one.chunk_id: one for one in linked(chunks)}
        for one in gone:
            if one.parent_chunk_id in now:
                parent = now[one.parent_chunk_id]
                now[parent.chunk_id] = parent_with(parent, one.content, new.content if new else "")
        kept = {chunk.chunk_id: chunk for chunk in chunks if new is None or chunk.chunk_id != new.chunk_id}
        await stored.chunks.put(scope, document, [one for one in now.values() if one != kept.get(one.chunk_id)])
        if new is not None and embedded_by:
            await stored.chunks.mark_embedded(scope, [new.chunk_id], embedded_by)
        count = document.chunk_count + (new is not None) - len(gone)
        embedded = 0
        embedder = await self._embedders.of(await _base(stored, document))
        if embedder is not None:
            which = (scope, document.document_id, embedder.card.identity)
            embedded = max(0, count - await stored.chunks.count_unembedded(*which, with_forms=False))
        document = replace(document, chunk_count=count, embedded_count=embedded, updated_at=self._clock())
        await stored.documents.update(scope, document)

    async def _stored(self, scope: Scope, chunk_id: str) -> Chunk:
        async with self._database.read() as stored:
            return await _chunk(stored, scope, chunk_id)

    def _work(self, document: Document, kind: WorkKind) -> Work:
        return Work.new(kind, document.document_id, of=document, work_id=self._new_id(), now=self._clock())


def _checked(content: str) -> str:
    text = clean(content).strip()
    if not text:
        raise InvalidInput.of("content", "A chunk needs words.", hint="Delete the chunk to take it out.")
    if len(text) > CHUNK_HARD_CAP:
        raise InvalidInput.of("content", f"A chunk has at most {CHUNK_HARD_CAP:,} characters.", hint="Add another one.")
    return text


def _first(chunk: Chunk, now: datetime) -> ChunkRevision:
    """The state of a chunk that nobody edited: what the parser made."""
    return ChunkRevision(
        chunk_id=chunk.chunk_id,
        lineage_id=chunk.chunk_id,
        document_id=chunk.document_id,
        base_id=chunk.base_id,
        tenant_id=chunk.tenant_id,
        revision=0,
        origin=RevisionOrigin.PARSER,
        content=chunk.content,
        context=chunk.context,
        created_at=now,
    )


def _unkept(states: Sequence[ChunkRevision], chunk: Chunk) -> list[ChunkRevision]:
    """The first state, where it is not kept yet: that of the first edit."""
    is_new = len(states) == 1 and states[0].origin is RevisionOrigin.PARSER and states[0].chunk_id == chunk.chunk_id
    return list(states) if is_new else []


async def _state(
    stored: Repositories, scope: Scope, chunk_id: str, now: datetime, *, yours: str = ""
) -> tuple[Chunk, list[ChunkRevision]]:
    """The chunk and its states, the last of which must be the one with this id."""
    states = await stored.revisions.lineage(scope, chunk_id)
    if states and (states[-1].chunk_id != chunk_id or states[-1].is_deleted):
        raise _overtaken(states[-1], chunk_id, yours)
    chunk = await _editable(stored, scope, chunk_id)
    return chunk, states or [_first(chunk, now)]


def _overtaken(last: ChunkRevision, chunk_id: str, yours: str) -> Conflict:
    said = "was deleted" if last.is_deleted else "was edited"
    return Conflict(
        f"This chunk {said} meanwhile.",
        hint="Look at its present words, and edit those.",
        details={
            "chunk_id": chunk_id,
            "current": {"chunk_id": last.chunk_id, "revision": last.revision, "content": last.content},
            "yours": {"content": yours},
        },
    )


async def _chunk(stored: Repositories, scope: Scope, chunk_id: str) -> Chunk:
    found = await stored.chunks.get_many(replace(scope, include_disabled=True), [chunk_id])
    if chunk_id not in found:
        raise NotFound("There is no such chunk.", details={"chunk_id": chunk_id})
    return found[chunk_id]


async def _editable(stored: Repositories, scope: Scope, chunk_id: str) -> Chunk:
    chunk = await _chunk(stored, scope, chunk_id)
    if chunk.chunk_type not in EDITABLE:
        raise InvalidInput.of(
            "chunk_id",
            f"A chunk of the type '{chunk.chunk_type.value}' is not edited by itself.",
            hint="Edit the text chunks; entries of a FAQ have routes of their own.",
        )
    return chunk


async def _document(stored: Repositories, scope: Scope, document_id: str) -> Document:
    document = await stored.documents.get(scope, document_id)
    if document.indexed_version == 0:
        raise Conflict("The document has not been read yet.", hint="Wait until it is completed.")
    return document


async def _base(stored: Repositories, document: Document) -> KnowledgeBase:
    return (await stored.bases.find(document.tenant_id, [document.base_id]))[0]


def _behind(chunks: Sequence[Chunk], chunk_id: str) -> Chunk | None:
    if not chunk_id:
        texts = [chunk for chunk in chunks if chunk.chunk_type in EDITABLE]
        return texts[-1] if texts else None
    for chunk in chunks:
        if chunk.chunk_id == chunk_id:
            return chunk
    raise NotFound("There is no such chunk in this document.", details={"chunk_id": chunk_id})
