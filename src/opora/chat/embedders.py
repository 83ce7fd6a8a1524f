"""Gives each base the model that embeds it: its own one of the registry, or the installation's."""

from __future__ import annotations

from collections.abc import Callable

from opora.chat.registry import ModelRegistry
from opora.domain.errors import ModelNotConfigured, NotFound
from opora.domain.knowledge import KnowledgeBase
from opora.domain.scope import Scope
from opora.ports import Embedder


class BaseEmbedders:
    """The `Embedders` of an installation. A base's own model is its owner's, whoever searches the base."""

    def __init__(
        self, default: Embedder | None, registry: ModelRegistry, scope_of: Callable[[str, str], Scope]
    ) -> None:
        self._default = default
        self._registry = registry
        self._scope_of = scope_of

    @property
    def default(self) -> Embedder | None:
        return self._default

    async def of(self, base: KnowledgeBase) -> Embedder | None:
        if not base.own_model_id:
            return self._default
        try:
            return await self._registry.embedder(self._scope_of(base.tenant_id, base.base_id), base.own_model_id)
        except NotFound as error:
            raise ModelNotConfigured(
                f"The embedding model of the knowledge base '{base.name}' is gone from the registry.",
                hint="Keep it again, and choose it for the base.",
                details={"model_id": base.own_model_id},
            ) from error
