"""What the pipeline asks of things that an installation may have beside its documents: web, graph, table analysis."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from opora.domain.graph import ChunkFacts
from opora.domain.scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class WebPage:
    """A page as a web search shows it. ``score`` is in [0, 1]."""

    url: str
    title: str
    snippet: str
    score: float = 0.0


class WebSearcher(Protocol):
    async def search(self, query: str) -> Sequence[WebPage]:
        """Pages of the open web, best first; raises an `OporaError` when the provider fails."""
        ...


class PageReader(Protocol):
    async def read(self, url: str) -> str:
        """The main text of a page; raises an `OporaError` for an error page, another type and an address refused."""
        ...


class EntityGraph(Protocol):
    """Which chunks speak of an entity. It holds what can be made anew from the chunks; an outage raises `Unavailable`.

    A namespace is a document in its base: that is what is replaced and taken out."""

    async def chunk_ids(self, scope: Scope, entities: Sequence[str]) -> Sequence[str]:
        """Chunks in which the entities, or what they are related to, stand; nearest first.

        An id that the graph gives may be gone, switched off, or out of scope: the database decides what is shown."""
        ...

    async def replace_document(
        self, scope: Scope, base_id: str, document_id: str, chunks: Sequence[ChunkFacts]
    ) -> None:
        """Hold what these chunks say of the document, and nothing else of it. May be done twice."""
        ...

    async def delete_documents(self, scope: Scope, base_id: str, document_ids: Collection[str]) -> None: ...

    async def delete_base(self, scope: Scope, base_id: str) -> None: ...

    async def check(self) -> str:
        """A sentence on where it is; raises `Unavailable`."""
        ...

    async def close(self) -> None: ...


class TableAnalyst(Protocol):
    async def analyse(self, scope: Scope, question: str, document_id: str) -> str:
        """What a computation over a table file says to the question; '' when it needs none."""
        ...
