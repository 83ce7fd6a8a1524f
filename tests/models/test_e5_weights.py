"""The weight file is read as it lies, and a damaged one is named."""

from pathlib import Path

import numpy as np
import pytest

from opora.domain.errors import ModelError
from opora.models.e5_build import find_weights
from opora.models.e5_weights import E5Weights, unpack


def test_sizes_and_vocabulary() -> None:
    weights = E5Weights(find_weights())
    shape = weights.shape
    assert (shape.hidden, shape.layers, shape.heads, shape.feed_forward, shape.positions) == (384, 12, 12, 1536, 512)
    pieces = weights.pieces()
    assert len(pieces) == 250_002
    assert [piece for piece, _ in pieces[:4]] == [b"<s>", b"<pad>", b"</s>", b"<unk>"]
    assert weights.matrix("l0.q.w", 384).shape == (384, 384)
    assert weights.replacements()[1] == ""


def test_a_block_is_a_scale_and_two_halves_around_eight() -> None:
    block = np.zeros((1, 1, 18), np.uint8)
    block[0, 0, :2] = np.frombuffer(np.float16(0.5).tobytes(), np.uint8)
    block[0, 0, 2:] = 0x8F
    row = unpack(block)[0]
    assert row[:16].tolist() == [3.5] * 16
    assert row[16:].tolist() == [0.0] * 16


@pytest.mark.parametrize("content", [b"E5S2" + b"\0" * 100, b"E5S1", b"E5S1" + b"\xff" * 200, b"x", b""])
def test_a_damaged_file_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "weights.bin"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=r"weights\.bin"):
        E5Weights(path)
