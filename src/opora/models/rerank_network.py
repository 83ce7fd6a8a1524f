"""A cross-encoder in ONNX form, loaded from a folder: query and passage in, one logit out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from opora.domain.errors import ModelError, ModelNotConfigured
from opora.models.onnx_session import open_session

NETWORKS = ("model.onnx", "onnx/model.onnx")
TOKENISER = "tokenizer.json"
DEFAULT_MAX_TOKENS = 512
MAX_TOKENS = 2048
"""Of a pair, also where a model takes more: no chunk is longer, and the time grows with the square."""
PLACES_FROM_TWO = frozenset({"roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "mpnet"})
"""Models that number their places from 2, so that two of those in their configuration can't be used."""
_TYPES = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})


@dataclass(frozen=True, slots=True)
class Pair:
    """Query and one passage as the model takes them, and which passage that was."""

    passage: int
    ids: list[int]
    types: list[int]


def find_network(folder: Path) -> Path:
    """The network of a model's folder; raises `ModelNotConfigured` when it or the tokeniser is not there."""
    network = next((folder / name for name in NETWORKS if (folder / name).is_file()), None)
    if network is None or not (folder / TOKENISER).is_file():
        missing = NETWORKS[0] if network is None else TOKENISER
        raise ModelNotConfigured(
            f"The folder {folder} holds no reranking model: there is no {missing}.",
            hint="Name a folder with model.onnx and tokenizer.json in OPORA_RERANK_FOLDER.",
        )
    return network


class CrossEncoder:
    """The loaded model. Its calls block; one thread at a time may use it."""

    def __init__(self, folder: Path, *, threads: int) -> None:
        from tokenizers import Tokenizer

        network = find_network(folder)
        config = _json(folder / "config.json")
        self.max_tokens = _max_tokens(config, _json(folder / "tokenizer_config.json"))
        self._tokeniser: Any = Tokenizer.from_file(str(folder / TOKENISER))
        self._pad = _pad_id(config, self._tokeniser)
        self._tokeniser.no_padding()
        self._session = open_session(network, threads=threads)
        self._inputs = {node.name: _TYPES.get(node.type) for node in self._session.get_inputs()}
        if "input_ids" not in self._inputs or set(self._inputs) - _INPUTS or None in self._inputs.values():
            raise ModelError(
                f"{network.name} is no cross-encoder: it asks for {', '.join(sorted(self._inputs))}.",
                hint="OPORA_RERANK_FOLDER needs a text classifier over pairs of query and passage.",
            )

    def pairs(self, query: str, passages: Sequence[str]) -> list[Pair]:
        """One pair a passage, cut to what the model takes at the passage's end, longest first."""
        query = self._shortened(query)
        self._tokeniser.enable_truncation(self.max_tokens, strategy="only_second")
        made = []
        for place, passage in enumerate(passages):
            encoded = self._tokeniser.encode(query, passage)
            made.append(Pair(place, encoded.ids, encoded.type_ids))
        return sorted(made, key=lambda pair: -len(pair.ids))

    def run(self, pairs: Sequence[Pair]) -> list[float]:
        """A logit for each pair of a batch. Raises `ModelError` when the model gives something else."""
        shape = (len(pairs), max(len(pair.ids) for pair in pairs))
        ids = np.full(shape, self._pad, np.int64)
        mask = np.zeros(shape, np.int64)
        types = np.zeros(shape, np.int64)
        for row, pair in enumerate(pairs):
            length = len(pair.ids)
            ids[row, :length] = pair.ids
            types[row, :length] = pair.types
            mask[row, :length] = 1
        values = {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}
        feed = {name: values[name].astype(kind, copy=False) for name, kind in self._inputs.items()}
        logits = _logits(self._session.run(None, feed)[0], len(pairs))
        if not np.isfinite(logits).all():
            raise ModelError("The reranking model gave a score that is not a number.")
        found: list[float] = logits.tolist()
        return found

    def _shortened(self, query: str) -> str:
        """At most half of the model's places go to the query, so that a passage always has room."""
        self._tokeniser.no_truncation()
        encoded = self._tokeniser.encode(query, add_special_tokens=False)
        most = self.max_tokens // 2
        return query if len(encoded.ids) <= most else query[: encoded.offsets[most - 1][1]]


def _logits(raw: npt.NDArray[Any], count: int) -> npt.NDArray[np.float64]:
    """One number a pair: the only one there is, or the lead of 'relevant' over 'not relevant'."""
    rows = np.asarray(raw, np.float64)
    if rows.shape == (count,):
        return rows
    if rows.ndim == 2 and rows.shape[0] == count and rows.shape[1] in (1, 2):
        single: npt.NDArray[np.float64] = rows[:, -1] - (rows[:, 0] if rows.shape[1] == 2 else 0.0)
        return single
    raise ModelError(
        f"The reranking model gave numbers of shape {rows.shape} for {count} pairs.",
        hint="OPORA_RERANK_FOLDER needs a text classifier with one or two classes.",
    )


def _json(path: Path) -> Mapping[str, Any]:
    if not path.is_file():
        return {}
    found = json.loads(path.read_text(encoding="utf-8"))
    return found if isinstance(found, dict) else {}


def _max_tokens(config: Mapping[str, Any], tokeniser: Mapping[str, Any]) -> int:
    """The least of the limits that the model's own files name. Some tokenisers name one beyond all measure."""
    places = config.get("max_position_embeddings")
    if isinstance(places, int) and config.get("model_type") in PLACES_FROM_TWO:
        places -= 2
    named = [limit for limit in (places, tokeniser.get("model_max_length")) if isinstance(limit, int | float)]
    return int(min([*named, MAX_TOKENS])) if named else DEFAULT_MAX_TOKENS


def _pad_id(config: Mapping[str, Any], tokeniser: Any) -> int:
    """The model's own padding token: some networks tell padding by it rather than by the mask."""
    if isinstance(config.get("pad_token_id"), int):
        return int(config["pad_token_id"])
    if tokeniser.padding:
        return int(tokeniser.padding["pad_id"])
    return next((number for name in ("[PAD]", "<pad>") if (number := tokeniser.token_to_id(name)) is not None), 0)
