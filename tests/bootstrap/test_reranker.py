"""The reranking model by settings: which one, what is refused, and where it shows."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from opora.bootstrap import App
from opora.bootstrap.models import Models, make_models
from opora.domain.errors import InvalidInput, ModelNotConfigured
from opora.models.rerank_endpoint import RerankEndpoint
from opora.models.rerank_onnx import OnnxReranker
from opora.settings import Settings

URL = "http://127.0.0.1:9/v1"


@pytest.fixture
async def models_of(tmp_path: Path) -> AsyncIterator[Callable[..., Any]]:
    async with AsyncExitStack() as stack:

        async def make(**values: Any) -> Models:
            return await make_models(Settings(data=tmp_path, embedding="none", **values), stack)

        yield make


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Looks like a model until it is loaded, which is with the first question."""
    made = tmp_path / "judge-ru"
    made.mkdir()
    for name in ("model.onnx", "tokenizer.json"):
        (made / name).write_bytes(b"-")
    return made


async def test_without_a_setting_there_is_none(models_of: Callable[..., Any]) -> None:
    assert (await models_of()).reranker is None


@pytest.mark.parametrize(
    ("values", "identity", "chars"),
    [
        ({"rerank_model": "m"}, "jina/m", 0),
        ({"rerank_model": "m", "rerank_style": "cohere", "rerank_key": "k", "rerank_chars": 900}, "cohere/m", 900),
        ({"rerank_style": "tei"}, "tei", 0),
        ({"rerank_model": "m", "rerank_style": "vllm"}, "vllm/m", 0),
    ],
)
async def test_an_endpoint_by_its_address(
    models_of: Callable[..., Any], values: dict[str, Any], identity: str, chars: int
) -> None:
    reranker = (await models_of(rerank_url=URL, **values)).reranker
    assert isinstance(reranker, RerankEndpoint)
    assert (reranker.card.identity, reranker.card.max_passage_chars) == (identity, chars)


async def test_a_model_by_its_folder(models_of: Callable[..., Any], folder: Path) -> None:
    reranker = (await models_of(rerank_folder=str(folder))).reranker
    assert isinstance(reranker, OnnxReranker)
    assert reranker.card.identity == "onnx/judge-ru"


@pytest.mark.parametrize(
    ("values", "error", "hint"),
    [
        ({"rerank_url": URL}, ModelNotConfigured, "OPORA_RERANK_MODEL"),
        ({"rerank_url": "127.0.0.1:9", "rerank_model": "m"}, InvalidInput, "full address"),
        ({"rerank_style": "openai"}, InvalidInput, ""),
        ({"rerank_url": URL, "rerank_model": "m", "rerank_folder": "/nowhere"}, InvalidInput, "OPORA_RERANK_FOLDER"),
        ({"rerank_folder": "/nowhere"}, ModelNotConfigured, "OPORA_RERANK_FOLDER"),
    ],
)
async def test_what_does_not_fit_is_said_at_the_start(
    models_of: Callable[..., Any], values: dict[str, Any], error: type[Exception], hint: str
) -> None:
    with pytest.raises(error) as caught:
        await models_of(**values)
    assert hint in caught.value.hint  # type: ignore[attr-defined]


async def test_it_shows_among_the_models_and_the_checks(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path, embedding="none", rerank_url=URL, rerank_model="m", rerank_key="sk-secret")
    app = await App.open(settings)
    shown = {"id": "jina/m", "name": "jina/m", "type": "rerank"}
    checks = (await app.ready())["checks"]
    assert shown in app.models()
    assert {"name": "reranking model", "ok": True, "detail": "jina/m", "hint": ""} in checks
    assert "sk-secret" not in f"{app.models()} {checks} {settings}"
    await app.close()
