"""Chooses the models of one question: those it names, those of its settings, else those of the installation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from opora.chat.registry import ModelRegistry
from opora.domain.errors import InvalidInput
from opora.domain.scope import Scope
from opora.domain.settings import Effective, Origin
from opora.pipeline.run import RunModels


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """Ids of the models that a question names; '' is that of the installation."""

    chat: str = ""
    understand: str = ""
    vision: str = ""


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
