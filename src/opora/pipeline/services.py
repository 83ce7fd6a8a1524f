"""What the plugins of one installation work with; bootstrap fills it in once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from opora.domain.scope import Scope
from opora.domain.search import SearchRequest
from opora.domain.settings import Effective
from opora.domain.trace import Stage
from opora.ports import (
    ChatModel,
    Database,
    EntityGraph,
    ExtractiveAnswerer,
    PageReader,
    Reranker,
    TableAnalyst,
    WebSearcher,
)
from opora.retrieve.gate import OperatingPoint


class Searcher(Protocol):
    """The one funnel of retrieval (`opora.retrieve.search.Search`)."""

    async def search(self, scope: Scope, request: SearchRequest, *, settings: Effective | None = None) -> Stage: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Ports of the plugins. Without a chat model answers are quotes; without a reranker the retrieval order stands;
    what else is None is not there, and the plugins that need it pass every question on."""

    database: Database
    search: Searcher
    quoter: ExtractiveAnswerer
    chat_model: ChatModel | None = None
    vision_model: ChatModel | None = None
    """Looks at pictures where the chat model can't."""
    reranker: Reranker | None = None
    web: WebSearcher | None = None
    pages: PageReader | None = None
    graph: EntityGraph | None = None
    analyst: TableAnalyst | None = None
    gate: OperatingPoint = field(default_factory=OperatingPoint)
