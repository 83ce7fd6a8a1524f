"""Use cases on what stands between the installation's settings and a question: those of the tenant, and agents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from opora.chat.settings import checked
from opora.domain.agents import QUICK_ANSWER, Agent, TenantSettings
from opora.domain.errors import Forbidden, InvalidInput
from opora.domain.scope import Scope
from opora.domain.settings import RetrievalSettings
from opora.ports import Clock, Database, NewId
from opora.prompt.overrides import checked_text, checked_texts, entry
from opora.text.names import clean_label

MAX_NAME_CHARS = 100
MAX_DESCRIPTION_CHARS = 2_000
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

    def __init__(self, database: Database, *, clock: Clock, new_id: NewId) -> None:
        self._database = database
        self._clock = clock
        self._new_id = new_id

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
        _check_admin(scope)
        async with self._database.begin() as stored:
            before = await stored.agents.settings(scope)
            settings = replace(before, retrieval=proposed(before.retrieval, changes))
            await stored.agents.put_settings(scope, settings)
        return settings

    async def set_prompt(self, scope: Scope, template_id: str, text: str | None) -> TenantSettings:
        """A text in the place of a built-in one; None takes it away."""
        _check_admin(scope)
        entry(template_id)
        own = None if text is None else checked_text(template_id, text)
        async with self._database.begin() as stored:
            before = await stored.agents.settings(scope)
            prompts = {name: kept for name, kept in before.prompts.items() if name != template_id}
            settings = replace(before, prompts=prompts if own is None else {**prompts, template_id: own})
            await stored.agents.put_settings(scope, settings)
        return settings

    async def agents(self, scope: Scope) -> list[Agent]:
        """The built-in one first."""
        async with self._database.read() as stored:
            return [self._builtin(scope), *await stored.agents.all(scope)]

    async def agent(self, scope: Scope, agent_id: str) -> Agent:
        if agent_id == QUICK_ANSWER:
            return self._builtin(scope)
        async with self._database.read() as stored:
            return await stored.agents.get(scope, agent_id)

    async def create(self, scope: Scope, **values: Any) -> Agent:
        """``values`` are fields of `Agent`."""
        _check_admin(scope)
        now = self._clock()
        agent = _checked(
            Agent(agent_id=self._new_id(), tenant_id=scope.tenant_id, created_at=now, updated_at=now, **values)
        )
        async with self._database.begin() as stored:
            await stored.agents.add(scope, agent)
        return agent

    async def update(self, scope: Scope, agent_id: str, **changes: Any) -> Agent:
        _check_admin(scope)
        _check_own(agent_id)
        async with self._database.begin() as stored:
            before = await stored.agents.get(scope, agent_id)
            agent = _checked(replace(before, **changes, updated_at=self._clock()))
            await stored.agents.update(scope, agent)
        return agent

    async def delete(self, scope: Scope, agent_id: str) -> None:
        """What it answered stays."""
        _check_admin(scope)
        _check_own(agent_id)
        async with self._database.begin() as stored:
            await stored.agents.delete(scope, agent_id)

    def _builtin(self, scope: Scope) -> Agent:
        now = self._clock()
        return Agent(
            agent_id=QUICK_ANSWER,
            tenant_id=scope.tenant_id,
            name="Quick answer",
            description="Everything as the tenant has it.",
            is_builtin=True,
            created_at=now,
            updated_at=now,
        )


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


def _checked(agent: Agent) -> Agent:
    name = clean_label(agent.name)
    if not name:
        raise InvalidInput.of("name", "An agent needs a name.")
    if len(name) > MAX_NAME_CHARS:
        raise InvalidInput.of("name", f"An agent's name has at most {MAX_NAME_CHARS} characters.")
    if len(agent.description) > MAX_DESCRIPTION_CHARS:
        raise InvalidInput.of("description", f"A description has at most {MAX_DESCRIPTION_CHARS} characters.")
    return replace(agent, name=name, settings=proposed({}, agent.settings), prompts=checked_texts(agent.prompts))


def _check_own(agent_id: str) -> None:
    if agent_id == QUICK_ANSWER:
        raise InvalidInput.of("agent_id", "The built-in agent is not changed.", hint="Make an agent of your own.")


def _check_admin(scope: Scope) -> None:
    if not scope.principal.is_admin:
        raise Forbidden("Only administrators change settings of the tenant and agents.")
