"""What the child sends is checked: a broken or hostile frame is an error, never code."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opora.domain.knowledge import Block, BlockKind, Box, ParsedDocument, Place
from opora.ingest import wire

texts = st.text(alphabet=st.characters(exclude_categories=("Cs",)), max_size=30)
places = st.builds(
    Place,
    page=st.none() | st.integers(1, 9),
    page_end=st.none() | st.integers(1, 9),
    boxes=st.lists(
        st.builds(Box, page=st.integers(1, 9), **dict.fromkeys(("x0", "y0", "x1", "y1"), st.just(1.5))), max_size=2
    ).map(tuple),
    box_starts=st.lists(st.integers(0, 9), max_size=2).map(tuple),
    heading_path=st.lists(texts, max_size=2).map(tuple),
    sheet=texts,
    row=st.none() | st.integers(1, 9),
    row_end=st.none() | st.integers(1, 9),
)
plain_blocks = st.builds(
    Block,
    kind=st.sampled_from([BlockKind.PARAGRAPH, BlockKind.HEADING]),
    text=texts,
    level=st.integers(0, 6),
    place=places,
)


@st.composite
def table_blocks(draw: st.DrawFn) -> Block:
    head, rows = draw(texts), tuple(draw(st.lists(texts, min_size=1, max_size=3)))
    text = "\n".join((head, *rows) if head else rows)
    return Block(kind=BlockKind.TABLE, text=text, head=head, rows=rows, place=draw(places))


def carried(parsed: ParsedDocument) -> ParsedDocument:
    reader = wire.DocumentReader()
    for data in wire.document_frames(parsed):
        kind, length = wire.HEADER.unpack_from(data)
        assert (kind, length) == (wire.JSON_FRAME, len(data) - wire.HEADER.size)
        message = wire.message_of(data[wire.HEADER.size :])
        if "blocks" not in message:
            return reader.finish(message)
        reader.add(message)
    raise AssertionError("no last frame")


@settings(max_examples=60, deadline=None)
@given(st.lists(plain_blocks | table_blocks(), max_size=6), texts)
def test_documents_arrive_as_they_were_with_their_offsets(blocks: list[Block], title: str) -> None:
    sent = ParsedDocument(blocks=tuple(blocks), file_type="txt", title=title, metadata={"encoding": "utf-8"})
    got = carried(sent)
    assert got.text == sent.text
    assert (got.title, got.file_type, got.metadata) == (sent.title, sent.file_type, sent.metadata)
    for arrived, block in zip(got.blocks, sent.blocks, strict=True):
        assert got.text[arrived.place.start : arrived.place.end] == arrived.text
        assert (arrived.kind, arrived.level, arrived.head, arrived.rows) == (
            block.kind,
            block.level,
            block.head,
            block.rows,
        )
        assert arrived.place.boxes == block.place.boxes
        assert arrived.place.box_starts == block.place.box_starts


def test_long_documents_travel_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "BATCH_CHARS", 100)
    blocks = tuple(Block(kind=BlockKind.PARAGRAPH, text="слово " * 10) for _ in range(10))
    frames = list(wire.document_frames(ParsedDocument(blocks=blocks, file_type="txt")))
    assert len(frames) == 6
    assert carried(ParsedDocument(blocks=blocks, file_type="txt")).text.count("слово") == 100


WHERE: list[Any] = [None, None, [], [], [], "", None, None]


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"blocks": 5},
        {"blocks": [[]]},
        {"blocks": [["no such kind", "", 0, "", [], WHERE]]},
        {"blocks": [["paragraph", 5, 0, "", [], WHERE]]},
        {"blocks": [["paragraph", "", 0, "", [1], WHERE]]},
        {"blocks": [["paragraph", "", 0, "", [], ["page", *WHERE[1:]]]]},
        {"blocks": [["paragraph", "", 0, "", [], [None, None, [[1, 2]], *WHERE[3:]]]]},
    ],
)
def test_messages_of_another_shape_are_refused(message: dict[str, Any]) -> None:
    with pytest.raises(wire.WireError):
        wire.DocumentReader().add(message)


@pytest.mark.parametrize("body", [b"", b"[1]", b"\xff", b"cos\nsystem\n(S'true'\ntR."])
def test_frames_that_are_no_json_object_are_refused(body: bytes) -> None:
    with pytest.raises(wire.WireError):
        wire.message_of(body)
