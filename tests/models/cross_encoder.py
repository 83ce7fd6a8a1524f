"""A whole cross-encoder in a few kilobytes: its logit grows with the words that query and passage share.

logit = GAIN x (shared words) - BIAS, over the words that the mask lets through and the types tell apart.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, pre_tokenizers, processors

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
WORDS = ("отпуск", "дни", "проезд", "расходы", "мост", "река", "и", "в")
GAIN, BIAS = 2.0, 3.0
INT64, INT32 = TensorProto.INT64, TensorProto.INT32


def write_model(
    folder: Path, *, classes: int = 1, kind: int = INT64, with_types: bool = True, **config: object
) -> Path:
    """The folder with network, tokeniser and configuration. ``classes`` is the width of the output; 0 is a flat one."""
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(_network(classes, kind, with_types=with_types), str(folder / "model.onnx"))
    _tokeniser().save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps({"pad_token_id": 0, "max_position_embeddings": 16} | config))
    return folder


def logit(query: str, passage: str) -> float:
    return GAIN * sum(query.split().count(word) * passage.split().count(word) for word in WORDS) - BIAS


def _tokeniser() -> Tokenizer:
    vocabulary = {word: number for number, word in enumerate((*SPECIAL, *WORDS))}
    tokeniser = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokeniser.pre_tokenizer = pre_tokenizers.Whitespace()
    tokeniser.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])],
    )
    return tokeniser


def _network(classes: int, kind: int, *, with_types: bool) -> onnx.ModelProto:
    table = np.zeros((len(SPECIAL) + len(WORDS), len(WORDS)), np.float32)
    table[len(SPECIAL) :] = np.eye(len(WORDS), dtype=np.float32)
    # Padding counts for every word there is, so that a network fed without its mask gives itself away.
    table[0] = 1.0
    lead = {0: [[1.0]], 1: [[1.0]], 2: [[-0.5, 0.5]]}.get(classes, [[1.0] * classes])
    constants = {
        "table": table,
        "gain": np.float32(GAIN),
        "bias": np.float32(BIAS),
        "one": np.float32(1.0),
        "last": np.array([2]),
        "words": np.array([1]),
        "lead": np.array(lead, np.float32),
        "flat": np.array([-1]),
    }
    node = helper.make_node
    steps = [
        node("Gather", ["table", "input_ids"], ["embedded"]),
        node("Cast", ["attention_mask"], ["mask_f"], to=TensorProto.FLOAT),
        node("Unsqueeze", ["mask_f", "last"], ["mask"]),
        node("Mul", ["embedded", "mask"], ["seen"]),
    ]
    if with_types:
        steps += [
            node("Cast", ["token_type_ids"], ["types_f"], to=TensorProto.FLOAT),
            node("Unsqueeze", ["types_f", "last"], ["types"]),
            node("Mul", ["seen", "types"], ["passage_words"]),
            node("Sub", ["seen", "passage_words"], ["query_words"]),
            node("ReduceSum", ["passage_words", "words"], ["passage_bag"], keepdims=0),
            node("ReduceSum", ["query_words", "words"], ["query_bag"], keepdims=0),
        ]
    else:
        steps += [node("ReduceSum", ["seen", "words"], ["passage_bag"], keepdims=0)]
        steps += [node("Identity", ["passage_bag"], ["query_bag"])]
    steps += [
        node("Mul", ["query_bag", "passage_bag"], ["shared"]),
        node("ReduceSum", ["shared", "words"], ["count"], keepdims=1),
        node("Mul", ["count", "gain"], ["grown"]),
        node("Sub", ["grown", "bias"], ["one_logit"]),
        node("MatMul", ["one_logit", "lead"], ["wide"]),
        node("Reshape", ["one_logit", "flat"], ["logits"]) if classes == 0 else node("Identity", ["wide"], ["logits"]),
    ]
    names = ["input_ids", "attention_mask", *(["token_type_ids"] if with_types else [])]
    graph = helper.make_graph(
        steps,
        "cross-encoder",
        [helper.make_tensor_value_info(name, kind, ["batch", "length"]) for name in names],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", *([classes] if classes else [])])],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 10
    onnx.checker.check_model(model)
    return model
