"""Pages of a web search as results among the others: the address is their id."""

from __future__ import annotations

from collections.abc import Iterable

from opora.domain.knowledge import ChunkType
from opora.domain.search import MatchType, SearchResult
from opora.ports import WebPage

WEB_SOURCE = "web_search"
"""What a result's source says of it: it is of no base."""


def web_results(pages: Iterable[WebPage]) -> list[SearchResult]:
    """One result a page, in the order of the pages; an address that comes again, or says nothing, is left out."""
    results: dict[str, SearchResult] = {}
    for index, page in enumerate(pages):
        if page.url and page.snippet.strip() and page.url not in results:
            results[page.url] = SearchResult(
                chunk_id=page.url,
                base_id="",
                tenant_id="",
                document_id=page.url,
                content=page.snippet,
                title=page.title or page.url,
                source=WEB_SOURCE,
                chunk_index=index,
                chunk_type=ChunkType.WEB_SEARCH,
                match_type=MatchType.WEB,
                score=min(1.0, max(0.0, page.score)),
                metadata={"url": page.url},
            )
    return list(results.values())
