"""The chunks of a document as those of another one, under ids of its own. Pure functions.

What a parser made takes the id that it would have in the new document. So a copy that is read anew keeps its vectors,
its switches and its corrections.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

from opora.domain.bases import copied_id
from opora.domain.chunk_ids import chunk_id
from opora.domain.forms import form_of_copy, is_form, owner_of_form
from opora.domain.knowledge import Chunk, ChunkType, Document
from opora.domain.revisions import ChunkRevision, RevisionOrigin
from opora.index.edits import revised_id

_ID_BYTES = 16
_CUT = frozenset({ChunkType.TEXT, ChunkType.PARENT_TEXT})
"""What a splitter cuts from a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentCopy:
    """``ids`` leads from each former id of a row, forms included, to the new one."""

    document: Document
    chunks: tuple[Chunk, ...]
    revisions: tuple[ChunkRevision, ...]
    ids: Mapping[str, str]


def copied_document(
    document: Document,
    rows: Sequence[Chunk],
    revisions: Sequence[ChunkRevision],
    *,
    base_id: str,
    tags: Mapping[str, str],
) -> DocumentCopy:
    """A document of a copied base, under the id that every try gives it.

    ``base_id`` is the target; ``tags`` leads from its source's tags to its own, and others are left out.
    """
    new = replace(
        document,
        document_id=copied_id(base_id, document.document_id),
        base_id=base_id,
        tag_ids=tuple(tags[tag] for tag in document.tag_ids if tag in tags),
    )
    ids = new_ids(rows, revisions, document.document_id, new.document_id)
    return DocumentCopy(
        document=new,
        chunks=tuple(copied(rows, ids, new, tags)),
        revisions=tuple(copied_states(revisions, ids, new)),
        ids={row.chunk_id: ids[row.chunk_id] for row in rows if row.chunk_id in ids},
    )


def new_ids(rows: Sequence[Chunk], revisions: Sequence[ChunkRevision], source: str, target: str) -> dict[str, str]:
    """The new id of each row and each state, by the old one; ``source`` and ``target`` are documents.

    A question whose chunk is gone gets none.
    """
    names = _Names(source, target, most=len(rows) + len(revisions))
    contexts = sorted({outer for row in rows for outer in _and_outer(row.context)} | {""})
    lineages = _lineages(revisions, names, contexts)
    states = _states(revisions, lineages)
    own = {
        row.chunk_id: states.get(row.chunk_id) or names.of(row.chunk_id, row.chunk_type, [row.context], row.content)
        for row in rows
        if not is_form(row.chunk_id)
    }
    asked = ((row.chunk_id, owner_of_form(row.chunk_id)) for row in rows if is_form(row.chunk_id))
    forms = {form: form_of_copy(form, own[owner]) for form, owner in asked if owner in own}
    return lineages | states | own | forms


def copied(rows: Iterable[Chunk], ids: Mapping[str, str], document: Document, tags: Mapping[str, str]) -> list[Chunk]:
    """The rows that have a new id under it, as those of ``document``; a tag without a new id is left out."""
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
        if row.chunk_id in ids
    ]


def copied_states(
    revisions: Iterable[ChunkRevision], ids: Mapping[str, str], document: Document
) -> list[ChunkRevision]:
    return [
        replace(
            one,
            chunk_id=ids[one.chunk_id],
            lineage_id=ids[one.lineage_id],
            after=ids.get(one.after, ""),
            document_id=document.document_id,
            base_id=document.base_id,
            tenant_id=document.tenant_id,
        )
        for one in revisions
    ]


def _and_outer(context: str) -> list[str]:
    """A context and those around it: a chunk that was taken out may tell its own no more."""
    names = context.split(" > ")
    return [" > ".join(names[:end]) for end in range(1, len(names) + 1)]


class _Names:
    """New ids for chunks of one document."""

    def __init__(self, source: str, target: str, *, most: int) -> None:
        """``most`` is how many equal chunks there can be."""
        self._source, self._target, self._most = source, target, most
        self._occurrences: dict[tuple[ChunkType, str, str], dict[str, int]] = {}

    def of(self, old_id: str, kind: ChunkType, contexts: Iterable[str], content: str) -> str:
        """For what no parser made: an id from the old one and the new document."""
        cut = (self._cut(old_id, kind, context, content) for context in contexts)
        return next(filter(None, cut), "") or self.other(old_id)

    def other(self, old_id: str) -> str:
        return blake2b(f"{self._target}\0{old_id}".encode(), digest_size=_ID_BYTES).hexdigest()

    def _cut(self, old_id: str, kind: ChunkType, context: str, content: str) -> str:
        """The id that the splitter gives in the new document; '' for a chunk that has its id from elsewhere."""
        if kind not in _CUT:
            return ""
        says = (kind, context, content)
        known = self._occurrences.setdefault(says, {})
        while old_id not in known and len(known) < self._most:
            known[chunk_id(self._source, *says, len(known))] = len(known)
        return chunk_id(self._target, *says, known[old_id]) if old_id in known else ""


def _lineages(revisions: Iterable[ChunkRevision], names: _Names, contexts: Sequence[str]) -> dict[str, str]:
    """From the first id of each edited chunk to that in the copy. Older states do not tell their headings: then all
    that the document has are tried."""
    found: dict[str, str] = {}
    for one in revisions:
        if one.chunk_id == one.lineage_id and one.origin is RevisionOrigin.PARSER:
            found[one.lineage_id] = names.of(one.chunk_id, ChunkType.TEXT, (one.context, *contexts), one.content)
    return found | {one.lineage_id: names.other(one.lineage_id) for one in revisions if one.lineage_id not in found}


def _states(revisions: Iterable[ChunkRevision], lineages: Mapping[str, str]) -> dict[str, str]:
    """From the id of each state to that in the copy. A deletion keeps the id of the state that it ended."""
    found: dict[str, str] = {}
    for one in sorted(revisions, key=lambda state: (state.lineage_id, state.revision)):
        lineage = lineages[one.lineage_id]
        if one.chunk_id == one.lineage_id:
            found[one.chunk_id] = lineage
        elif one.chunk_id not in found:
            found[one.chunk_id] = revised_id(lineage, one.revision, one.content)
    return found
