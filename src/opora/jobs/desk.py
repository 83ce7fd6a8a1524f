"""What the enrichment of one document works at: its text, the model that is asked, and what may still be spent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from opora.domain.enrichment import Enrichment, EnrichmentStep
from opora.domain.errors import OporaError
from opora.domain.knowledge import Chunk, Document, KnowledgeBase
from opora.domain.scope import Scope
from opora.domain.work import Work
from opora.jobs.ground import Ground
from opora.ports import ChatMessage, ChatModel, ChatOptions, Repositories
from opora.prompt.escape import escape_text
from opora.prompt.library import LANGUAGE_NAMES, template_text
from opora.prompt.placeholders import render
from opora.text.token_count import estimate_tokens

OPTIONS = ChatOptions(temperature=0.2, max_tokens=1_024)
SPENT = "The token budget of the document is spent."


class BudgetSpent(OporaError):
    """The next call would go beyond what the document may cost."""

    code = "budget_spent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """``chunks`` are those of the document's own text, in order; ``language`` is that of its text."""

    ground: Ground
    work: Work
    scope: Scope
    base: KnowledgeBase
    document: Document
    chunks: tuple[Chunk, ...]
    model: ChatModel
    language: str

    async def ask(
        self, template: str, values: Mapping[str, str], state: Enrichment, *, calls: int = 1
    ) -> tuple[str, Enrichment]:
        """The model's reply, and the state with its cost. Raises `BudgetSpent` before a call that can't be afforded.

        ``calls`` is how many like this one are made at once: all of them must fit.
        """
        text = template_text(template, language=self.language)
        filled = {name: escape_text(value) for name, value in values.items()}
        prompt = render(text, {**filled, "language": LANGUAGE_NAMES.get(self.language, LANGUAGE_NAMES["en"])})
        asked = estimate_tokens(prompt)
        limit = self.base.enrichment.token_budget
        if limit and state.tokens + (asked + OPTIONS.max_tokens) * calls > limit:
            raise BudgetSpent(SPENT)
        pieces = [
            delta.content + delta.thinking
            async for delta in self.model.stream([ChatMessage(role="user", content=prompt)], OPTIONS)
        ]
        reply = "".join(pieces)
        return reply, replace(state, tokens=state.tokens + asked + estimate_tokens(reply))

    async def save(self, stored: Repositories, state: Enrichment, *, done: EnrichmentStep | None = None) -> Enrichment:
        """Keep how far it came, in the transaction that holds what was made."""
        await self.ground.hold(stored, self.work)
        if done is not None:
            state = replace(state, done=(*state.done, done))
        await stored.enrichments.put(self.scope, self.base.base_id, state)
        return state
