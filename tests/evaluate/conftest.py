"""The small datasets of this folder, and the large ones where somebody has them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

DATA = Path(__file__).parent / "data"

Write = Callable[..., Path]


@pytest.fixture(scope="session")
def office() -> Path:
    return DATA / "office"


@pytest.fixture(scope="session")
def kitchen() -> Path:
    return DATA / "kitchen"


@pytest.fixture(scope="session")
def large() -> Path:
    """The folder of the public sets, which are not ours to ship."""
    folder = os.environ.get("OPORA_EVAL_DATA")
    if not folder:
        pytest.skip("OPORA_EVAL_DATA names no folder with the public sets")
    return Path(folder)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """A dataset's folder from rows, or from raw text or bytes where a test breaks it."""

    def make(**files: object) -> Path:
        folder = tmp_path / "set"
        names = {"passages": "passages.jsonl", "queries": "queries.jsonl", "qrels": "qrels.tsv"}
        whole: Mapping[str, object] = {
            "passages": [{"id": "p1", "title": "T", "text": "one"}, {"id": "p2", "text": "two"}],
            "queries": [{"id": "q1", "text": "one?"}, {"id": "q2", "text": "two?"}],
            "qrels": "q1\tp1\t1\nq2\tp2\t1\n",
        } | files
        for name, content in whole.items():
            if content is None:
                continue
            path = folder / names.get(name, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, bytes):
                path.write_bytes(content)
            elif isinstance(content, str):
                path.write_text(content, encoding="utf-8")
            else:
                assert isinstance(content, list)
                path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in content), "utf-8")
        return folder

    return make
