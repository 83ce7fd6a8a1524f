"""``web_fetch``: the best web results get the text of their page in the place of a few words about it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import ClassVar

from opora.domain.errors import OporaError
from opora.domain.question import Draft
from opora.domain.search import MatchType, SearchResult
from opora.pipeline.events import EventType
from opora.pipeline.plugin import Next
from opora.pipeline.run import Run
from opora.pipeline.services import Services
from opora.ports import PageReader

MAX_PAGE_BYTES = 8_000


class WebFetch:
    """After ranking and before merging: only pages that are likely to stand in the prompt are paid for."""

    name: ClassVar[str] = "web_fetch"
    events: ClassVar[frozenset[EventType]] = frozenset({EventType.WEB_FETCH})

    def __init__(self, services: Services) -> None:
        self._pages = services.pages

    async def on_event(self, event: EventType, draft: Draft, run: Run, call_next: Next) -> Draft:
        values = draft.question.settings.values
        if self._pages is None or not (values.web_search_enabled and values.web_fetch_enabled) or not draft.ranked:
            return await call_next(draft)
        chosen = [result for result in draft.ranked if result.match_type is MatchType.WEB][: values.web_fetch_top_n]
        read = await asyncio.gather(*(_read(self._pages, result) for result in chosen))
        pages = {page.chunk_id: page for page, _ in read}
        warnings = tuple(warning for _, warning in read if warning)
        draft = replace(
            draft,
            ranked=tuple(pages.get(result.chunk_id, result) for result in draft.ranked),
            warnings=(*draft.warnings, *warnings),
        )
        return await call_next(draft)


async def _read(pages: PageReader, result: SearchResult) -> tuple[SearchResult, str]:
    """The result with its page's text; as it was, with a warning, where the page can't be read."""
    try:
        text = first_bytes((await pages.read(result.chunk_id)).strip(), MAX_PAGE_BYTES)
    except OporaError as error:
        return result, f"A web page was not read, its summary stands in its place: {error.message}"
    return (replace(result, content=text) if text else result), ""


def first_bytes(text: str, limit: int) -> str:
    """The longest beginning of ``text`` that takes at most ``limit`` bytes in UTF-8, whole characters only."""
    return text.encode("utf-8", "replace")[:limit].decode("utf-8", "ignore")
