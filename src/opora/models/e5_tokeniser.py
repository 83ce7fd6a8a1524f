"""Text to token numbers for multilingual-e5-small, by `sentencepiece` over the pieces in the weight file.

The usual tokeniser library takes 290 MB for this vocabulary; sentencepiece takes a fraction, and gives the same
numbers. Its model is a protobuf message of three fields, written here by hand so that no protobuf run-time is loaded.
"""

from __future__ import annotations

import re
import struct
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path

from opora.models.e5_weights import E5Weights

NORMAL, UNKNOWN, CONTROL = 1, 2, 3
"""Kinds of piece in sentencepiece's message."""
UNIGRAM = 1

_SPACES = re.compile(" {2,}")
_UNUSABLE = re.compile("[\x00\ud800-\udfff]")


def model_bytes(weights: E5Weights) -> bytes:
    """A sentencepiece model with the pieces and scores of the weight file, which changes no character by itself."""
    shape = weights.shape
    kinds = {shape.begin: CONTROL, shape.pad: CONTROL, shape.end: CONTROL, shape.unknown: UNKNOWN}
    parts = [
        _message(1, _piece(text, score, kinds.get(number, NORMAL)))
        for number, (text, score) in enumerate(weights.pieces())
    ]
    ids = ((40, shape.unknown), (41, shape.begin), (42, shape.end), (43, shape.pad))
    trainer = _number(3, UNIGRAM) + b"".join(_number(field, value) for field, value in ids)
    # add_dummy_prefix, remove_extra_whitespaces, escape_whitespaces: all of that is done in `clean`.
    normaliser = _message(1, b"identity") + _number(3, 0) + _number(4, 0) + _number(5, 0)
    return b"".join((*parts, _message(2, trainer), _message(3, normaliser)))


def _piece(text: bytes, score: float, kind: int) -> bytes:
    return _message(1, text) + b"\x15" + struct.pack("<f", score) + _number(3, kind)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _message(field: int, payload: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(payload)) + payload


class E5Tokeniser:
    """Turns text into token numbers; the marks of begin and end are added by the caller."""

    def __init__(self, model: Path, replacements: dict[int, str]) -> None:
        import sentencepiece

        self._replacements = replacements
        self._processor = sentencepiece.SentencePieceProcessor(model_file=str(model))

    def clean(self, text: str) -> str:
        """The text as the model saw it in training: folded, single spaces, spaces shown as U+2581, one in front."""
        text = unicodedata.normalize("NFKC", _UNUSABLE.sub(" ", text)).translate(self._replacements)
        text = _SPACES.sub(" ", text).replace(" ", "\u2581")
        return text if text.startswith("\u2581") else "\u2581" + text

    def encode(self, texts: Sequence[str] | Iterable[str]) -> list[list[int]]:
        encoded: list[list[int]] = self._processor.encode([self.clean(text) for text in texts], num_threads=1)
        return encoded
