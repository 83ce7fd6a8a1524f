"""Tier one: a document's own structure, as stretches (sections, tables, long code) and the places between parts."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from opora.domain.knowledge import BLOCK_JOIN, Block, BlockKind
from opora.ingest.split.code import code_stretch
from opora.ingest.split.cuts import WEAKER, Boundaries, boundaries
from opora.ingest.split.outline import Outline
from opora.ingest.split.protect import Span, merged, protected_spans
from opora.ingest.split.stretch import Part, Room, Stretch
from opora.ingest.split.table import row_begins

_WHOLE = frozenset({BlockKind.CODE, BlockKind.FORMULA})
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*")
_ITEM = re.compile(r"\n(?=[^\S\n]{0,12}(?:[-*+•]|\d{1,4}[.)])\s)")
_LINE = re.compile(r"\n")
_Section = list[tuple[int, str, Block]]
"""Start of a block in the document, the blank blocks skipped before it (as text), and the block."""


def stretches(blocks: Sequence[Block], *, cap: int) -> Iterator[Stretch]:
    """The document as stretches in reading order; every block that is not blank is in exactly one."""
    outline = Outline()
    section: _Section = []
    path: tuple[str, ...] = ()
    offset, skipped = 0, ""
    for block in blocks:
        start, offset = offset, offset + len(block.text) + len(BLOCK_JOIN)
        if not block.text or block.text.isspace():
            skipped += block.text + BLOCK_JOIN
            continue
        gap, skipped = skipped, ""
        block_path = outline.path_of(block)
        if section and _breaks(section, block, path, block_path):
            yield _stretch(section, path, cap)
            section = []
        path = block_path
        is_table = block.kind is BlockKind.TABLE
        is_long_code = block.kind is BlockKind.CODE and len(block.text) > cap
        if section and (is_long_code or (is_table and not _is_headings(section))):
            yield _stretch(section, path, cap)
            section = []
        if is_long_code:
            yield code_stretch(block, start, path)
            continue
        section.append((start, gap, block))
        if is_table:
            yield _stretch(section, path, cap)
            section = []
    if section:
        yield _stretch(section, path, cap)


def marks(stretch: Stretch, begin: int, end: int, _room: Room) -> Boundaries:
    """Between blocks, paragraphs, table rows and lines of long code; between list items where none of these is left."""
    if stretch.rows:
        positions = stretch.rows[max(1, bisect_right(stretch.rows, begin)) : bisect_left(stretch.rows, end)]
        items: set[int] = set()
    elif stretch.is_cut_code:
        positions = [match.end() for match in _LINE.finditer(stretch.text, begin, end)]
        items = set()
    else:
        positions, items = _between_blocks(stretch, begin, end)
    inside = [place for place in positions if begin < place < end and not stretch.is_shielded(place)]
    found = boundaries(stretch.text, inside, begin)
    if not items:
        return found
    weighed = [power + WEAKER * (place in items) for place, power in zip(inside, found.strengths, strict=True)]
    return Boundaries(positions=inside, strengths=weighed)


def _between_blocks(stretch: Stretch, begin: int, end: int) -> tuple[list[int], set[int]]:
    positions: list[int] = []
    items: set[int] = set()
    before: BlockKind | None = None
    for part in stretch.parts_in(begin, end):
        kind = part.block.kind
        if before is not None and before is not BlockKind.HEADING:
            positions.append(part.begin)
        before = kind
        if kind in _WHOLE or kind is BlockKind.HEADING or "\n" not in part.block.text:
            continue
        blank_lines = {match.end() for match in _BLANK_LINE.finditer(stretch.text, part.begin, part.end)}
        starts = {match.end() for match in _ITEM.finditer(stretch.text, part.begin, part.end)}
        items |= starts - blank_lines
        positions += sorted(starts | blank_lines)
    return positions, items


def _breaks(section: _Section, block: Block, path: tuple[str, ...], block_path: tuple[str, ...]) -> bool:
    """A section ends where its headings or its sheet change; headings without text of their own stay with the next."""
    if block.place.sheet != section[-1][2].place.sheet:
        return True
    if block.kind is BlockKind.HEADING:
        return not (_is_headings(section) and block_path[: len(path)] == path and len(block_path) > len(path))
    return block_path != path


def _is_headings(section: _Section) -> bool:
    return section[-1][2].kind is BlockKind.HEADING


def _stretch(section: _Section, path: tuple[str, ...], cap: int) -> Stretch:
    base = section[0][0]
    pieces: list[str] = []
    parts: list[Part] = []
    for start, gap, block in section:
        if parts:
            pieces += [BLOCK_JOIN, gap]
        pieces.append(block.text)
        parts.append(Part(begin=start - base, end=start - base + len(block.text), block=block))
    last = parts[-1]
    is_table = last.block.kind is BlockKind.TABLE
    return Stretch(
        text="".join(pieces),
        start=base,
        parts=tuple(parts),
        begins=[part.begin for part in parts],
        path=path,
        headings=sum(1 for part in parts if part.block.kind is BlockKind.HEADING),
        shields=_shields(parts, cap),
        overlaps=not is_table,
        rows=row_begins(last.block, last.begin) if is_table else [],
    )


def _shields(parts: Sequence[Part], cap: int) -> list[Span]:
    found: list[Span] = []
    for number, part in enumerate(parts):
        kind = part.block.kind
        if kind is BlockKind.HEADING:
            # A heading keeps the blank before what it stands over, so that the two are not cut apart.
            follower = parts[number + 1].begin if number + 1 < len(parts) else part.end
            found.append((part.begin, follower))
        elif kind in _WHOLE:
            found.append((part.begin, part.end))
        else:
            found += [(begin + part.begin, end + part.begin) for begin, end in protected_spans(part.block.text)]
    return merged((span for span in found if span[1] - span[0] <= cap), cap=cap)
