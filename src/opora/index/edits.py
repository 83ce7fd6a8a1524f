"""Carries people's edits over to chunks that were cut anew, and numbers and links what stands. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

from opora.domain.enrichment import MADE_BY_MODELS
from opora.domain.knowledge import Chunk, ChunkType
from opora.domain.revisions import ChunkRevision, RevisionOrigin

EDITED = "edited"
"""In a chunk's metadata: people wrote its content, and its place is where it stood in the file."""
_ID_BYTES = 16
_APART = frozenset({ChunkType.PARENT_TEXT, ChunkType.SUMMARY, ChunkType.TABLE_SUMMARY, ChunkType.TABLE_COLUMN})
_OF_THE_TEXT = (*MADE_BY_MODELS, "cut_code")
"""What metadata says of the former content only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """``chunks`` with the edits in them; ``lost`` are edits of chunks that the file no longer has."""

    chunks: tuple[Chunk, ...]
    lost: tuple[ChunkRevision, ...] = ()


def revised_id(lineage_id: str, revision: int, content: str) -> str:
    """The id of a state of an edited chunk: from what it says and which state it is."""
    digest = blake2b(digest_size=_ID_BYTES)
    for part in (lineage_id, str(revision), content):
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.hexdigest()


def revised(chunk: Chunk, *, chunk_id: str, content: str) -> Chunk:
    """The chunk in another state: on the same page and under the same headings, but at no offsets and on no lines of
    its file, where other words stand. Where the words are those that were there, so is the place."""
    metadata = {name: value for name, value in chunk.metadata.items() if name not in _OF_THE_TEXT}
    place = chunk.place
    if content != chunk.content:
        place = replace(place, end=place.start, boxes=(), box_starts=())
    return replace(chunk, chunk_id=chunk_id, content=content, place=place, metadata={**metadata, EDITED: True})


def latest(revisions: Iterable[ChunkRevision]) -> dict[str, ChunkRevision]:
    """The last state of each lineage, by its id."""
    last: dict[str, ChunkRevision] = {}
    for one in revisions:
        if one.lineage_id not in last or one.revision > last[one.lineage_id].revision:
            last[one.lineage_id] = one
    return last


def applied(chunks: Sequence[Chunk], revisions: Sequence[ChunkRevision]) -> Applied:
    """The chunks of a parse with what people did to them: edited ones changed, deleted ones gone, added ones back.

    A chunk of the parser belongs to a lineage when its id is that of the lineage's first state.
    """
    last = latest(revisions)
    kept: list[Chunk] = []
    at: dict[str, int] = {}
    for chunk in chunks:
        state = last.get(chunk.chunk_id)
        if state is None or state.origin is RevisionOrigin.ADDED:
            at[chunk.chunk_id] = len(kept)
            kept.append(chunk)
        elif not state.is_deleted:
            at[chunk.chunk_id] = len(kept)
            is_first = state.chunk_id == chunk.chunk_id
            kept.append(chunk if is_first else revised(chunk, chunk_id=state.chunk_id, content=state.content))
    first_ids = {chunk.chunk_id for chunk in chunks}
    with_parents = _with_parents(kept, {chunk.chunk_id: chunk for chunk in chunks}, last)
    added = [one for one in last.values() if not one.is_deleted and _was_added(one, revisions)]
    lost = [
        one
        for one in last.values()
        if one.lineage_id not in first_ids and not one.is_deleted and one not in added and one.revision > 0
    ]
    return Applied(chunks=tuple(linked(_inserted(with_parents, added, at))), lost=tuple(lost))


def linked(chunks: Sequence[Chunk]) -> list[Chunk]:
    """The chunks numbered and linked in this order: those of the text from 0, parents behind them.

    What was written about the document is no neighbour of its text and stays as it is.
    """
    searched = [chunk for chunk in chunks if chunk.chunk_type not in _APART]
    ids = [chunk.chunk_id for chunk in searched]
    found: list[Chunk] = []
    index, parent_index = 0, len(searched)
    for chunk in chunks:
        if chunk.chunk_type is ChunkType.PARENT_TEXT:
            found.append(replace(chunk, chunk_index=parent_index))
            parent_index += 1
        elif chunk.chunk_type in _APART:
            found.append(chunk)
        else:
            before = ids[index - 1] if index else ""
            after = ids[index + 1] if index + 1 < len(ids) else ""
            found.append(replace(chunk, chunk_index=index, pre_chunk_id=before, next_chunk_id=after))
            index += 1
    return found


def parent_with(parent: Chunk, old: str, new: str) -> Chunk:
    """The parent's text with a child's edit in it, where the child's former words stand in it."""
    return replace(parent, content=parent.content.replace(old, new, 1)) if old and old in parent.content else parent


def _with_parents(kept: Sequence[Chunk], parsed: dict[str, Chunk], last: dict[str, ChunkRevision]) -> list[Chunk]:
    """Parents say what their children say now."""
    parents = {chunk.chunk_id: chunk for chunk in kept if chunk.chunk_type is ChunkType.PARENT_TEXT}
    for lineage_id, state in last.items():
        child = parsed.get(lineage_id)
        if child is not None and child.parent_chunk_id in parents:
            content = "" if state.is_deleted else state.content
            parent = parents[child.parent_chunk_id]
            parents[child.parent_chunk_id] = parent_with(parent, child.content, content)
    return [parents.get(chunk.chunk_id, chunk) for chunk in kept]


def _was_added(state: ChunkRevision, revisions: Sequence[ChunkRevision]) -> bool:
    return any(one.lineage_id == state.lineage_id and one.origin is RevisionOrigin.ADDED for one in revisions)


def _inserted(kept: Sequence[Chunk], added: Sequence[ChunkRevision], at: dict[str, int]) -> list[Chunk]:
    """Added chunks behind the one that each was put behind; behind all, where that one is gone."""
    behind: dict[int, list[Chunk]] = {}
    end = len(kept)
    for one in sorted(added, key=lambda state: (state.created_at, state.lineage_id)):
        place = at.get(one.after, end)
        pattern = kept[min(place, end - 1)] if kept else None
        behind.setdefault(place, []).append(added_chunk(one, pattern))
    result: list[Chunk] = []
    for index, chunk in enumerate(kept):
        result += [chunk, *behind.get(index, ())]
    return [*result, *behind.get(end, ())]


def added_chunk(state: ChunkRevision, behind: Chunk | None) -> Chunk:
    """A chunk that people wrote: under the heading of the one before it, at no place of the file."""
    return Chunk(
        chunk_id=state.chunk_id,
        base_id=state.base_id,
        tenant_id=state.tenant_id,
        document_id=state.document_id,
        chunk_index=0,
        content=state.content,
        context=behind.context if behind else "",
        tag_ids=behind.tag_ids if behind else (),
        metadata={EDITED: True},
    )
