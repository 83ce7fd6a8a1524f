"""A passage in the making: the result it will be, the run of chunk indexes it covers, and how two become one."""

from __future__ import annotations

from dataclasses import dataclass, replace

from opora.domain.knowledge import Place
from opora.domain.search import SearchResult
from opora.merge.order import order_key
from opora.text.image_info import merge_image_info
from opora.text.overlap import BLOCK_GAP, join_chunk_content

CONTEXT_JOIN = " > "


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """``result`` keeps id, score and index of its best chunk; ``first`` and ``last`` are the run it covers."""

    result: SearchResult
    first: int
    last: int

    @classmethod
    def of(cls, result: SearchResult) -> Piece:
        return cls(result=result, first=result.chunk_index, last=result.chunk_index)


def fits_its_place(content: str, place: Place) -> bool:
    """Whether the offsets of a place still belong to this text: an edited one has another length."""
    return bool(content) and place.end - place.start == len(content)


def known_overlap(first: SearchResult, second: SearchResult) -> int | None:
    """Characters that two neighbours share by their places; None when a place no longer fits its text."""
    if first.document_id != second.document_id or first.place.start > second.place.start:
        return None
    if not (fits_its_place(first.content, first.place) and fits_its_place(second.content, second.place)):
        return None
    return first.place.end - second.place.start


def joined(first: Piece, second: Piece) -> Piece:
    """Two neighbours, in reading order, as one: the better one's identity, both texts, all images, one place."""
    a, b = first.result, second.result
    best, other = (a, b) if order_key(a) <= order_key(b) else (b, a)
    content = join_chunk_content(_with_heading(a, b), b.content, overlap=_overlap(a, b))
    members = dict.fromkeys((*best.sub_chunk_ids, other.chunk_id, *other.sub_chunk_ids))
    members.pop(best.chunk_id, None)
    result = replace(
        best,
        content=content,
        context=a.context or b.context,
        score=max(a.score, b.score),
        sub_chunk_ids=tuple(members),
        image_info=merge_image_info(best.image_info, other.image_info),
        place=joined_place(best.place, other.place),
        pre_chunk_id=a.pre_chunk_id,
        next_chunk_id=b.next_chunk_id if second.last >= first.last else a.next_chunk_id,
        metadata={**other.metadata, **best.metadata},
    )
    return Piece(result=result, first=min(first.first, second.first), last=max(first.last, second.last))


def absorbed(kept: Piece, other: Piece) -> Piece:
    """``kept`` with the identity of the better one, where its text says all that the other's does."""
    a, b = kept.result, other.result
    best, worse = (a, b) if order_key(a) <= order_key(b) else (b, a)
    members = dict.fromkeys((*best.sub_chunk_ids, worse.chunk_id, *worse.sub_chunk_ids))
    members.pop(best.chunk_id, None)
    result = replace(
        best,
        content=a.content,
        context=a.context,
        score=max(a.score, b.score),
        sub_chunk_ids=tuple(members),
        image_info=merge_image_info(best.image_info, worse.image_info),
        place=a.place if best is a else replace(best.place, start=a.place.start, end=a.place.end),
        pre_chunk_id=a.pre_chunk_id,
        next_chunk_id=a.next_chunk_id,
        metadata={**worse.metadata, **best.metadata},
    )
    return Piece(result=result, first=min(kept.first, other.first), last=max(kept.last, other.last))


def joined_place(best: Place, other: Place) -> Place:
    """From the first start to the last end, over the pages and rows of both, with both's boxes in reading order."""
    first, second = sorted((best, other), key=lambda place: (place.start, place.end))
    boxes = tuple(dict.fromkeys((*first.boxes, *second.boxes)))
    return replace(
        best,
        start=min(best.start, other.start),
        end=max(best.end, other.end),
        page=_least(best.page, other.page),
        page_end=_greatest(best.page_end or best.page, other.page_end or other.page),
        boxes=boxes,
        box_starts=(),
        row=_least(best.row, other.row) if best.sheet == other.sheet else best.row,
        row_end=_greatest(best.row_end, other.row_end) if best.sheet == other.sheet else best.row_end,
    )


def _overlap(first: SearchResult, second: SearchResult) -> int | None:
    """By places, unless a heading has to stand between the two."""
    return None if _missing_heading(first, second) else known_overlap(first, second)


def _with_heading(first: SearchResult, second: SearchResult) -> str:
    """The first text, followed by the second's own heading where no text and no context above would show it."""
    heading = _missing_heading(first, second)
    return f"{first.content}{BLOCK_GAP}{heading}" if heading else first.content


def _missing_heading(first: SearchResult, second: SearchResult) -> str:
    if not second.context or second.context == first.context:
        return ""
    heading = second.context.rsplit(CONTEXT_JOIN, 1)[-1]
    shown = heading in first.context or heading in first.content or heading in second.content
    return "" if shown else heading


def _least(a: int | None, b: int | None) -> int | None:
    known = [value for value in (a, b) if value is not None]
    return min(known, default=None)


def _greatest(a: int | None, b: int | None) -> int | None:
    known = [value for value in (a, b) if value is not None]
    return max(known, default=None)
