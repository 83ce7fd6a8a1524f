"""A copy's chunks have the ids that the parse of the copy gives them, edits and questions included."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from opora.domain.forms import form_id
from opora.domain.knowledge import Block, BlockKind, Chunk, ChunkingConfig, ChunkType, Document, ParsedDocument
from opora.domain.revisions import ChunkRevision, RevisionOrigin
from opora.index.copies import copied, copied_states, new_ids
from opora.index.edits import applied, revised_id
from opora.ingest.split import StructureSplitter

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def document(document_id: str, base_id: str) -> Document:
    return Document(
        document_id=document_id,
        base_id=base_id,
        tenant_id="default",
        title="t",
        file_name="t.md",
        file_type="md",
        file_size=1,
        file_hash="h",
        created_at=NOW,
        updated_at=NOW,
    )


OLD, NEW = document("old", "kb-1"), document("new", "kb-2")


def parse(texts: list[str], owner: Document, *, parents: bool = False) -> list[Chunk]:
    blocks = tuple(Block(kind=BlockKind.PARAGRAPH, text=text) for text in texts)
    config = ChunkingConfig(size=60, overlap=0, parent_child=parents, parent_size=200, child_size=60, child_overlap=0)
    return StructureSplitter().split(ParsedDocument(blocks=blocks, file_type="txt"), config, owner=owner)


def state(chunk: Chunk, number: int, origin: RevisionOrigin, content: str, **values: str) -> ChunkRevision:
    lineage = chunk.chunk_id
    return ChunkRevision(
        chunk_id=revised_id(lineage, number, content) if number and origin is RevisionOrigin.EDIT else lineage,
        lineage_id=lineage,
        document_id=chunk.document_id,
        base_id=chunk.base_id,
        tenant_id=chunk.tenant_id,
        revision=number,
        origin=origin,
        content=content,
        created_at=NOW,
        **values,
    )


PARAGRAPHS = st.lists(st.sampled_from(["Один.", "Два слова здесь.", "Три " * 20, "x" * 90]), min_size=1, max_size=8)


@given(PARAGRAPHS, st.booleans())
def test_ids_are_those_of_the_copys_own_parse(texts: list[str], parents: bool) -> None:
    """Equal chunks too: they are told apart by their number."""
    old, new = parse(texts, OLD, parents=parents), parse(texts, NEW, parents=parents)
    ids = new_ids(old, [], "old", "new")
    assert [ids[chunk.chunk_id] for chunk in old] == [chunk.chunk_id for chunk in new]
    assert copied(old, ids, NEW, {}) == new


@given(PARAGRAPHS, st.integers(0, 30), st.sampled_from([RevisionOrigin.EDIT, RevisionOrigin.DELETED]))
def test_edits_of_the_copy_are_found_again_by_its_own_parse(texts: list[str], at: int, origin: RevisionOrigin) -> None:
    old = parse(texts, OLD)
    chunk = old[at % len(old)]
    said = "Исправлено." if origin is RevisionOrigin.EDIT else chunk.content
    states = [state(chunk, 0, RevisionOrigin.PARSER, chunk.content), state(chunk, 1, origin, said)]
    stands = applied(old, states).chunks
    ids = new_ids(stands, states, "old", "new")
    copies = copied(stands, ids, NEW, {})
    again = applied(parse(texts, NEW), copied_states(states, ids, NEW))
    assert again.lost == ()
    assert [(one.chunk_id, one.content) for one in again.chunks] == [(one.chunk_id, one.content) for one in copies]


def test_questions_follow_their_chunk_and_tags_get_their_new_ids() -> None:
    (chunk,) = parse(["Один."], OLD)
    form = replace(
        chunk,
        chunk_id=form_id(chunk.chunk_id, "Сколько?"),
        content="Сколько?",
        chunk_type=ChunkType.QUESTION,
        parent_chunk_id=chunk.chunk_id,
        tag_ids=("a", "b"),
    )
    ids = new_ids([chunk, form], [], "old", "new")
    made, asked = copied([chunk, form], ids, NEW, {"a": "a2"})
    assert asked.chunk_id == form_id(made.chunk_id, "Сколько?")
    assert (asked.parent_chunk_id, asked.tag_ids) == (made.chunk_id, ("a2",))
    assert (asked.document_id, asked.base_id) == ("new", "kb-2")
