"""``chunk_rerank``, middle: wiki pages are raised where a searched base keeps a wiki."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import ClassVar

from opora.domain.knowledge import BaseType
from opora.domain.question import Draft
from opora.domain.scope import Scope
from opora.pipeline.events import EventType
from opora.pipeline.plugin import Next
from opora.pipeline.run import Run
from opora.pipeline.services import Services
from opora.rank.boosts import has_wiki_page, wiki_boosted


class WikiBoost:
    """Acts on the way back, so what the plugins inside it made of the scores is raised here."""

    name: ClassVar[str] = "wiki_boost"
    events: ClassVar[frozenset[EventType]] = frozenset({EventType.CHUNK_RERANK})

    def __init__(self, services: Services) -> None:
        self._database = services.database

    async def on_event(self, event: EventType, draft: Draft, run: Run, call_next: Next) -> Draft:
        draft = await call_next(draft)
        if not draft.ranked or not has_wiki_page(draft.ranked):
            return draft
        enabled = await self._keeps_wiki(draft.question.scope)
        return replace(draft, ranked=tuple(wiki_boosted(draft.ranked, enabled=enabled)))

    async def _keeps_wiki(self, scope: Scope) -> bool:
        """Whether any base that was searched is a wiki or has its wiki switched on."""
        owned: defaultdict[str, list[str]] = defaultdict(list)
        for ref in scope.bases:
            owned[ref.tenant_id].append(ref.base_id)
        async with self._database.read() as repositories:
            for tenant_id, base_ids in owned.items():
                bases = await repositories.bases.find(tenant_id, base_ids)
                if any(base.base_type is BaseType.WIKI or base.indexing.wiki for base in bases):
                    return True
        return False
