"""Use cases on what stands between the installation's settings and a question: those of the tenant and its agents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from opora.chat.settings import checked
from opora.domain.agents import QUICK_ANSWER, Agent, TenantSettings
from opora.domain.errors import Forbidden, InvalidInput
from opora.domain.scope import Scope
from opora.domain.settings import RetrievalSettings
from opora.ports import Database
from opora.prompt.overrides import checked_text, entry

_SETTABLE = {field.name for field in fields(RetrievalSettings)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Layers:
    """What applies to one question between the installation and the request."""

    tenant: Mapping[str, Any] = field(default_factory=dict)
    agent: Mapping[str, Any] = field(default_factory=dict)
    prompts: Mapping[str, str] = field(default_factory=dict)
    """Texts by template id, the agent's above the tenant's."""
    chosen: Agent | None = None


NO_LAYERS = Layers()


class LayeredSettings:
    """Everybody of a tenant reads them; administrators change them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, scope: Scope, agent_id: str = "") -> Layers:
        """Raises `NotFound` for an agent that is not there."""
        async with self._database.read() as stored:
            tenant = await stored.agents.settings(scope)
            agent = await stored.agents.get(scope, agent_id) if agent_id not in ("", QUICK_ANSWER) else None
        return Layers(
            tenant=tenant.retrieval,
            agent=agent.settings if agent else {},
            prompts={**tenant.prompts, **(agent.prompts if agent else {})},
            chosen=agent,
        )

    async def tenant(self, scope: Scope) -> TenantSettings:
        async with self._database.read() as stored:
            return await stored.agents.settings(scope)

    async def set_retrieval(self, scope: Scope, changes: Mapping[str, Any]) -> TenantSettings:
        """Change some of the settings; None takes a tenant's own value away. The whole must make sense."""
        check_admin(scope)
        async with self._database.begin() as stored:
            before = await stored.agents.settings(scope)
            settings = replace(before, retrieval=proposed(before.retrieval, changes))
            await stored.agents.put_settings(scope, settings)
        return settings

    async def set_prompt(self, scope: Scope, template_id: str, text: str | None) -> TenantSettings:
        """A text in the place of a built-in one; None takes it away."""
        check_admin(scope)
        entry(template_id)
        own = None if text is None else checked_text(template_id, text)
        async with self._database.begin() as stored:
            before = await stored.agents.settings(scope)
            prompts = {name: kept for name, kept in before.prompts.items() if name != template_id}
            settings = replace(before, prompts=prompts if own is None else {**prompts, template_id: own})
            await stored.agents.put_settings(scope, settings)
        return settings


def proposed(before: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """A layer with changes on it, checked; raises `InvalidInput` naming what does not fit."""
    for name in changes:
        if name not in _SETTABLE:
            checked({name: 0})
    merged = {name: value for name, value in {**before, **changes}.items() if value is not None}
    result = checked(merged)
    weights = [result.get(name, getattr(RetrievalSettings(), name)) for name in ("vector_weight", "keyword_weight")]
    if not any(weights):
        raise InvalidInput.of("vector_weight", "One of the two weights must be above 0.")
    return result


def check_admin(scope: Scope) -> None:
    if not scope.principal.is_admin:
        raise Forbidden("Only administrators change settings of the tenant and agents.")
