"""Edits carried over to chunks that were cut anew: laws on order, links and what is lost."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from opora.domain.knowledge import Box, Chunk, ChunkType, Place
from opora.domain.revisions import ChunkRevision, RevisionOrigin
from opora.index.edits import applied, linked, parent_with, revised, revised_id

NOW = datetime(2026, 1, 2, tzinfo=UTC)
OWNER = {"base_id": "b", "tenant_id": "t", "document_id": "d"}


def chunk(name: str, **values: object) -> Chunk:
    return Chunk(chunk_id=name, content=f"текст {name}", chunk_index=0, **OWNER, **values)


def state(lineage: str, revision: int, origin: RevisionOrigin, content: str = "", **values: object) -> ChunkRevision:
    given = {"chunk_id": f"{lineage}~{revision}" if revision else lineage, "created_at": NOW} | values
    return ChunkRevision(lineage_id=lineage, revision=revision, origin=origin, content=content, **OWNER, **given)


NAMES = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8)
WHAT = st.dictionaries(st.sampled_from("abcdefghxy"), st.sampled_from(["edit", "delete", "add"]), max_size=8)


def states_of(what: dict[str, str]) -> list[ChunkRevision]:
    found: list[ChunkRevision] = []
    for number, (name, did) in enumerate(what.items()):
        if did == "add":
            moment = NOW + timedelta(seconds=number)
            found.append(state(f"+{name}", 0, RevisionOrigin.ADDED, f"новое {name}", after=name, created_at=moment))
        else:
            origin = RevisionOrigin.EDIT if did == "edit" else RevisionOrigin.DELETED
            found += [state(name, 0, RevisionOrigin.PARSER, f"текст {name}"), state(name, 1, origin, f"правка {name}")]
    return found


@given(NAMES, WHAT)
def test_what_stands_is_edited_what_was_deleted_is_gone_what_was_added_is_there(
    names: list[str], what: dict[str, str]
) -> None:
    result = applied([chunk(name) for name in names], states_of(what))
    contents = {one.content for one in result.chunks}
    for name in names:
        did = what.get(name)
        assert (f"текст {name}" in contents) == (did in (None, "add"))
        assert (f"правка {name}" in contents) == (did == "edit")
    assert {f"новое {name}" for name, did in what.items() if did == "add"} <= contents
    assert {one.lineage_id for one in result.lost} == {n for n, did in what.items() if did == "edit" and n not in names}


@given(NAMES, WHAT)
def test_the_order_of_the_file_stays_and_numbers_and_links_have_no_gap(names: list[str], what: dict[str, str]) -> None:
    chunks = applied([chunk(name) for name in names], states_of(what)).chunks
    order = [one.content.split()[-1] for one in chunks if not one.content.startswith("новое")]
    assert order == [name for name in names if what.get(name) != "delete"]
    assert [one.chunk_index for one in chunks] == list(range(len(chunks)))
    ids = [one.chunk_id for one in chunks]
    assert [one.pre_chunk_id for one in chunks] == ["", *ids[:-1]][: len(ids)]
    assert [one.next_chunk_id for one in chunks] == [*ids[1:], ""][: len(ids)]
    for name, did in what.items():
        if did == "add" and name in names:
            at = ids.index(f"+{name}")
            assert chunks[at - 1].content.split()[-1] == name


def test_without_edits_nothing_changes() -> None:
    chunks = linked([chunk("a"), chunk("b")])
    assert list(applied(chunks, []).chunks) == chunks


def test_what_was_written_about_a_document_is_no_neighbour_of_its_text() -> None:
    chunks = linked([chunk("a"), chunk("s", chunk_type=ChunkType.SUMMARY), chunk("b")])
    assert [(one.chunk_id, one.pre_chunk_id, one.next_chunk_id) for one in chunks] == [
        ("a", "", "b"),
        ("s", "", ""),
        ("b", "a", ""),
    ]


def test_a_parent_changes_where_the_childs_words_stand_in_it() -> None:
    parent = chunk("p", chunk_type=ChunkType.PARENT_TEXT)
    assert parent_with(parent, "текст", "слова").content == "слова p"
    assert parent_with(parent, "иное", "слова") == parent
    assert parent_with(parent, "", "слова") == parent


def test_ids_of_states_differ_by_lineage_number_and_words() -> None:
    ids = {revised_id("a", 1, "x"), revised_id("a", 2, "x"), revised_id("b", 1, "x"), revised_id("a", 1, "y")}
    assert len(ids) == 4
    assert revised_id("a", 1, "x") == revised_id("a", 1, "x")


def test_other_words_stand_on_no_lines_of_the_file() -> None:
    place = Place(start=5, end=9, page=2, page_end=3, boxes=(Box(page=2, x0=0, y0=0, x1=1, y1=1),), heading_path=("A",))
    first = chunk("a", place=place)
    edited = revised(first, chunk_id="b", content="стало")
    assert edited.place == Place(start=5, end=5, page=2, page_end=3, heading_path=("A",))
    assert revised(edited, chunk_id="c", content=first.content).place.boxes == ()
    assert revised(first, chunk_id="c", content=first.content).place == place
