"""Use cases on agents: bundles of settings, prompts, models and knowledge bases that a question chooses by one id."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from opora.chat.choosing import Named, named_models
from opora.chat.layers import check_admin, proposed
from opora.chat.registry import ModelRegistry
from opora.domain.agents import QUICK_ANSWER, Agent
from opora.domain.errors import Conflict, InvalidInput
from opora.domain.scope import Scope
from opora.ports import Clock, Database, NewId
from opora.prompt.overrides import checked_texts
from opora.text.names import clean_label, numbered_names

MAX_NAME_CHARS = 100
MAX_DESCRIPTION_CHARS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentBases:
    """The knowledge bases that an agent asks: None for all, () for none."""

    base_ids: tuple[str, ...] | None = None
    warnings: tuple[str, ...] = ()


class Agents:
    """Everybody of a tenant reads and uses them; administrators change them."""

    def __init__(self, database: Database, registry: ModelRegistry, *, clock: Clock, new_id: NewId) -> None:
        self._database = database
        self._registry = registry
        self._clock = clock
        self._new_id = new_id

    async def all(self, scope: Scope) -> list[Agent]:
        """The built-in one first."""
        async with self._database.read() as stored:
            return [self._builtin(scope), *await stored.agents.all(scope)]

    async def get(self, scope: Scope, agent_id: str) -> Agent:
        """Raises `NotFound` for one that is not there."""
        if agent_id == QUICK_ANSWER:
            return self._builtin(scope)
        async with self._database.read() as stored:
            return await stored.agents.get(scope, agent_id)

    async def create(self, scope: Scope, **values: Any) -> Agent:
        """``values`` are fields of `Agent`. Raises `NotFound` for a model that the registry does not have."""
        check_admin(scope)
        now = self._clock()
        agent = _checked(
            Agent(agent_id=self._new_id(), tenant_id=scope.tenant_id, created_at=now, updated_at=now, **values)
        )
        await self._check_models(scope, agent)
        async with self._database.begin() as stored:
            await stored.agents.add(scope, agent)
        return agent

    async def copy(self, scope: Scope, agent_id: str, *, name: str = "") -> Agent:
        """Another agent that chooses the same; without a name, that of the first with a number behind it."""
        check_admin(scope)
        now = self._clock()
        source = await self.get(scope, agent_id)
        async with self._database.begin() as stored:
            taken = {one.name for one in await stored.agents.all(scope)} | {source.name}
            free = (one for one in numbered_names(source.name, most=MAX_NAME_CHARS) if one not in taken)
            name = name or next(free)
            agent = replace(
                source, agent_id=self._new_id(), name=name, is_builtin=False, created_at=now, updated_at=now
            )
            agent = _checked(agent)
            await stored.agents.add(scope, agent)
        return agent

    async def update(self, scope: Scope, agent_id: str, **changes: Any) -> Agent:
        """Raises `NotFound` for a model that the registry does not have."""
        check_admin(scope)
        _check_own(agent_id)
        before = await self.get(scope, agent_id)
        await self._check_models(scope, _checked(replace(before, **changes)))
        async with self._database.begin() as stored:
            before = await stored.agents.get(scope, agent_id)
            agent = _checked(replace(before, **changes, updated_at=self._clock()))
            await stored.agents.update(scope, agent)
        return agent

    async def delete(self, scope: Scope, agent_id: str) -> None:
        """What it answered stays."""
        check_admin(scope)
        _check_own(agent_id)
        async with self._database.begin() as stored:
            await stored.agents.delete(scope, agent_id)

    async def bases(self, scope: Scope, agent_id: str, there: Collection[str]) -> AgentBases:
        """Those of an agent that are ``there``; what is gone is told.

        Raises `NotFound` for an agent that is not there, and `Conflict` for one that has no base left: its answers
        would stand on nothing, and nobody would know.
        """
        agent = await self.get(scope, agent_id)
        if not agent.base_ids:
            return AgentBases(base_ids=agent.base_ids)
        kept = tuple(base_id for base_id in agent.base_ids if base_id in there)
        gone = len(agent.base_ids) - len(kept)
        if not kept:
            raise Conflict(
                f"All knowledge bases of the agent '{agent.name}' are gone.",
                hint="Give the agent others, or name some with the question.",
                details={"agent_id": agent_id},
            )
        return AgentBases(
            base_ids=kept,
            warnings=(f"{gone} of the knowledge bases of the agent '{agent.name}' are gone.",) if gone else (),
        )

    async def _check_models(self, scope: Scope, agent: Agent) -> None:
        await named_models(self._registry, scope, Named().or_of(agent))
        if reranker := str(agent.settings.get("rerank_model_id") or ""):
            await self._registry.reranker(scope, reranker, asked_for=True)

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
