"""Leads rows that are question forms to their owners, before anything is ranked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import replace

from opora.domain.forms import is_form, owner_of_form
from opora.domain.search import EngineHit

Living = Callable[[Collection[str]], Awaitable[set[str]]]
"""Which of these rows the database still holds."""


async def to_owners(hits: Sequence[EngineHit], living: Living) -> Sequence[EngineHit]:
    """Each chunk once, by the best of the rows that lead to it, in the order of the list.

    A form that the database no longer holds leads nowhere, though its owner lives on: its question was taken back.
    """
    forms = [hit.chunk_id for hit in hits if is_form(hit.chunk_id)]
    if not forms:
        # A document that is on its way from one base to another has its rows in both.
        return hits if len({hit.chunk_id for hit in hits}) == len(hits) else owned(hits, ())
    return owned(hits, set(forms) - await living(forms))


def owned(hits: Sequence[EngineHit], gone: Collection[str]) -> list[EngineHit]:
    best: dict[str, EngineHit] = {}
    for hit in hits:
        owner = owner_of_form(hit.chunk_id)
        if hit.chunk_id not in gone and owner not in best:
            best[owner] = hit if owner == hit.chunk_id else replace(hit, chunk_id=owner)
    return list(best.values())
