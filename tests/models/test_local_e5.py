"""The local model's vectors are close to those of the float network, and a question does not wait for an ingest."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from opora.domain.errors import ModelError
from opora.models import local_e5
from opora.models.e5_build import FOLDER, NETWORK, E5Files, find_weights
from opora.models.e5_graph import build_graph
from opora.models.e5_weights import E5Weights
from opora.models.local_e5 import BATCH_TOKENS, CARD, E5Network, LocalE5, Window, batches
from opora.models.onnx_session import open_session

TEXTS = {
    "ru": [
        "passage: Расходы на проезд возмещаются по документам в течение десяти дней после возвращения.",
        "passage: Договор аренды продлевается автоматически, если ни одна из сторон не заявила об отказе.",
        "query: Когда компенсируют дорогу после поездки?",
    ],
    "en": [
        "passage: Call app.add_middleware(GZipMiddleware, minimum_size=1000) before the first request is served.",
        "passage: The warranty covers defects of material for 24 months from the date of delivery.",
        "query: how long is the warranty",
    ],
    "zh": [
        "passage: 差旅费用在返回后十天内凭票据报销，超过期限的不予受理。",
        "passage: 数据库连接池的大小应与并发请求数相匹配。",
        "query: 出差的路费什么时候报销？",
    ],
}


@pytest.fixture
async def model(e5_files: E5Files, e5_cache: Path) -> AsyncIterator[LocalE5]:
    made = LocalE5(e5_cache, threads=2)
    yield made
    await made.close()


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def both(e5_files: E5Files, tmp_path_factory: pytest.TempPathFactory) -> dict[str, np.ndarray]:
    """Cosines of the int8 vectors to those of the float network, by language."""
    import onnx

    path = tmp_path_factory.mktemp("float") / "float.onnx"
    onnx.save(build_graph(E5Weights(find_weights())), path)
    small = E5Network(e5_files, find_weights(), threads=2)
    cosines = {}
    for language, texts in TEXTS.items():
        windows = small.windows(texts)
        quantised = unit(small.run(windows))
        exact = E5Network(e5_files, find_weights(), threads=2)
        exact._session = open_session(path, threads=2)
        cosines[language] = (quantised * unit(exact.run(windows))).sum(axis=1)
    return cosines


@pytest.mark.parametrize("language", TEXTS)
def test_int8_is_close_to_the_float_network(both: dict[str, np.ndarray], language: str) -> None:
    assert both[language].min() >= 0.99


def test_weights_are_quantised_by_channel(e5_files: E5Files) -> None:
    import onnx

    model = onnx.load(e5_files.network)
    scales = [c for c in model.graph.initializer if c.name.startswith("l") and c.name.endswith("weight_scale")]
    assert len(scales) == 12 * 6
    assert all(np.prod(scale.dims) in (384, 1536) for scale in scales)


async def test_vectors_rank_what_belongs_together(model: LocalE5) -> None:
    passages = [text.removeprefix("passage: ") for texts in TEXTS.values() for text in texts[:2]]
    rows = await model.embed_passages(passages)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    for language, best in (("ru", 0), ("en", 3), ("zh", 4)):
        query = await model.embed_query(TEXTS[language][2].removeprefix("query: "))
        assert query.shape == (CARD.dimension,)
        assert int(np.argmax(rows @ query)) == best
        assert float(rows[best] @ query) > CARD.vector_threshold


async def test_order_and_neighbours_in_a_batch_do_not_matter(model: LocalE5) -> None:
    texts = ["короткий", "a longer text about nothing in particular " * 9, "中文", "", "x"]
    together = await model.embed_passages(texts)
    turned = await model.embed_passages(texts[::-1])
    alone = np.stack([(await model.embed_passages([text]))[0] for text in texts])
    assert np.all((together * turned[::-1]).sum(axis=1) > 0.99)
    assert np.all((together * alone).sum(axis=1) > 0.99)


async def test_hostile_text_has_a_vector(model: LocalE5) -> None:
    texts = ["", " ", "\x00", "\ud800\udfff", "\ufdfa" * 1000, "слово " * 3000, "\ue000"]
    rows = await model.embed_passages(texts)
    assert np.isfinite(rows).all()
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert (await model.embed_passages([])).shape == (0, CARD.dimension)


async def test_a_long_text_is_the_mean_of_its_windows_by_length(model: LocalE5, e5_files: E5Files) -> None:
    network = E5Network(e5_files, find_weights(), threads=2)
    text = "Первое слово. " * 300
    windows = network.windows(["passage: " + text])
    step = network.shape.positions - 2
    assert [len(window.tokens) for window in windows[:-1]] == [step] * (len(windows) - 1)
    assert len(windows) > 1
    parts = np.stack([network.run([window])[0] for window in windows])
    weights = np.array([len(window.tokens) for window in windows])[:, None]
    mean = unit((parts * weights).sum(axis=0, keepdims=True))[0]
    assert float(mean @ (await model.embed_passages([text]))[0]) > 0.999


def test_batches_hold_about_a_thousand_tokens() -> None:
    windows = [Window(number, [5] * length) for number, length in enumerate([510, 300, 118, 118, 50, 50, 5, 5, 0])]
    cut = batches(windows)
    assert [window for batch in cut for window in batch] == windows
    assert all(len(batch) * (len(batch[0].tokens) + 2) <= max(BATCH_TOKENS, 512) for batch in cut)
    assert batches([]) == []


async def test_a_question_does_not_wait_for_an_ingest(model: LocalE5, monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    await model.load()
    held, running = threading.Event(), threading.Event()
    run = E5Network.run

    def hold(network: E5Network, windows: list[Window]) -> np.ndarray:
        if threading.current_thread().name.startswith("e5-passage"):
            running.set()
            assert held.wait(30)
        return run(network, windows)

    monkeypatch.setattr(E5Network, "run", hold)
    ingest = asyncio.create_task(model.embed_passages(["a"] * 50))
    await asyncio.to_thread(running.wait, 30)
    assert (await model.embed_query("вопрос")).shape == (CARD.dimension,)
    assert not ingest.done()
    held.set()
    assert (await ingest).shape == (50, CARD.dimension)


async def test_a_cancelled_ingest_stops_at_the_next_batch(model: LocalE5, monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    await model.load()
    held, running = threading.Event(), threading.Event()
    runs = 0
    run = E5Network.run

    def hold(network: E5Network, windows: list[Window]) -> np.ndarray:
        nonlocal runs
        runs += 1
        running.set()
        assert held.wait(30)
        return run(network, windows)

    monkeypatch.setattr(E5Network, "run", hold)
    ingest = asyncio.create_task(model.embed_passages(["слово " * 400] * 20))
    await asyncio.to_thread(running.wait, 30)
    ingest.cancel()
    with pytest.raises(asyncio.CancelledError):
        await ingest
    held.set()
    await model.close()
    assert runs == 1


async def test_damaged_files_are_built_anew(tmp_path: Path, e5_files: E5Files, monkeypatch: pytest.MonkeyPatch) -> None:
    damaged = E5Files(network=tmp_path / FOLDER / NETWORK, tokeniser=e5_files.tokeniser)
    damaged.network.parent.mkdir()
    damaged.network.write_bytes(b"not a network")
    monkeypatch.setattr(local_e5, "prepare", lambda weights, cache: damaged if damaged.network.exists() else e5_files)
    model = LocalE5(tmp_path)
    assert (await model.embed_query("a")).shape == (CARD.dimension,)
    await model.close()


async def test_files_that_stay_damaged_are_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "bad"
    path.write_bytes(b"bad")
    monkeypatch.setattr(local_e5, "prepare", lambda weights, cache: E5Files(network=path, tokeniser=path))
    model = LocalE5(tmp_path)
    with pytest.raises(ModelError, match="could not be loaded"):
        await model.load()
    await model.close()


def test_the_session_is_quiet_and_on_the_processor(e5_files: E5Files) -> None:
    session = open_session(e5_files.network, threads=1)
    options = session.get_session_options()
    assert session.get_providers() == ["CPUExecutionProvider"]
    assert options.get_session_config_entry("session.intra_op.allow_spinning") == "0"
    assert not options.enable_cpu_mem_arena
    assert options.intra_op_num_threads == 1
