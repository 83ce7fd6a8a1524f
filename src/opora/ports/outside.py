"""What the pipeline asks of things that an installation may have beside its documents: web, graph, table analysis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

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


class EntityExtractor(Protocol):
    async def extract(self, query: str) -> Sequence[str]:
        """Names of the entities that a question speaks of."""
        ...


class EntityGraph(Protocol):
    async def chunk_ids(self, scope: Scope, entities: Sequence[str]) -> Sequence[str]:
        """Chunks in which the entities, or what they are related to, stand; nearest first.

        The graph holds what can be rebuilt: an id that it gives may be gone, switched off, or out of scope."""
        ...


class TableAnalyst(Protocol):
    async def analyse(self, scope: Scope, question: str, document_id: str) -> str:
        """What a computation over a table file says to the question; '' when it needs none."""
        ...
