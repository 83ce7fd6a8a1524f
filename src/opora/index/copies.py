"""The chunks of a document as those of another one, under the ids that its own parse would give. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b

from opora.domain.chunk_ids import chunk_id
from opora.domain.forms import form_of_copy, is_form, owner_of_form
from opora.domain.knowledge import Chunk, ChunkType, Document
from opora.domain.revisions import ChunkRevision, RevisionOrigin
from opora.index.edits import revised_id

_ID_BYTES = 16


def new_ids(rows: Sequence[Chunk], revisions: Sequence[ChunkRevision], source: str, target: str) -> dict[str, str]:
    """The new id of each row and each state, by the old one; ``source`` and ``target`` are documents.

    What a parser made gets the id that it would give it in the new document: reading that anew changes nothing then.
    """
    contexts = sorted({outer for row in rows for outer in _and_outer(row.context)} | {""})
    ids: dict[str, str] = {}
    for row in rows:
        if not is_form(row.chunk_id):
            kinds = (row.chunk_type,)
            ids[row.chunk_id] = _parsed(row.chunk_id, kinds, [row.context], row.content, source, target)
    for one in revisions:
        if one.revision == 0 and one.origin is RevisionOrigin.PARSER:
            known = [row.context for row in rows if row.chunk_id == one.chunk_id] or contexts
            ids[one.lineage_id] = _parsed(one.lineage_id, (ChunkType.TEXT,), known, one.content, source, target)
        elif one.revision == 0:
            ids[one.lineage_id] = _derived(one.lineage_id, target)
    for one in revisions:
        if one.chunk_id != one.lineage_id:
            ids[one.chunk_id] = revised_id(ids.get(one.lineage_id, one.lineage_id), one.revision, one.content)
    for row in rows:
        if is_form(row.chunk_id):
            owner = owner_of_form(row.chunk_id)
            ids[row.chunk_id] = form_of_copy(row.chunk_id, ids.get(owner, owner))
    return ids


def _and_outer(context: str) -> list[str]:
    """A context and those around it: a chunk that was taken out tells its own no more."""
    names = context.split(" > ")
    return [" > ".join(names[:end]) for end in range(1, len(names) + 1)]


def copied(rows: Iterable[Chunk], ids: Mapping[str, str], document: Document, tags: Mapping[str, str]) -> list[Chunk]:
    """The rows under their new ids, as those of ``document``; a tag without a new id is left out."""
    return [
        replace(
            row,
            chunk_id=ids[row.chunk_id],
            base_id=document.base_id,
            tenant_id=document.tenant_id,
            document_id=document.document_id,
            parent_chunk_id=ids.get(row.parent_chunk_id, ""),
            pre_chunk_id=ids.get(row.pre_chunk_id, ""),
            next_chunk_id=ids.get(row.next_chunk_id, ""),
            tag_ids=tuple(tags[tag] for tag in row.tag_ids if tag in tags),
        )
        for row in rows
    ]


def copied_states(
    revisions: Iterable[ChunkRevision], ids: Mapping[str, str], document: Document
) -> list[ChunkRevision]:
    return [
        replace(
            one,
            chunk_id=ids.get(one.chunk_id, one.chunk_id),
            lineage_id=ids[one.lineage_id],
            after=ids.get(one.after, one.after),
            document_id=document.document_id,
            base_id=document.base_id,
            tenant_id=document.tenant_id,
        )
        for one in revisions
        if one.lineage_id in ids
    ]


def _parsed(
    old_id: str, kinds: Sequence[ChunkType], contexts: Iterable[str], content: str, source: str, target: str
) -> str:
    for kind in kinds:
        for context in contexts:
            if chunk_id(source, kind, context, content) == old_id:
                return chunk_id(target, kind, context, content)
    found = _repeated(old_id, kinds[0], contexts, content, source, target)
    return found or _derived(old_id, target)


MAX_REPEATED = 64
"""Equal chunks of a document that are told apart; what repeats more often gets an id of its own."""


def _repeated(old_id: str, kind: ChunkType, contexts: Iterable[str], content: str, source: str, target: str) -> str:
    for occurrence in range(1, MAX_REPEATED):
        for context in contexts:
            if chunk_id(source, kind, context, content, occurrence) == old_id:
                return chunk_id(target, kind, context, content, occurrence)
    return ""


def _derived(old_id: str, target: str) -> str:
    """For what no parser made: from the old id and the new document."""
    return blake2b(f"{target}\0{old_id}".encode(), digest_size=_ID_BYTES).hexdigest()
