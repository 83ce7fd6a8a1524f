"""Laws of cutting that hold for every document and every size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opora.domain.knowledge import Block, BlockKind, Chunk, ParsedDocument

Split = Callable[..., list[Chunk]]

WORDS = [
    *("Срок", "три дня.", "Отчёт сдан! ", "e.g.", " ", "\n", "\n\n", "报销单。", "可以；", "- пункт", "\t", "т. е."),
    *("https://a.b/c", "$$x$$", "[a](b)", "```", "# ", "1. ", "\u00a0", "e\u0301", "👩‍👩‍👧‍👦"),
    *("слово " * 30, "x" * 90),
]
texts = st.lists(st.sampled_from(WORDS), max_size=14).map("".join)
kinds = st.sampled_from([BlockKind.PARAGRAPH, BlockKind.LIST, BlockKind.CODE, BlockKind.FORMULA, BlockKind.FOOTNOTE])


@st.composite
def tables(draw: st.DrawFn) -> Block:
    head = draw(st.sampled_from(["", "имя | сумма", "a | b\n|---|---|"]))
    rows = tuple(
        draw(st.lists(st.sampled_from(["a | 1", "b | 2", "строка | " * 9, "долгая строка. " * 12]), min_size=1))
    )
    return Block(kind=BlockKind.TABLE, text="\n".join([head, *rows] if head else rows), head=head, rows=rows)


blocks = st.one_of(
    st.builds(lambda kind, text: Block(kind=kind, text=text), kinds, texts),
    st.builds(
        lambda level, text: Block(kind=BlockKind.HEADING, text="#" * level + " " + text, level=level),
        st.integers(1, 4),
        st.sampled_from(["Отпуск", "Срок", "Нормы и суммы", "附录"]),
    ),
    tables(),
)
documents = st.lists(blocks, max_size=7).map(lambda found: ParsedDocument(blocks=tuple(found), file_type="md"))
sizes = st.sampled_from([(512, 80), (120, 30), (64, 0), (20, 5), (7, 3)])


def squeezed(text: str) -> str:
    return "".join(text.split())


@settings(max_examples=150, deadline=None)
@given(document=documents, size=sizes)
def test_the_chunks_own_stretches_join_to_the_text(
    split: Split, document: ParsedDocument, size: tuple[int, int]
) -> None:
    chunks = split(document, size=size[0], overlap=size[1])
    at, own = 0, []
    for chunk in chunks:
        assert chunk.place.end > at, "nothing new in this chunk"
        assert not document.text[at : chunk.place.start].strip(), "something is lost between two chunks"
        own.append(document.text[max(at, chunk.place.start) : chunk.place.end])
        at = chunk.place.end
    assert squeezed("".join(own)) == squeezed(document.text)
    assert all(squeezed(part) for part in own)


@settings(max_examples=150, deadline=None)
@given(document=documents, size=sizes)
def test_chunks_keep_to_their_size_and_show_their_place(
    split: Split, document: ParsedDocument, size: tuple[int, int]
) -> None:
    for chunk in split(document, size=size[0], overlap=size[1]):
        shown = document.text[chunk.place.start : chunk.place.end]
        assert chunk.content == shown or chunk.content.endswith(shown)
        assert shown.strip()
        is_whole = any(sign in shown for sign in ("$$", "](", "://", "```", "#")) or any(
            shown.strip() in block.text
            for block in document.blocks
            if block.kind in (BlockKind.CODE, BlockKind.FORMULA)
        )
        assert len(chunk.content) <= size[0] or is_whole


@settings(max_examples=100, deadline=None)
@given(document=documents, size=sizes)
def test_overlap_is_bounded_and_holds_no_whole_chunk(
    split: Split, document: ParsedDocument, size: tuple[int, int]
) -> None:
    for one, two in pairwise(split(document, size=size[0], overlap=size[1])):
        assert one.place.end - two.place.start <= size[1]
        assert one.place.start < two.place.start
        assert one.place.end < two.place.end


@settings(max_examples=100, deadline=None)
@given(document=documents, size=sizes, family=st.booleans())
def test_ids_are_unique_and_links_join(
    split: Split, document: ParsedDocument, size: tuple[int, int], family: bool
) -> None:
    chunks = split(
        document, size=size[0], overlap=size[1], parent_child=family, child_size=size[0], child_overlap=size[1]
    )
    assert len({chunk.chunk_id for chunk in chunks}) == len(chunks)
    assert sorted(chunk.chunk_index for chunk in chunks) == list(range(len(chunks)))
    searched = [chunk for chunk in chunks if chunk.is_searched]
    assert [chunk.chunk_index for chunk in searched] == list(range(len(searched)))
    assert all(one.next_chunk_id == two.chunk_id for one, two in pairwise(searched))
    assert all(two.pre_chunk_id == one.chunk_id for one, two in pairwise(searched))
    if searched:
        assert (searched[0].pre_chunk_id, searched[-1].next_chunk_id) == ("", "")
    assert split(
        document, size=size[0], overlap=size[1], parent_child=family, child_size=size[0], child_overlap=size[1]
    ) == chunks  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(document=documents, size=sizes)
def test_line_ends_change_nothing_but_offsets(split: Split, document: ParsedDocument, size: tuple[int, int]) -> None:
    def with_returns(text: str) -> str:
        return text.replace("\n", "\r\n")

    windows = replace(
        document,
        blocks=tuple(
            replace(
                block,
                text=with_returns(block.text),
                head=with_returns(block.head),
                rows=tuple(map(with_returns, block.rows)),
            )
            for block in document.blocks
        ),
    )
    lf = split(document, size=size[0], overlap=size[1])
    crlf = split(windows, size=size[0], overlap=size[1])
    assert [(chunk.chunk_id, chunk.content, chunk.context) for chunk in crlf] == [
        (chunk.chunk_id, chunk.content, chunk.context) for chunk in lf
    ]
    for one, two in zip(lf, crlf, strict=True):
        shown = windows.text[two.place.start : two.place.end]
        assert shown.replace("\r\n", "\n") == document.text[one.place.start : one.place.end]


@pytest.mark.parametrize(
    "sign", ["```\n", "````\n```\n", "$$ ", "[a", "[[a](b", "https://", "((", "~~~ x\n", "[a](", "# \n"]
)
def test_hostile_marks_are_read_in_one_pass(split: Split, sign: str) -> None:
    """Quadratic work on such a run would take minutes."""
    text = (sign * 40_000).strip()
    assert squeezed("".join(chunk.content for chunk in split(text, overlap=0))) == squeezed(text)
