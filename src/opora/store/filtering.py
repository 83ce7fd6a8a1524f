"""Asks a filter of documents as they come from the database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from opora.domain.filters import Filter
from opora.store.codec import load_mapping

_NOTHING: Mapping[str, Any] = {}


class Known(Mapping[str, Any]):
    """A document as filters see it; its metadata is read when one asks for it."""

    __slots__ = ("_own", "_read", "_text")

    def __init__(self, metadata: str, own: Mapping[str, Any]) -> None:
        self._text = metadata
        self._own = own
        self._read: Mapping[str, Any] | None = None

    def __getitem__(self, name: str) -> Any:
        return self._own[name] if name in self._own else self._metadata()[name]

    def __contains__(self, name: object) -> bool:
        return name in self._own or name in self._metadata()

    def __iter__(self) -> Iterator[str]:
        return iter((*self._own, *self._metadata()))

    def __len__(self) -> int:
        return len(self._own) + len(self._metadata())

    def _metadata(self) -> Mapping[str, Any]:
        if self._read is None:
            self._read = load_mapping(self._text)
        return self._read


def fitting(rows: Iterable[Sequence[Any]], names: Sequence[str], fits: Filter) -> frozenset[str]:
    """Ids of rows of (id, metadata, own fields by ``names``) that are let through.

    One by one, keeping nothing of those that were looked at: thousands of values would wake the collector."""
    return frozenset(
        document_id
        for document_id, metadata, *own in rows
        if fits(Known(metadata, dict(zip(names, own, strict=True)) if names else _NOTHING))
    )
