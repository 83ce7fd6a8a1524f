"""A copy's chunks have the ids that the parse of the copy gives them, edits and questions included."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from opora.domain.bases import copied_id
from opora.domain.forms import form_id
from opora.domain.knowledge import Block, BlockKind, Chunk, ChunkingConfig, ChunkType, Document, ParsedDocument
from opora.domain.revisions import ChunkRevision, RevisionOrigin
from opora.index.copies import copied, copied_document, copied_states, new_ids
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


DOCUMENT = Document(
    document_id="d",
    base_id="b",
    tenant_id="t",
    title="",
    file_name="a.txt",
    file_type="txt",
    file_size=1,
    file_hash="h",
    tag_ids=("x", "gone"),
    created_at=NOW,
    updated_at=NOW,
)
CONFIGS = [
    ChunkingConfig(size=60, overlap=10),
    ChunkingConfig(parent_child=True, parent_size=200, child_size=60, child_overlap=10),
]
blocks = st.lists(
    st.builds(
        lambda kind, words, level: Block(kind=kind, text=" ".join(words), level=level),
        st.sampled_from([BlockKind.HEADING, BlockKind.PARAGRAPH]),
        st.lists(st.sampled_from(["проезд.", "отпуск", "касса."]), min_size=1, max_size=40),
        st.integers(1, 3),
    ),
    min_size=1,
    max_size=12,
)


def split(parsed: tuple[Block, ...], config: ChunkingConfig, owner: Document) -> list[Chunk]:
    return StructureSplitter().split(ParsedDocument(blocks=parsed, file_type="txt"), config, owner=owner)


@given(blocks, st.sampled_from(CONFIGS))
def test_a_copy_is_what_the_splitter_makes_of_the_new_document(parsed: list[Block], config: ChunkingConfig) -> None:
    chunks = split(tuple(parsed), config, DOCUMENT)
    copy = copied_document(DOCUMENT, chunks, [], base_id="c", tags={"x": "y"})
    assert copy.document == replace(DOCUMENT, document_id=copied_id("c", "d"), base_id="c", tag_ids=("y",))
    assert list(copy.chunks) == split(tuple(parsed), config, copy.document)
    assert copy.ids == {old.chunk_id: new.chunk_id for old, new in zip(chunks, copy.chunks, strict=True)}


@given(blocks, st.data())
def test_corrections_hold_in_a_copy_that_is_read_anew(parsed: list[Block], data: st.DataObject) -> None:
    """Applying the copied states to the copy's own parse gives the copy of what the source shows."""
    made = split(tuple(parsed), CONFIGS[0], DOCUMENT)
    if not made:
        return
    states = []
    for chunk in data.draw(st.lists(st.sampled_from(made), unique_by=lambda one: one.chunk_id, max_size=3)):
        first = _state(chunk, 0, RevisionOrigin.PARSER, chunk.chunk_id, chunk.content)
        what = data.draw(st.sampled_from(RevisionOrigin))
        if what is RevisionOrigin.DELETED:
            states += [first, _state(chunk, 1, what, chunk.chunk_id, chunk.content)]
        elif what is RevisionOrigin.ADDED:
            added = f"added-{chunk.chunk_id}"
            states.append(replace(_state(chunk, 0, what, added, "новое"), lineage_id=added, after=chunk.chunk_id))
        else:
            words = "исправлено"
            states += [
                first,
                _state(chunk, 1, RevisionOrigin.EDIT, revised_id(chunk.chunk_id, 1, words), words),
            ]
    shown = applied(made, states).chunks
    copy = copied_document(DOCUMENT, shown, states, base_id="c", tags={"x": "y"})
    anew = applied(split(tuple(parsed), CONFIGS[0], copy.document), copy.revisions)
    assert anew.lost == ()
    said = [(one.chunk_id, one.content, one.pre_chunk_id, one.next_chunk_id) for one in anew.chunks]
    assert said == [(one.chunk_id, one.content, one.pre_chunk_id, one.next_chunk_id) for one in copy.chunks]


def _state(chunk: Chunk, revision: int, origin: RevisionOrigin, chunk_id: str, content: str) -> ChunkRevision:
    return ChunkRevision(
        chunk_id=chunk_id,
        lineage_id=chunk.chunk_id,
        document_id=chunk.document_id,
        base_id=chunk.base_id,
        tenant_id=chunk.tenant_id,
        revision=revision,
        origin=origin,
        content=content,
        context=chunk.context,
        created_at=NOW,
    )


def test_question_forms_follow_their_owner() -> None:
    owner = Chunk(chunk_id="e", base_id="b", tenant_id="t", document_id="d", chunk_index=1, content="Ответ")
    owner = replace(owner, chunk_type=ChunkType.FAQ)
    form = replace(
        owner,
        chunk_id=form_id("e", "Где?"),
        chunk_type=ChunkType.QUESTION,
        content="Где?",
        parent_chunk_id="e",
        tag_ids=("x", "gone"),
    )
    lone = replace(form, chunk_id=form_id("nobody", "Где?"), parent_chunk_id="nobody")
    copy = copied_document(DOCUMENT, [owner, form, lone], [], base_id="c", tags={"x": "y"})
    new_owner, new_form = copy.chunks
    assert new_owner.chunk_id not in ("e", "")
    assert (new_form.chunk_id, new_form.parent_chunk_id) == (form_id(new_owner.chunk_id, "Где?"), new_owner.chunk_id)
    assert new_form.tag_ids == ("y",)


def test_two_copies_share_no_id_and_one_copy_has_the_same_at_every_try() -> None:
    chunks = split((Block(kind=BlockKind.PARAGRAPH, text="проезд."),), CONFIGS[0], DOCUMENT)
    ids = [copied_document(DOCUMENT, chunks, [], base_id=base, tags={}).ids for base in ("c", "c", "e")]
    assert ids[0] == ids[1]
    assert not set(ids[0].values()) & set(ids[2].values())


def test_many_equal_chunks_are_told_apart() -> None:
    text = Block(kind=BlockKind.PARAGRAPH, text="проезд. " * 2000)
    config = ChunkingConfig(size=60, overlap=0)
    chunks = split((text,), config, DOCUMENT)
    copy = copied_document(DOCUMENT, chunks, [], base_id="c", tags={"x": "y"})
    assert list(copy.chunks) == split((text,), config, copy.document)


def test_older_states_find_their_chunk_by_the_headings_that_there_are() -> None:
    heading = Block(kind=BlockKind.HEADING, text="Касса", level=1)
    parts = tuple(Block(kind=BlockKind.PARAGRAPH, text=f"проезд {n}. " * 8) for n in range(4))
    made = split((heading, *parts), CONFIGS[0], DOCUMENT)
    gone = next(one for one in made if one.context)
    first = replace(_state(gone, 0, RevisionOrigin.PARSER, gone.chunk_id, gone.content), context="")
    states = [first, replace(first, revision=1, origin=RevisionOrigin.DELETED)]
    copy = copied_document(DOCUMENT, applied(made, states).chunks, states, base_id="c", tags={})
    anew = applied(split((heading, *parts), CONFIGS[0], copy.document), copy.revisions)
    assert len(anew.chunks) == len(made) - 1
