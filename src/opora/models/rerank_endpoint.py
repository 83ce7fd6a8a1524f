"""Reranking by any ``/rerank`` endpoint that speaks as Jina, Cohere, Text Embeddings Inference or vLLM do."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import chain

from opora.domain.errors import InvalidInput, ModelError
from opora.models.openai_endpoint import Endpoint
from opora.models.rerank_reply import are_logits, logistic, read_scores, within_unit
from opora.models.rerank_styles import STYLES
from opora.net.client import GuardedClient
from opora.ports import RerankerCard
from opora.text.fold import clean

MAX_REPLY_BYTES = 32 * 1024 * 1024
PATH = "/rerank"
PROBE_QUERY = "What is the capital of France?"
PROBE_PASSAGES = ("The capital of France is Paris.", "Bolts are tightened crosswise and in two steps.")
"""An answer and a sentence about something else: on a scale of logits at least one of the two lies beyond 1 or -1."""


class RerankEndpoint:
    """A `Reranker` over HTTP. Its scores are from 0 to 1 whatever the service sends."""

    def __init__(
        self,
        url: str,
        model: str = "",
        *,
        key: str = "",
        style: str = "jina",
        max_passage_chars: int = 0,
        setting: str = "OPORA_RERANK",
        client: GuardedClient | None = None,
    ) -> None:
        """``url`` is the address below which ``/rerank`` is found, or the whole address with it."""
        if style not in STYLES:
            raise InvalidInput.of(
                "rerank_style", f"There is no rerank style named '{style}'.", hint=f"Known are: {', '.join(STYLES)}."
            )
        base = url.rstrip("/").removesuffix(PATH)
        self._endpoint = Endpoint(base, key=key, setting=setting, client=client)
        self._model = model
        self._style = STYLES[style]
        self._logits: bool | None = False if self._style.is_unit else None
        self._card = RerankerCard(identity=f"{style}/{model}" if model else style, max_passage_chars=max_passage_chars)

    @property
    def card(self) -> RerankerCard:
        return self._card

    async def rerank(self, query: str, passages: Sequence[str]) -> list[float]:
        """An empty passage is not sent, since some services refuse it: its score is 0."""
        shown = {place: clean(passage) for place, passage in enumerate(passages) if passage.strip()}
        scores = [0.0] * len(passages)
        if shown:
            raw = await self._ask(clean(query), list(shown.values()))
            for place, score in zip(shown, await self._calibrated(raw), strict=True):
                scores[place] = score
        return scores

    async def close(self) -> None:
        await self._endpoint.close()

    async def _ask(self, query: str, passages: Sequence[str]) -> list[float]:
        """The service's own scores. A pair is judged by itself, so passages may go in several requests at once."""
        size = self._style.batch
        batches = [passages[start : start + size] for start in range(0, len(passages), size)]
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._request(query, batch)) for batch in batches]
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None
        return list(chain.from_iterable(task.result() for task in tasks))

    async def _request(self, query: str, passages: Sequence[str]) -> list[float]:
        body = self._style.body(self._model, query, passages)
        async with self._endpoint.post(PATH, body, max_bytes=MAX_REPLY_BYTES) as opened:
            raw = await opened.read()
        return read_scores(raw, len(passages))

    async def _calibrated(self, scores: list[float]) -> list[float]:
        """Logits through a logistic, probabilities as they are, cosines cut at 0.

        One reply can't always tell which of these they are, so a service is asked once about a pair whose logits
        would lie far apart; what its scores are holds for all later replies.
        """
        if self._style.is_unit:
            return within_unit(scores)
        if are_logits(scores):
            self._logits = True
        elif self._logits is None:
            self._logits = await self._probe()
        return [logistic(score) if self._logits else min(1.0, max(0.0, score)) for score in scores]

    async def _probe(self) -> bool:
        try:
            return are_logits(await self._ask(PROBE_QUERY, PROBE_PASSAGES))
        except ModelError:
            # The passages themselves were scored: they are taken as they look, until a reply says otherwise.
            return False
