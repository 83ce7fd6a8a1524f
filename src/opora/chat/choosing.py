"""Chooses what one question is answered with: the settings in force, and the models that it, or they, name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from opora.chat.layers import Layers
from opora.chat.registry import ModelRegistry
from opora.chat.settings import effective
from opora.domain.agents import Agent
from opora.domain.errors import Conflict, InvalidInput, NotFound
from opora.domain.scope import Scope
from opora.domain.settings import Effective, Origin
from opora.pipeline.run import RunModels
from opora.ports import EmbedderCard


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """Ids of the models that a question names; '' is that of the installation."""

    chat: str = ""
    understand: str = ""
    vision: str = ""

    def or_of(self, agent: Agent | None) -> Named:
        """With the agent's models where none is named."""
        if agent is None:
            return self
        return Named(
            chat=self.chat or agent.summary_model_id,
            understand=self.understand or agent.query_understand_model_id,
            vision=self.vision or agent.vlm_model_id,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Equipped:
    """What one question is answered with; ``models`` are None for those of the installation."""

    settings: Effective
    models: RunModels | None
    has_chat_model: bool


class Chooser:
    """``card`` is that of the installation's embedding model, ``installation`` its own retrieval settings."""

    def __init__(
        self,
        registry: ModelRegistry,
        *,
        card: EmbedderCard | None,
        installation: Mapping[str, Any],
        has_chat_model: bool,
    ) -> None:
        self._registry = registry
        self._card = card
        self._installation = installation
        self._has_chat_model = has_chat_model

    async def equip(self, scope: Scope, named: Named, layers: Layers, overrides: Mapping[str, Any]) -> Equipped:
        """Raises `NotFound` for a model that is not there, `Conflict` where it is the agent that names it, and
        `InvalidInput` for one of another kind or a setting that does not fit."""
        try:
            models, options = await named_models(self._registry, scope, named.or_of(layers.chosen))
        except NotFound as error:
            raise missing_model(layers.chosen, error) from error
        settings = effective(
            card=self._card,
            installation=self._installation,
            chat_model=options,
            tenant=layers.tenant,
            agent=layers.agent,
            request=overrides,
        )
        models = await with_reranker(self._registry, scope, models, settings)
        has_chat_model = self._has_chat_model if models is None else models.chat is not None
        return Equipped(settings=settings, models=models, has_chat_model=has_chat_model)


def missing_model(agent: Agent | None, error: NotFound) -> NotFound | Conflict:
    """What is told where a model is not there: an agent that names it is to be mended."""
    model_id = error.details.get("model_id")
    if agent is None or model_id not in agent.model_ids:
        return error
    return Conflict(
        f"A model of the agent '{agent.name}' is gone from the registry.",
        hint="Choose another one for the agent, or name a model with the question.",
        details={"agent_id": agent.agent_id, "model_id": model_id},
    )


async def named_models(
    registry: ModelRegistry, scope: Scope, named: Named
) -> tuple[RunModels | None, Mapping[str, Any]]:
    """The named models, with the settings of the chat model; None where nothing was named."""
    if named == Named():
        return None, {}
    chat = await registry.chosen(scope, named.chat)
    small = await registry.chosen(scope, named.understand) if named.understand else None
    sight = await registry.chosen(scope, named.vision) if named.vision else None
    if sight is not None and not (sight.model and sight.model.sees_images):
        raise InvalidInput.of(
            "vlm_model_id", "This model sees no pictures.", hint="Set its option 'vision' if it does."
        )
    models = RunModels(
        chat=chat.model, understand=small.model if small else None, vision=sight.model if sight else None
    )
    return models, chat.options


async def with_reranker(
    registry: ModelRegistry, scope: Scope, models: RunModels | None, settings: Effective
) -> RunModels | None:
    """The models with the reranking model of the settings, where these name one.

    Raises `NotFound` for an unknown one that the request itself names; any other that can't be loaded is a model that
    fails.
    """
    model_id = settings.values.rerank_model_id
    if not model_id:
        return models
    asked_for = settings.origin("rerank_model_id") is Origin.REQUEST
    reranker = await registry.reranker(scope, model_id, asked_for=asked_for)
    if models is None:
        models = RunModels(chat=(await registry.chosen(scope, "")).model)
    return replace(models, reranker=reranker)
