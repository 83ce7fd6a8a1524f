"""Reranking on this machine: an ONNX cross-encoder from a folder that an administrator names."""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TypeVar

from opora.domain.errors import ModelError, ModelNotConfigured, OporaError
from opora.models.rerank_network import CrossEncoder, Pair, find_network
from opora.models.rerank_reply import logistic
from opora.ports import RerankerCard
from opora.text.fold import clean

T = TypeVar("T")

BATCH_TOKENS = 1000
"""Tokens a run, padding included: larger batches are no faster and hold the processor longer."""


class OnnxReranker:
    """A `Reranker` with a thread of its own. The model is loaded with the first question, or by `load`."""

    def __init__(self, folder: Path, *, threads: int = 2) -> None:
        """Raises `ModelNotConfigured` when the folder holds no model or the tokeniser's library is not installed."""
        find_network(folder)
        if importlib.util.find_spec("tokenizers") is None:
            raise ModelNotConfigured(
                "Reranking on this machine needs the library 'tokenizers'.",
                hint="Install it: pip install -e '.[rerank]' in Opora's folder, inside .venv.",
            )
        self._folder = folder
        self._threads = threads
        self._network: CrossEncoder | None = None
        self._lane = ThreadPoolExecutor(1, thread_name_prefix="rerank")
        self._card = RerankerCard(identity=f"onnx/{folder.resolve().name}")

    @property
    def card(self) -> RerankerCard:
        """Without a limit of characters: passages are cut by the model's own tokens."""
        return self._card

    async def load(self) -> None:
        """Load the model now."""
        await self._in_lane(self._ready)

    async def rerank(self, query: str, passages: Sequence[str]) -> list[float]:
        if not passages:
            return []
        network = await self._in_lane(self._ready)
        pairs = await self._in_lane(partial(network.pairs, clean(query), [clean(passage) for passage in passages]))
        scores = [0.0] * len(passages)
        for batch in batches(pairs):
            # One job a batch: questions take turns, and one that is cut short stops at the next batch.
            for pair, logit in zip(batch, await self._in_lane(partial(network.run, batch)), strict=True):
                scores[pair.passage] = logistic(logit)
        return scores

    async def close(self) -> None:
        await asyncio.to_thread(self._lane.shutdown, wait=True, cancel_futures=True)
        self._network = None

    async def _in_lane(self, work: Callable[[], T]) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._lane, work)
        except OporaError:
            raise
        except Exception as error:
            # onnxruntime and tokenizers raise kinds of their own.
            raise ModelError(
                f"The reranking model in {self._folder} can't be used: {type(error).__name__}.",
                hint="Check that model.onnx and tokenizer.json are whole and belong together.",
            ) from error

    def _ready(self) -> CrossEncoder:
        if self._network is None:
            self._network = CrossEncoder(self._folder, threads=self._threads)
        return self._network


def batches(pairs: Sequence[Pair]) -> list[Sequence[Pair]]:
    """Cut a list that is sorted by length into batches of about `BATCH_TOKENS`, padding included."""
    cut: list[Sequence[Pair]] = []
    start = 0
    while start < len(pairs):
        size = max(1, BATCH_TOKENS // max(1, len(pairs[start].ids)))
        cut.append(pairs[start : start + size])
        start += size
    return cut
