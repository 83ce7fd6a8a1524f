"""Whatever a model returns, what passes the check can be relied on, and a failure names what is to blame."""

import asyncio
import math
import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opora.domain.errors import DimensionMismatch, ModelError, ModelNotConfigured, Timeout, Unavailable
from opora.models.checked import ATTEMPTS, FIRST_DELAY, MAX_DELAY, PROBE_TEXT, CheckedEmbedder, check_vectors
from opora.models.null import NullEmbedder
from opora.ports import EmbedderCard, Vectors


class Raw:
    """A raw embedder that is told how to fail; its vectors have length 5 and hold the text's length."""

    def __init__(self, *, dimension: int = 0, size: int = 2) -> None:
        self.card = EmbedderCard(identity="raw", dimension=dimension, max_tokens=9, vector_threshold=0.0)
        self.size = size
        self.calls: list[list[str]] = []
        self.failures: list[Exception] = []
        self.poison: dict[str, Exception | float] = {}
        self.down: Exception | None = None

    async def embed_query(self, text: str) -> Vectors:
        return (await self.embed_passages([text]))[0]

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.calls.append(list(texts))
        if self.down:
            raise self.down
        if self.failures:
            raise self.failures.pop(0)
        rows = np.full((len(texts), self.size), 5.0, np.float32)
        for row, text in enumerate(texts):
            bad = self.poison.get(text)
            if isinstance(bad, Exception):
                raise bad
            if bad is not None:
                rows[row] = bad
        return rows

    async def close(self) -> None: ...


class Naps:
    def __init__(self) -> None:
        self.taken: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.taken.append(seconds)


def checked(raw: Raw, naps: Naps | None = None, **options: int) -> CheckedEmbedder:
    return CheckedEmbedder(raw, sleep=naps or Naps(), rng=random.Random(1), **options)


async def test_the_size_is_probed_once_and_stands_on_the_card() -> None:
    raw = Raw(size=3)
    embedder = checked(raw)
    await asyncio.gather(embedder.probe(), embedder.probe())
    await embedder.embed_passages(["a"])
    assert embedder.card.dimension == 3
    assert raw.calls == [[PROBE_TEXT], ["a"]]


async def test_rows_have_length_one_in_the_order_of_the_texts() -> None:
    rows = await checked(Raw(), batch_size=2).embed_passages(["a", "b", "c"])
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1)
    assert rows.shape == (3, 2)
    assert (await checked(Raw()).embed_query("a")).shape == (2,)
    assert (await checked(Raw()).embed_passages([])).shape == (0, 2)


async def test_another_size_than_recorded_is_a_mismatch_with_both_numbers() -> None:
    raw = Raw(dimension=384, size=2)
    with pytest.raises(DimensionMismatch) as caught:
        await checked(raw).embed_passages(["a"])
    assert caught.value.details == {"expected": 384, "actual": 2, "model": "raw"}
    assert len(raw.calls) == 1


async def test_a_size_that_changes_later_is_a_mismatch() -> None:
    raw = Raw(size=2)
    embedder = checked(raw)
    await embedder.probe()
    raw.size = 3
    with pytest.raises(DimensionMismatch):
        await embedder.embed_query("a")


@pytest.mark.parametrize("error", [ModelError("x"), Unavailable("x"), Timeout("x"), RuntimeError("x")])
async def test_a_passing_failure_is_tried_again_after_growing_pauses(error: Exception) -> None:
    raw, naps = Raw(), Naps()
    embedder = checked(raw, naps)
    await embedder.probe()
    raw.failures = [error, error]
    assert (await embedder.embed_passages(["a"])).shape == (1, 2)
    assert len(naps.taken) == ATTEMPTS - 1
    for attempt, pause in enumerate(naps.taken):
        assert 0.5 * FIRST_DELAY * 2**attempt <= pause <= 1.5 * FIRST_DELAY * 2**attempt


async def test_a_pause_that_the_provider_asks_for_is_kept_within_reason() -> None:
    raw, naps = Raw(), Naps()
    raw.failures = [ModelError("x", details={"retry_after": 7.0}), ModelError("x", details={"retry_after": 1e9})]
    await checked(raw, naps).probe()
    assert naps.taken == [7.0, MAX_DELAY]


@pytest.mark.parametrize("error", [ModelNotConfigured("x"), ModelError("x", details={"final": True})])
async def test_what_no_try_can_mend_is_raised_at_once(error: ModelError) -> None:
    raw, naps = Raw(), Naps()
    embedder = checked(raw, naps)
    await embedder.probe()
    raw.down = error
    with pytest.raises(ModelError):
        await embedder.embed_passages(["a", "b"])
    assert len(raw.calls) == 2
    assert naps.taken == []


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 20), st.data(), st.sampled_from([math.nan, math.inf, 0.0, ModelError("bad"), ValueError("bad")]))
async def test_one_poisonous_text_is_named_by_its_index(
    count: int, data: st.DataObject, poison: float | Exception
) -> None:
    index = data.draw(st.integers(0, count - 1))
    raw = Raw()
    raw.poison = {f"text {index}": poison}
    embedder = checked(raw, batch_size=7)
    with pytest.raises(ModelError) as caught:
        await embedder.embed_passages([f"text {number}" for number in range(count)])
    assert caught.value.details["index"] == index


async def test_a_batch_that_is_too_large_is_taken_in_halves() -> None:
    class Small(Raw):
        async def embed_passages(self, texts: Sequence[str]) -> Vectors:
            if len(texts) > 3:
                raise ModelError("too many")
            return await super().embed_passages(texts)

    assert (await checked(Small()).embed_passages(["a"] * 10)).shape == (10, 2)


async def test_a_service_that_is_down_blames_no_text() -> None:
    raw = Raw()
    embedder = checked(raw)
    await embedder.probe()
    raw.down = Unavailable("down", hint="start it")
    with pytest.raises(ModelError) as caught:
        await embedder.embed_passages(["a"] * 64)
    assert "index" not in caught.value.details
    assert caught.value.hint == "start it"
    assert len(raw.calls) == 1 + ATTEMPTS + 1


async def test_silence_ends_in_a_model_error() -> None:
    class Silent(Raw):
        async def embed_passages(self, texts: Sequence[str]) -> Vectors:
            await asyncio.Event().wait()
            raise AssertionError

    with pytest.raises(ModelError, match="did not answer"):
        await CheckedEmbedder(Silent(), seconds=0.01, sleep=Naps()).embed_query("a")


async def test_text_that_no_service_takes_is_cleaned() -> None:
    raw = Raw()
    embedder = checked(raw)
    await embedder.embed_passages(["a\x00b\ud800c"])
    await embedder.embed_query("\udfff?")
    assert raw.calls[1:] == [["a b c"], [" ?"]]


@pytest.mark.parametrize("shape", [(3, 2), (1, 2), (2,), (2, 2, 1)])
def test_a_wrong_count_or_form_is_refused(shape: tuple[int, ...]) -> None:
    card = NullEmbedder(2).card
    with pytest.raises(ModelError):
        check_vectors(np.ones(shape, np.float32), 2, card=card)


async def test_the_null_embedder_passes_unchanged() -> None:
    raw = NullEmbedder(16)
    rows = await CheckedEmbedder(raw).embed_passages(["a", "b"])
    assert np.allclose(rows, await raw.embed_passages(["a", "b"]), atol=1e-6)
