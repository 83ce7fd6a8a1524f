"""Reads all chunks of a document, step by step."""

from __future__ import annotations

from dataclasses import replace

from opora.domain.knowledge import Chunk
from opora.domain.scope import Scope
from opora.ports import Page, Repositories

READ_STEP = 500


async def all_chunks(stored: Repositories, scope: Scope, document_id: str, *, with_forms: bool = False) -> list[Chunk]:
    """In their order, switched off or not; ``with_forms`` with the forms of questions."""
    found: list[Chunk] = []
    page = Page(page=1, page_size=READ_STEP)
    whole = replace(scope, include_disabled=True)
    while items := (await stored.chunks.browse(whole, document_id, page, with_forms=with_forms)).items:
        found += items
        page = replace(page, page=page.page + 1)
    return found
