"""What a document is in a copy of its base: the same words, links, tags and states under ids of its own. Pure.

A chunk that was cut from the file takes the id that the splitter would give it in the new document. So a copy that is
read anew keeps its vectors, its switches and its corrections.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from opora.domain.bases import copied_id
from opora.domain.chunk_ids import cut_chunk_id
from opora.domain.forms import form_of_copy, is_form, owner_of_form
from opora.domain.knowledge import Chunk, ChunkType, Document
from opora.domain.revisions import ChunkRevision, RevisionOrigin
from opora.index.edits import revised_id

_CUT = frozenset({ChunkType.TEXT, ChunkType.PARENT_TEXT})


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentCopy:
    """``ids`` leads from each former id of a row, forms included, to the new one."""

    document: Document
    chunks: tuple[Chunk, ...]
    revisions: tuple[ChunkRevision, ...]
    ids: Mapping[str, str]


def copied_document(
    document: Document,
    chunks: Sequence[Chunk],
    revisions: Sequence[ChunkRevision],
    *,
    base_id: str,
    tag_ids: Mapping[str, str],
) -> DocumentCopy:
    """``base_id`` is the target; ``tag_ids`` leads from its source's tags to its own, and others are left out."""
    new = replace(
        document,
        document_id=copied_id(base_id, document.document_id),
        base_id=base_id,
        tag_ids=_tags(document.tag_ids, tag_ids),
    )
    names = _Names(document.document_id, new.document_id, base_id, most=len(chunks) + len(revisions))
    lineages = _lineages(revisions, names, {chunk.context for chunk in chunks})
    states = _states(revisions, lineages)
    own = {
        chunk.chunk_id: states.get(chunk.chunk_id) or names.of(chunk) for chunk in chunks if not is_form(chunk.chunk_id)
    }
    forms = {chunk.chunk_id for chunk in chunks} - own.keys()
    ids = own | {form: form_of_copy(form, own[owner_of_form(form)]) for form in forms if owner_of_form(form) in own}
    kept = [chunk for chunk in chunks if chunk.chunk_id in ids]
    return DocumentCopy(
        document=new,
        chunks=tuple(_copied_chunk(chunk, new, ids, tag_ids) for chunk in kept),
        revisions=tuple(_copied_state(one, new, own | lineages, states) for one in revisions),
        ids=ids,
    )


class _Names:
    """New ids for chunks of one document."""

    def __init__(self, old_document: str, new_document: str, base_id: str, *, most: int) -> None:
        """``most`` is how many equal chunks there can be."""
        self._old, self._new, self._base_id = old_document, new_document, base_id
        self._most = most
        self._occurrences: dict[tuple[ChunkType, str, str], dict[str, int]] = {}

    def of(self, chunk: Chunk) -> str:
        cut = self.cut(chunk.chunk_id, chunk.chunk_type, chunk.context, chunk.content)
        return cut or self.other(chunk.chunk_id)

    def cut(self, chunk_id: str, chunk_type: ChunkType, context: str, content: str) -> str | None:
        """The id of a chunk of the splitter; None for one that has its id from elsewhere."""
        if chunk_type not in _CUT:
            return None
        says = (chunk_type, context, content)
        known = self._occurrences.setdefault(says, {})
        while chunk_id not in known and len(known) < self._most:
            known[cut_chunk_id(self._old, *says, len(known))] = len(known)
        return cut_chunk_id(self._new, *says, known[chunk_id]) if chunk_id in known else None

    def other(self, chunk_id: str) -> str:
        return copied_id(self._base_id, chunk_id)


def _lineages(revisions: Iterable[ChunkRevision], names: _Names, contexts: Iterable[str]) -> dict[str, str]:
    """From the first id of each edited chunk to that in the copy. Older states do not tell their headings: then all
    that the document has are tried."""
    found: dict[str, str] = {}
    others = sorted(contexts)
    for one in revisions:
        if one.chunk_id == one.lineage_id and one.origin is RevisionOrigin.PARSER:
            tried = (one.context, *others)
            cut = (names.cut(one.chunk_id, ChunkType.TEXT, context, one.content) for context in tried)
            found[one.lineage_id] = next(filter(None, cut), None) or names.other(one.lineage_id)
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


def _copied_chunk(chunk: Chunk, document: Document, ids: Mapping[str, str], tag_ids: Mapping[str, str]) -> Chunk:
    return replace(
        chunk,
        chunk_id=ids[chunk.chunk_id],
        base_id=document.base_id,
        document_id=document.document_id,
        parent_chunk_id=ids.get(chunk.parent_chunk_id, ""),
        pre_chunk_id=ids.get(chunk.pre_chunk_id, ""),
        next_chunk_id=ids.get(chunk.next_chunk_id, ""),
        tag_ids=_tags(chunk.tag_ids, tag_ids),
    )


def _copied_state(
    one: ChunkRevision, document: Document, firsts: Mapping[str, str], states: Mapping[str, str]
) -> ChunkRevision:
    """``firsts`` are ids of lineages, and of chunks that have none yet and that an added one may stand behind."""
    return replace(
        one,
        chunk_id=states[one.chunk_id],
        lineage_id=firsts[one.lineage_id],
        document_id=document.document_id,
        base_id=document.base_id,
        after=firsts.get(one.after, ""),
    )


def _tags(tag_ids: Iterable[str], new: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(new[tag_id] for tag_id in tag_ids if tag_id in new)
