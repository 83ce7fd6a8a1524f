"""A cross-encoder from a folder, built here and run by the real runtime."""

from __future__ import annotations

import asyncio
import json
import math
import shutil
import sys
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from opora.domain.errors import ModelError, ModelNotConfigured
from opora.models.rerank_network import DEFAULT_MAX_TOKENS, MAX_TOKENS, CrossEncoder
from opora.models.rerank_onnx import BATCH_TOKENS, OnnxReranker, batches

from . import cross_encoder
from .cross_encoder import INT32, logit, write_model

OpenModel = Callable[..., OnnxReranker]
QUERY = "отпуск дни"
PASSAGES = ["проезд и расходы", "отпуск", "мост", "", "дни и отпуск в дни"]


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[OpenModel]:
    rerankers: list[OnnxReranker] = []

    def make(**values: Any) -> OnnxReranker:
        rerankers.append(OnnxReranker(write_model(tmp_path / "tiny-ru", **values)))
        return rerankers[-1]

    yield make
    for reranker in rerankers:
        await reranker.close()


def probability(query: str, passage: str) -> Any:
    return pytest.approx(1 / (1 + math.exp(-logit(query, passage))), abs=1e-6)


@pytest.mark.parametrize("values", [{}, {"classes": 2}, {"classes": 0}, {"kind": INT32}])
async def test_scores_are_probabilities_in_the_order_of_the_passages(opened: OpenModel, values: Any) -> None:
    reranker = opened(**values)
    assert await reranker.rerank(QUERY, PASSAGES) == [probability(QUERY, passage) for passage in PASSAGES]
    assert await reranker.rerank(QUERY, []) == []
    assert (reranker.card.identity, reranker.card.max_passage_chars) == ("onnx/tiny-ru", 0)


async def test_padding_and_company_change_no_score(opened: OpenModel) -> None:
    """The network counts padding for every word: without the mask, short passages among long ones would win."""
    reranker = opened()
    together = await reranker.rerank(QUERY, PASSAGES)
    alone = [(await reranker.rerank(QUERY, [passage]))[0] for passage in PASSAGES]
    assert together == pytest.approx(alone, abs=1e-9)


async def test_a_network_without_types_gets_none(opened: OpenModel) -> None:
    scores = await opened(with_types=False).rerank("отпуск", ["отпуск", "мост"])
    assert scores[0] > scores[1]


async def test_a_passage_is_cut_at_its_end_to_what_the_model_takes(opened: OpenModel) -> None:
    reranker = opened(max_position_embeddings=10)
    # Ten places: three marks, one word of the query, six of the passage.
    assert await reranker.rerank("отпуск", ["и " * 5 + "отпуск", "и " * 6 + "отпуск"]) == [
        probability("отпуск", "отпуск"),
        probability("отпуск", "и"),
    ]


async def test_a_long_query_leaves_half_of_the_places_to_the_passage(opened: OpenModel) -> None:
    reranker = opened(max_position_embeddings=12)
    assert await reranker.rerank("мост " + "в " * 50 + "река", ["мост", "река"]) == [
        probability("мост", "мост"),
        probability("мост", "река"),
    ]


@pytest.mark.parametrize(
    ("config", "tokeniser", "limit"),
    [
        ({"max_position_embeddings": 512}, {"model_max_length": 256}, 256),
        ({"max_position_embeddings": 514, "model_type": "xlm-roberta"}, {}, 512),
        ({"max_position_embeddings": 100_000}, {"model_max_length": 1e30}, MAX_TOKENS),
        ({"max_position_embeddings": None}, {}, DEFAULT_MAX_TOKENS),
    ],
)
def test_the_limit_is_the_least_that_the_files_name(tmp_path: Path, config: Any, tokeniser: Any, limit: int) -> None:
    folder = write_model(tmp_path, **config)
    (folder / "tokenizer_config.json").write_text(json.dumps(tokeniser))
    assert CrossEncoder(folder, threads=1).max_tokens == limit


async def test_a_folder_as_model_hubs_lay_it_out_is_understood(opened: OpenModel, tmp_path: Path) -> None:
    folder = write_model(tmp_path / "hub")
    (folder / "onnx").mkdir()
    shutil.move(folder / "model.onnx", folder / "onnx" / "model.onnx")
    (folder / "config.json").unlink()
    reranker = OnnxReranker(folder)
    assert await reranker.rerank("мост", ["мост"]) == [probability("мост", "мост")]
    await reranker.close()


async def test_batches_hold_about_a_thousand_tokens_and_every_pair_once(opened: OpenModel, tmp_path: Path) -> None:
    network = CrossEncoder(write_model(tmp_path / "m", max_position_embeddings=None), threads=1)
    pairs = network.pairs("отпуск", ["мост " * (place % 300) for place in range(200)])
    cut = batches(pairs)
    assert [pair for batch in cut for pair in batch] == pairs
    assert sorted(pair.passage for pair in pairs) == list(range(200))
    assert all(len(batch) * len(batch[0].ids) <= BATCH_TOKENS for batch in cut)
    assert len(cut) < 40
    assert batches([]) == []


async def test_it_works_in_a_thread_of_its_own(opened: OpenModel, monkeypatch: pytest.MonkeyPatch) -> None:
    names: set[str] = set()
    run = CrossEncoder.run

    def noted(self: CrossEncoder, pairs: Any) -> list[float]:
        names.add(threading.current_thread().name)
        return run(self, pairs)

    monkeypatch.setattr(CrossEncoder, "run", noted)
    reranker = opened()
    await asyncio.gather(*(reranker.rerank(QUERY, PASSAGES) for _ in range(4)))
    assert names == {"rerank_0"}


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_folder_without_a_model_is_refused_at_once(tmp_path: Path, name: str) -> None:
    folder = write_model(tmp_path)
    (folder / name).unlink()
    with pytest.raises(ModelNotConfigured, match=name) as caught:
        OnnxReranker(folder)
    assert "OPORA_RERANK_FOLDER" in caught.value.hint


def test_without_its_library_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_model(tmp_path)
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(ModelNotConfigured) as caught:
        OnnxReranker(folder)
    assert "-e '.[rerank]'" in caught.value.hint


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "config.json"])
async def test_a_damaged_file_is_a_model_error(tmp_path: Path, name: str) -> None:
    folder = write_model(tmp_path)
    (folder / name).write_bytes(b"damaged")
    reranker = OnnxReranker(folder)
    with pytest.raises(ModelError) as caught:
        await reranker.rerank(QUERY, PASSAGES)
    assert caught.value.hint
    await reranker.close()


async def test_a_network_with_other_outputs_is_a_model_error(opened: OpenModel) -> None:
    with pytest.raises(ModelError, match="shape"):
        await opened(classes=5).rerank(QUERY, PASSAGES)


async def test_a_network_with_other_inputs_is_a_model_error(opened: OpenModel, e5_files: Any, tmp_path: Path) -> None:
    folder = write_model(tmp_path / "e5")
    shutil.copy(e5_files.network, folder / "model.onnx")
    reranker = OnnxReranker(folder)
    with pytest.raises(ModelError, match="no cross-encoder"):
        await reranker.load()
    await reranker.close()


@pytest.mark.parametrize("gain", [math.nan, math.inf])
async def test_scores_that_are_no_numbers_are_a_model_error(
    opened: OpenModel, monkeypatch: pytest.MonkeyPatch, gain: float
) -> None:
    monkeypatch.setattr(cross_encoder, "GAIN", gain)
    with pytest.raises(ModelError, match="not a number"):
        await opened().rerank(QUERY, PASSAGES)
