"""Agents and settings of tenants in the relational store."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from opora.domain.agents import Agent, TenantSettings
from opora.domain.errors import Forbidden, NotFound
from opora.domain.scope import Scope
from opora.store.codec import dump, load_mapping
from opora.store.connection import Connection
from opora.store.tables import agents, tenant_settings
from opora.store.types import insert_into

_c = agents.c


class SqlAgents:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def settings(self, scope: Scope) -> TenantSettings:
        query = sa.select(tenant_settings).where(tenant_settings.c.tenant_id == scope.tenant_id)
        row = (await self._connection.execute(query)).one_or_none()
        if row is None:
            return TenantSettings()
        return TenantSettings(retrieval=load_mapping(row.retrieval), prompts=load_mapping(row.prompts))

    async def put_settings(self, scope: Scope, settings: TenantSettings) -> None:
        values = {"retrieval": dump(dict(settings.retrieval)), "prompts": dump(dict(settings.prompts))}
        insert = insert_into(self._connection, tenant_settings).values(tenant_id=scope.tenant_id, **values)
        await self._connection.execute(
            insert.on_conflict_do_update(index_elements=[tenant_settings.c.tenant_id], set_=values)
        )

    async def add(self, scope: Scope, agent: Agent) -> None:
        if agent.tenant_id != scope.tenant_id:
            raise Forbidden("An agent can only be kept for one's own tenant.", details={"agent_id": agent.agent_id})
        await self._connection.execute(sa.insert(agents).values(**_to_row(agent)))

    async def get(self, scope: Scope, agent_id: str) -> Agent:
        query = sa.select(agents).where(_c.agent_id == agent_id, _c.tenant_id == scope.tenant_id)
        row = (await self._connection.execute(query)).one_or_none()
        if row is None:
            raise _absent(agent_id)
        return _to_agent(row)

    async def all(self, scope: Scope) -> list[Agent]:
        query = sa.select(agents).where(_c.tenant_id == scope.tenant_id).order_by(_c.created_at, _c.agent_id)
        return [_to_agent(row) for row in await self._connection.execute(query)]

    async def update(self, scope: Scope, agent: Agent) -> None:
        values = {name: value for name, value in _to_row(agent).items() if name not in _FIXED}
        query = sa.update(agents).where(_c.agent_id == agent.agent_id, _c.tenant_id == scope.tenant_id)
        if (await self._connection.execute(query.values(**values))).rowcount == 0:
            raise _absent(agent.agent_id)

    async def delete(self, scope: Scope, agent_id: str) -> None:
        query = sa.delete(agents).where(_c.agent_id == agent_id, _c.tenant_id == scope.tenant_id)
        if (await self._connection.execute(query)).rowcount == 0:
            raise _absent(agent_id)


_FIXED = frozenset({"agent_id", "tenant_id", "created_at"})


def _absent(agent_id: str) -> NotFound:
    return NotFound("There is no such agent.", hint="Choose another one, or none.", details={"agent_id": agent_id})


def _to_row(agent: Agent) -> dict[str, Any]:
    chosen = {
        "settings": dict(agent.settings),
        "prompts": dict(agent.prompts),
        "base_ids": None if agent.base_ids is None else list(agent.base_ids),
        "summary_model_id": agent.summary_model_id,
        "query_understand_model_id": agent.query_understand_model_id,
        "vlm_model_id": agent.vlm_model_id,
    }
    return {
        "agent_id": agent.agent_id,
        "tenant_id": agent.tenant_id,
        "name": agent.name,
        "description": agent.description,
        "chosen": dump(chosen),
        "created_at": agent.created_at,
        "updated_at": agent.updated_at,
    }


def _to_agent(row: sa.Row[Any]) -> Agent:
    chosen = dict(load_mapping(row.chosen))
    base_ids = chosen.pop("base_ids", None)
    return Agent(
        agent_id=row.agent_id,
        tenant_id=row.tenant_id,
        name=row.name,
        description=row.description,
        base_ids=None if base_ids is None else tuple(base_ids),
        created_at=row.created_at,
        updated_at=row.updated_at,
        **chosen,
    )
