"""Turns domain values into JSON text for a column and back; nothing is written ''."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from opora.domain.codec import build, plain
from opora.domain.conversation import CitationCheck
from opora.domain.knowledge import Box, Place
from opora.domain.search import SearchResult

T = TypeVar("T")

NO_PLACE = Place()


def dump(value: Any) -> str:
    """Compact JSON in the characters themselves; an empty mapping or list is the empty text.

    NaN and infinity raise `ValueError`: they are no JSON, and no client could read the row that holds one.
    """
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")) if value else ""


def load_mapping(text: str) -> Mapping[str, Any]:
    return json.loads(text) if text else {}


class Unread(Mapping[str, Any]):
    """A long mapping that few readers look into: its text is read when somebody does."""

    __slots__ = ("_text", "_values")

    def __init__(self, text: str) -> None:
        self._text = text
        self._values: Mapping[str, Any] | None = None

    def _read(self) -> Mapping[str, Any]:
        if self._values is None:
            self._values = load_mapping(self._text)
        return self._values

    def __getitem__(self, name: str) -> Any:
        return self._read()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())


def dump_results(results: Sequence[SearchResult]) -> str:
    return dump([plain(result) for result in results])


def load_results(text: str) -> tuple[SearchResult, ...]:
    return tuple(build(SearchResult, item) for item in json.loads(text)) if text else ()


def dump_value(value: Any) -> str:
    """A dataclass; None, and one that holds only defaults, is the empty text."""
    return "" if value is None else dump(plain(value))


def load_value(kind: type[T], text: str) -> T | None:
    return build(kind, json.loads(text)) if text else None


def dump_citations(citations: Sequence[CitationCheck]) -> str:
    return dump([plain(citation) for citation in citations])


def load_citations(text: str) -> tuple[CitationCheck, ...]:
    return tuple(build(CitationCheck, item) for item in json.loads(text)) if text else ()


def dump_place(place: Place) -> str:
    """Lists by position: there is one place a chunk, and search reads hundreds of them."""
    if place == NO_PLACE:
        return ""
    boxes = [[b.page, b.x0, b.y0, b.x1, b.y1] for b in place.boxes]
    values: list[Any] = [place.start, place.end, list(place.heading_path), place.page, place.page_end, boxes]
    values += [place.sheet, place.row, place.row_end]
    while values[-1] in (None, "", []):
        values.pop()
    return dump(values)


def load_place(text: str) -> Place:
    if not text:
        return NO_PLACE
    values = json.loads(text)
    values += [0, 0, (), None, None, (), "", None, None][len(values) :]
    start, end, heading, page, page_end, boxes, sheet, row, row_end = values
    return Place(
        start=start,
        end=end,
        heading_path=tuple(heading),
        page=page,
        page_end=page_end,
        boxes=tuple(Box(page=p, x0=x0, y0=y0, x1=x1, y1=y1) for p, x0, y0, x1, y1 in boxes),
        sheet=sheet,
        row=row,
        row_end=row_end,
    )


TAG_END = "\x1f"


def dump_tags(tag_ids: Sequence[str]) -> str:
    """Tags between separators, so that SQL can look for a whole one."""
    return TAG_END + TAG_END.join(tag_ids) + TAG_END if tag_ids else ""


def load_tags(text: str) -> tuple[str, ...]:
    return tuple(text[1:-1].split(TAG_END)) if text else ()
