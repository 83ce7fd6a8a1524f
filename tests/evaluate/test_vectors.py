"""Vectors that are kept: nothing is embedded twice, and a torn file costs its last record only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from opora.domain.errors import InvalidInput
from opora.evaluate import vectors
from opora.evaluate.vectors import CachedEmbedder
from opora.models.null import NullEmbedder
from opora.ports import EmbedderCard, Vectors


class Counting(NullEmbedder):
    """Counts what it is asked for, and can go by another name."""

    def __init__(self, identity: str = "counting") -> None:
        super().__init__(8)
        self.asked: list[str] = []
        self.identity = identity

    @property
    def card(self) -> EmbedderCard:
        return replace(super().card, identity=self.identity)

    async def embed_query(self, text: str) -> Vectors:
        self.asked.append(f"? {text}")
        return await super().embed_query(f"? {text}")

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return await super().embed_passages(texts)


async def test_each_text_is_embedded_once_and_kept(tmp_path: Path) -> None:
    inner = Counting()
    cached = CachedEmbedder(inner, tmp_path)
    rows = await cached.embed_passages(["a", "b", "a"])
    assert rows.shape == (3, 8)
    assert np.array_equal(rows, await NullEmbedder(8).embed_passages(["a", "b", "a"]))
    query = await cached.embed_query("a")
    assert not np.array_equal(query, rows[0])
    assert inner.asked == ["a", "b", "? a"]
    again = Counting()
    later = CachedEmbedder(again, tmp_path)
    assert np.array_equal(await later.embed_passages(["b", "a"]), rows[[1, 0]])
    assert np.array_equal(await later.embed_query("a"), query)
    assert again.asked == []
    assert (await later.embed_passages([])).shape == (0, 8)
    await later.close()


async def test_models_do_not_share_vectors(tmp_path: Path) -> None:
    await CachedEmbedder(Counting(), tmp_path).embed_passages(["a"])
    other = Counting("other")
    await CachedEmbedder(other, tmp_path).embed_passages(["a"])
    assert other.asked == ["a"]


async def test_a_record_cut_short_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "BATCH", 1)
    rows = await CachedEmbedder(Counting(), tmp_path).embed_passages(["a", "b"])
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:-3])
    inner = Counting()
    cached = CachedEmbedder(inner, tmp_path)
    assert np.array_equal(await cached.embed_passages(["a", "b"]), rows)
    assert inner.asked == ["b"]
    unread = Counting()
    assert np.array_equal(await CachedEmbedder(unread, tmp_path).embed_passages(["a", "b"]), rows)
    assert unread.asked == []


def test_a_folder_that_can_not_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    with pytest.raises(InvalidInput, match="can't be used"):
        CachedEmbedder(Counting(), tmp_path / "file")
