"""What comes from an embedding model passes here: count, size and numbers are checked, failures tried again and named.

A batch that keeps failing while the model answers otherwise is cut in halves until the one text that it can't take
stands alone, so the caller learns which it is.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

import numpy as np

from opora.domain.errors import DimensionMismatch, ModelError, OporaError, Unavailable
from opora.domain.errors import Timeout as CallTimeout
from opora.ports import Embedder, EmbedderCard, Vectors
from opora.text.fold import clean

ATTEMPTS = 3
FIRST_DELAY = 0.5
MAX_DELAY = 30.0
PROBE_TEXT = "probe"


def check_vectors(raw: Vectors, count: int, *, card: EmbedderCard) -> Vectors:
    """``raw`` as float32 rows of length 1.

    Raises `DimensionMismatch` for another size than the card's (if that is known), `ModelError` for a wrong count and
    for vectors that are not finite or are zero; then ``details['index']`` names the first.
    """
    rows = np.asarray(raw, np.float32)
    if rows.ndim != 2 or rows.shape[0] != count:
        raise ModelError(f"{card.identity} returned vectors of shape {rows.shape} for {count} texts.")
    if card.dimension and rows.shape[1] != card.dimension:
        raise DimensionMismatch(
            f"{card.identity} returned vectors of {rows.shape[1]} numbers; {card.dimension} are recorded for it.",
            hint="Give a changed model a name of its own, or rebuild the index.",
            details={"expected": card.dimension, "actual": rows.shape[1], "model": card.identity},
        )
    lengths = np.linalg.norm(rows.astype(np.float64), axis=1)
    bad = np.flatnonzero(~np.isfinite(lengths) | (lengths < 1e-12))
    if bad.size:
        kind = "a zero vector" if np.isfinite(lengths[bad[0]]) else "a vector with NaN or infinity"
        raise ModelError(f"{card.identity} returned {kind}.", details={"index": int(bad[0])})
    unit: Vectors = (rows / lengths[:, None]).astype(np.float32)
    return unit


class CheckedEmbedder:
    """An `Embedder` around another one, whose answers can be relied on."""

    def __init__(
        self,
        raw: Embedder,
        *,
        batch_size: int = 64,
        seconds: float = 120.0,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        rng: random.Random | None = None,
    ) -> None:
        self._raw = raw
        self._card = raw.card
        self._batch_size = batch_size
        self._seconds = seconds
        self._sleep = sleep
        self._rng = rng or random.Random()
        self._probing = asyncio.Lock()
        self._probed = False

    @property
    def card(self) -> EmbedderCard:
        """The model's card; its ``dimension`` is certain once the model was probed."""
        return self._card

    async def probe(self) -> EmbedderCard:
        """Ask the model once for the size of its vectors; raises `DimensionMismatch` if its card says otherwise."""
        async with self._probing:
            if not self._probed:
                row = (await self._tried(lambda: self._passages([PROBE_TEXT])))[0]
                self._card = replace(self._card, dimension=len(row))
                self._probed = True
        return self._card

    async def embed_query(self, text: str) -> Vectors:
        await self.probe()
        row: Vectors = (await self._tried(lambda: self._query(clean(text))))[0]
        return row

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Raises `ModelError`; where one text is to blame, ``details['index']`` is its place in ``texts``."""
        await self.probe()
        cleaned = [clean(text) for text in texts]
        parts = [
            await self._batch(cleaned[start : start + self._batch_size], start)
            for start in range(0, len(cleaned), self._batch_size)
        ]
        return np.concatenate(parts) if parts else np.zeros((0, self._card.dimension), np.float32)

    async def close(self) -> None:
        await self._raw.close()

    async def _batch(self, texts: list[str], start: int) -> Vectors:
        try:
            return await self._tried(lambda: self._passages(texts))
        except ModelError as error:
            if _is_final(error) or not await self._answers():
                error.details.pop("index", None)
                raise
            return await self._halves(texts, start, error)

    async def _halves(self, texts: list[str], start: int, error: ModelError) -> Vectors:
        """Each half by itself, down to the single text that fails."""
        if len(texts) == 1:
            raise ModelError(
                f"{self._card.identity} can't embed one of the texts: {error.message}",
                hint=error.hint,
                details={**error.details, "index": start},
            ) from error
        middle = len(texts) // 2
        done: list[Vectors] = []
        for half, place in ((texts[:middle], start), (texts[middle:], start + middle)):
            try:
                done.append(await self._passages(half))
            except ModelError as inner:
                done.append(await self._halves(half, place, inner))
        return np.concatenate(done)

    async def _answers(self) -> bool:
        """Whether the model takes a harmless text at the moment."""
        try:
            await self._passages([PROBE_TEXT])
        except ModelError:
            return False
        return True

    async def _tried(self, call: Callable[[], Awaitable[Vectors]]) -> Vectors:
        """Up to `ATTEMPTS` calls, with growing pauses that differ, so that many callers don't come back at once."""
        for attempt in range(ATTEMPTS):
            try:
                return await call()
            except ModelError as error:
                if attempt == ATTEMPTS - 1 or _is_final(error):
                    raise
                await self._sleep(self._pause(attempt, error))
        raise AssertionError("unreachable")

    def _pause(self, attempt: int, error: ModelError) -> float:
        grown = FIRST_DELAY * float(2**attempt) * (0.5 + self._rng.random())
        return min(MAX_DELAY, max(grown, float(error.details.get("retry_after", 0.0))))

    async def _query(self, text: str) -> Vectors:
        async def ask() -> Vectors:
            row: Vectors = np.asarray(await self._raw.embed_query(text))[None]
            return row

        return await self._checked(ask(), 1)

    async def _passages(self, texts: list[str]) -> Vectors:
        return await self._checked(self._raw.embed_passages(texts), len(texts))

    async def _checked(self, call: Awaitable[Vectors], count: int) -> Vectors:
        name = self._card.identity
        try:
            async with asyncio.timeout(self._seconds):
                raw = await call
        except TimeoutError as error:
            raise ModelError(
                f"{name} did not answer within {self._seconds:g} s.", hint="Check that the model's service is up."
            ) from error
        except (ModelError, DimensionMismatch):
            raise
        except (Unavailable, CallTimeout) as error:
            raise ModelError(error.message, hint=error.hint, details=error.details) from error
        except OporaError:
            raise
        except Exception as error:
            raise ModelError(f"{name} failed: {type(error).__name__}.", hint="See the log for the cause.") from error
        return check_vectors(raw, count, card=self._card)


def _is_final(error: ModelError) -> bool:
    """Whether neither another try nor a smaller batch can help: no model, a refused key, a wrong address."""
    return error.code == "model_not_configured" or bool(error.details.get("final"))
