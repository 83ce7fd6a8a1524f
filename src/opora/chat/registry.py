"""Use cases on the registry of models: keep endpoints, try them, and choose one of them for a question."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, cast
from urllib.parse import urlsplit

from opora.chat.not_loaded import NotLoaded
from opora.chat.recorded import RecordedEmbedder
from opora.chat.trying import Tried, tried
from opora.domain.agents import Agent
from opora.domain.errors import Conflict, Forbidden, InvalidInput, OporaError
from opora.domain.knowledge import KnowledgeBase
from opora.domain.models import ModelEntry, ModelKind
from opora.domain.scope import Scope
from opora.ports import (
    ChatModel,
    Clock,
    Database,
    Embedder,
    NewId,
    Reranker,
    Secrets,
)

MAX_KEY_CHARS = 4_096
EXTRACTIVE = "extractive"
"""The id under which 'no chat model: quotes' is chosen."""

Made = ChatModel | Embedder | Reranker


class Maker(Protocol):
    """Builds what an entry describes, and knows what can be described (`opora.bootstrap.endpoints`)."""

    def providers(self, kind: ModelKind) -> tuple[str, ...]: ...

    def checked_options(self, kind: ModelKind, options: Mapping[str, Any]) -> dict[str, Any]:
        """Raises `InvalidInput` naming the option that does not fit."""
        ...

    def make(self, entry: ModelEntry, key: str) -> Made: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The chat model of one question: None for quotes; ``options`` are the entry's own settings."""

    model: ChatModel | None
    options: Mapping[str, Any]


class ModelRegistry:
    """Everybody of a tenant sees its entries; only administrators change and try them."""

    def __init__(
        self,
        *,
        database: Database,
        secrets: Secrets,
        maker: Maker,
        default: ChatModel | None,
        reranker: Reranker | None = None,
        clock: Clock,
        new_id: NewId,
    ) -> None:
        self._database = database
        self._secrets = secrets
        self._maker = maker
        self._default = default
        self._reranker = reranker
        self._clock = clock
        self._new_id = new_id
        self._live: dict[str, tuple[ModelEntry, Made]] = {}
        self._retired: list[Made] = []
        """Models of entries that were changed: a question may still be using them."""

    def types(self) -> dict[str, tuple[str, ...]]:
        """The providers of each kind."""
        return {kind.value: self._maker.providers(kind) for kind in ModelKind}

    async def add(
        self,
        scope: Scope,
        *,
        kind: ModelKind,
        provider: str,
        name: str,
        model: str,
        base_url: str,
        options: Mapping[str, Any] | None = None,
    ) -> ModelEntry:
        _check_admin(scope)
        now = self._clock()
        entry = ModelEntry(
            model_id=self._new_id(),
            tenant_id=scope.tenant_id,
            kind=kind,
            provider=provider,
            name=name.strip() or model,
            model=model.strip(),
            base_url=base_url.strip(),
            options=options or {},
            created_at=now,
            updated_at=now,
        )
        entry = self._checked(entry)
        async with self._database.begin() as repositories:
            await repositories.models.add(scope, entry)
        return entry

    async def get(self, scope: Scope, model_id: str) -> ModelEntry:
        async with self._database.read() as repositories:
            return await repositories.models.get(scope, model_id)

    async def all(self, scope: Scope) -> list[ModelEntry]:
        async with self._database.read() as repositories:
            return await repositories.models.all(scope)

    async def update(self, scope: Scope, model_id: str, changes: Mapping[str, Any]) -> ModelEntry:
        """Change ``provider``, ``name``, ``model``, ``base_url`` or ``options``.

        Another address loses the key: it was given for the old one. Raises `Conflict` for a change that would leave
        bases with vectors of another model.
        """
        _check_admin(scope)
        async with self._database.begin() as repositories:
            before = await repositories.models.get(scope, model_id)
            entry = self._checked(replace(before, **changes, updated_at=self._clock()))
            if not _is_same(before, entry):
                entry = replace(entry, dimension=0)
                if self._space(before) != self._space(entry):
                    holding = await repositories.bases.of_model(scope.tenant_id, model_id, holding_vectors=True)
                    _check_unused(holding, "hold vectors of this model, which another one could not be compared with")
            await repositories.models.update(scope, entry)
            if _origin(entry.base_url) != _origin(before.base_url) and before.has_key:
                await repositories.models.seal_key(scope, model_id, "")
                entry = replace(entry, has_key=False)
        self._retire(model_id)
        return entry

    async def delete(self, scope: Scope, model_id: str) -> None:
        """Raises `Conflict`, naming them, while bases are embedded by the model or agents name it."""
        _check_admin(scope)
        async with self._database.begin() as repositories:
            await repositories.models.get(scope, model_id)
            users = await repositories.bases.of_model(scope.tenant_id, model_id)
            _check_unused(users, "are embedded by this model")
            _check_unnamed([one for one in await repositories.agents.all(scope) if model_id in one.model_ids])
            await repositories.models.delete(scope, model_id)
        self._retire(model_id)

    async def set_key(self, scope: Scope, model_id: str, key: str) -> ModelEntry:
        """Keep a key, sealed; an empty one takes it away. No call gives it back."""
        _check_admin(scope)
        key = key.strip()
        if len(key) > MAX_KEY_CHARS or not (key.isascii() and (not key or key.isprintable())):
            raise InvalidInput.of("key", "This can't be a key.")
        async with self._database.begin() as repositories:
            entry = await repositories.models.get(scope, model_id)
            token = await asyncio.to_thread(self._secrets.seal, key) if key else ""
            await repositories.models.seal_key(scope, model_id, token)
            entry = replace(entry, has_key=bool(key), updated_at=self._clock())
            await repositories.models.update(scope, entry)
        self._retire(model_id)
        return entry

    async def chosen(self, scope: Scope, model_id: str) -> Chosen:
        """The chat model with this id; '' is the one of the settings.

        Raises `NotFound` for an unknown id and `InvalidInput` for a model of another kind.
        """
        if not model_id or (self._default is not None and model_id == self._default.identity):
            return Chosen(model=self._default, options={})
        if model_id == EXTRACTIVE:
            return Chosen(model=None, options={})
        entry = await self.get(scope, model_id)
        if entry.kind is not ModelKind.CHAT:
            raise InvalidInput.of("summary_model_id", f"'{entry.name}' is no chat model.")
        model: Any = await self._made(scope, entry)
        return Chosen(model=model, options=entry.options)

    async def embedder(self, scope: Scope, model_id: str) -> Embedder:
        """The embedding model with this id. It is not called.

        Raises `NotFound` for an unknown id and `InvalidInput` for a model of another kind.
        """
        entry = await self.get(scope, model_id)
        if entry.kind is not ModelKind.EMBEDDING:
            raise InvalidInput.of("embedding_model_id", f"'{entry.name}' is no embedding model.")
        made: Any = await self._made(scope, entry)
        embedder: Embedder = made
        return embedder

    async def reranker(self, scope: Scope, model_id: str, *, asked_for: bool) -> Reranker | None:
        """The reranking model with this id; '' is the one of the settings, if any.

        One that can't be loaded is a model that fails: it costs a warning and no answer. Where somebody asks for it
        by hand (``asked_for``) an unknown id raises `NotFound`, and a model of another kind `InvalidInput`.
        """
        if not model_id or (self._reranker is not None and model_id == self._reranker.card.identity):
            return self._reranker
        try:
            entry = await self.get(scope, model_id)
            if entry.kind is not ModelKind.RERANK:
                raise InvalidInput.of("rerank_model_id", f"'{entry.name}' is no reranking model.")
        except OporaError as error:
            if asked_for:
                raise
            return NotLoaded(model_id, error)
        try:
            made: Any = await self._made(scope, entry)
        except OporaError as error:
            return NotLoaded(model_id, error)
        reranker: Reranker = made
        return reranker

    async def named(self, scope: Scope, kind: ModelKind, name: str) -> ModelEntry | None:
        """The entry with this id, or the only one with this name; None where there is none.

        Raises `InvalidInput` for a name of several, telling their ids.
        """
        entries = [entry for entry in await self.all(scope) if entry.kind is kind]
        found = [entry for entry in entries if entry.model_id == name] or [e for e in entries if e.name == name]
        if len(found) > 1:
            ids = ", ".join(entry.model_id for entry in found)
            raise InvalidInput.of("model", f"{len(found)} models have this name.", hint=f"Name one by its id: {ids}.")
        return found[0] if found else None

    async def test(self, scope: Scope, model_id: str) -> Tried:
        """One real call. Whatever comes of it is told, and nothing is raised but for the entry itself."""
        _check_admin(scope)
        entry = await self.get(scope, model_id)
        return await tried(entry.kind, lambda: self._made(scope, entry))

    async def close(self) -> None:
        for made in (*(made for _, made in self._live.values()), *self._retired):
            await made.close()

    async def _made(self, scope: Scope, entry: ModelEntry) -> Made:
        known = self._live.get(entry.model_id)
        if known is not None and replace(known[0], dimension=entry.dimension) == entry:
            return known[1]
        async with self._database.read() as repositories:
            token = await repositories.models.sealed_key(scope, entry.model_id)
        key = await asyncio.to_thread(self._secrets.unseal, token) if token else ""
        self._retire(entry.model_id)
        made: Any = self._maker.make(entry, key)
        if entry.kind is ModelKind.EMBEDDING:
            made = RecordedEmbedder(made, known=entry.dimension, record=partial(self._record, scope, entry))
        self._live[entry.model_id] = (entry, made)
        return cast(Made, made)

    async def _record(self, scope: Scope, entry: ModelEntry, size: int) -> int:
        """Keep the size of a model's first vector; gives the one that was kept before, if there is one."""
        async with self._database.begin() as repositories:
            now = await repositories.models.get(scope, entry.model_id)
            if not _is_same(now, entry):
                return size  # The entry means another model by now.
            if not now.dimension:
                await repositories.models.update(scope, replace(now, dimension=size))
        return now.dimension or size

    def _space(self, entry: ModelEntry) -> str:
        """Whose vectors an entry's are: '' for models of other kinds."""
        if entry.kind is not ModelKind.EMBEDDING:
            return ""
        made: Any = self._maker.make(entry, "")
        identity: str = made.card.identity
        return identity

    def _retire(self, model_id: str) -> None:
        known = self._live.pop(model_id, None)
        if known is not None:
            self._retired.append(known[1])

    def _checked(self, entry: ModelEntry) -> ModelEntry:
        known = self._maker.providers(entry.kind)
        if entry.provider not in known:
            raise InvalidInput.of(
                "provider", f"There is no provider '{entry.provider}' of {entry.kind.value} models.",
                hint=f"Known are: {', '.join(known)}.",
            )  # fmt: skip
        parts = urlsplit(entry.base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
            raise InvalidInput.of(
                "base_url", "The address is no http or https address.", hint="Such as https://host/v1; keys go apart."
            )
        return replace(entry, options=self._maker.checked_options(entry.kind, entry.options))


def _check_admin(scope: Scope) -> None:
    if not scope.principal.is_admin:
        raise Forbidden("Only administrators change models.")


def _is_same(one: ModelEntry, other: ModelEntry) -> bool:
    """Whether two states of an entry mean the same model."""
    return all(
        getattr(one, name) == getattr(other, name) for name in ("kind", "provider", "model", "base_url", "options")
    )


def _check_unused(bases: Sequence[KnowledgeBase], why: str) -> None:
    if bases:
        raise Conflict(
            f"There are knowledge bases that {why}: {', '.join(base.name for base in bases[:5])}.",
            hint="Delete them, or keep another model beside this one.",
            details={"knowledge_bases": [{"id": base.base_id, "name": base.name} for base in bases]},
        )


def _check_unnamed(agents: Sequence[Agent]) -> None:
    if agents:
        raise Conflict(
            f"There are agents that name this model: {', '.join(agent.name for agent in agents[:5])}.",
            hint="Choose another model for them first.",
            details={"agents": [{"id": agent.agent_id, "name": agent.name} for agent in agents]},
        )


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    return parts.scheme, (parts.hostname or "").lower(), parts.port
