"""What tells the embedding models of a registry apart: name, prefixes and address."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from opora.bootstrap.endpoints import EndpointMaker
from opora.domain.models import ModelEntry, ModelKind
from opora.settings import Settings

NOW = datetime(2026, 1, 2, tzinfo=UTC)
URL = "http://models.example/v1"


def entry(**values: Any) -> ModelEntry:
    given = {"model": "m", "base_url": URL, "name": "n", "created_at": NOW, "updated_at": NOW} | values
    return ModelEntry(model_id="id", tenant_id="t", kind=ModelKind.EMBEDDING, provider="openai", **given)


async def identity(settings: Settings, **values: Any) -> str:
    maker = EndpointMaker(settings)
    made: Any = maker.make(entry(**values), "key")
    await maker.close()
    found: str = made.card.identity
    return found


@pytest.mark.parametrize(
    ("values", "same"),
    [
        ({"name": "Другое имя"}, True),
        ({"base_url": "http://MODELS.example/v1/"}, True),
        ({"options": {"max_tokens": 100}}, True),
        ({"model": "n"}, False),
        ({"base_url": "http://models.example/v2"}, False),
        ({"base_url": "http://models.example:81/v1"}, False),
        ({"options": {"passage_prefix": "p: "}}, False),
    ],
)
async def test_models_are_told_apart_by_name_prefixes_and_address(
    tmp_path: Path, values: dict[str, Any], same: bool
) -> None:
    settings = Settings(data=tmp_path, embedding="none")
    assert (await identity(settings, **values) == await identity(settings)) is same


@pytest.mark.parametrize(
    ("values", "named"),
    [({}, "openai/m"), ({"model": "n"}, f"openai/n@{URL}"), ({"base_url": f"{URL}/x"}, f"openai/m@{URL}/x")],
)
async def test_the_model_of_the_settings_is_itself_in_the_registry_too(
    tmp_path: Path, values: dict[str, Any], named: str
) -> None:
    settings = Settings(data=tmp_path, embedding="openai", embedding_model="m", embedding_url=f"{URL}/")
    assert await identity(settings, **values) == named
