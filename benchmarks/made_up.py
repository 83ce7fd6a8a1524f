"""Vectors, texts and prose that are made up: the same seed gives the same ones on every machine."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

DIMENSION = 384
VOCABULARY = 50_000
Matrix = npt.NDArray[np.float32]

_SYLLABLES = re.findall(r"\w+", "ба ве ги до жу зе ка ле ми но пу ра си те фо ху ца че ша щи ро ста пре вод зна")


def units(rng: np.random.Generator, rows: int) -> Matrix:
    """Random vectors of length 1."""
    vectors = rng.standard_normal((rows, DIMENSION), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def texts(rng: np.random.Generator, rows: int, words: int = 40) -> list[str]:
    """Words drawn with probability 1 / (rank + 50): the long tail of a language without its function words."""
    chances = np.cumsum(1.0 / (np.arange(VOCABULARY) + 50.0))
    drawn = np.searchsorted(chances, rng.random((rows, words)) * chances[-1])
    return [" ".join(f"w{number:x}q" for number in line) for line in drawn.tolist()]


class Prose:
    """Sentences in the letters and the word lengths of Russian, with a long tail of words."""

    def __init__(self, chance: random.Random, vocabulary: int = 8_000) -> None:
        self._chance = chance
        self._words = ["".join(chance.choices(_SYLLABLES, k=chance.randint(2, 4))) for _ in range(vocabulary)]
        self._weights = [1.0 / (rank + 20) for rank in range(vocabulary)]

    def sentence(self) -> str:
        words = self._chance.choices(self._words, self._weights, k=self._chance.randint(6, 18))
        return " ".join(words).capitalize() + "."

    def paragraphs(self, count: int) -> list[list[str]]:
        """Paragraphs of two to six sentences."""
        return [[self.sentence() for _ in range(self._chance.randint(2, 6))] for _ in range(count)]

    def question(self, sentence: str, words: int = 6) -> str:
        """A question in words of a sentence, which therefore answers it."""
        found: Sequence[str] = sentence.rstrip(".").split()
        return " ".join(self._chance.sample(found, min(words, len(found)))).lower() + "?"
