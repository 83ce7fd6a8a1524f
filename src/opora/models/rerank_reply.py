"""Reads the reply of a reranking service and brings its scores to the scale from 0 to 1."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from opora.domain.errors import ModelError

ROUNDING = 1e-6
MAX_SCORE = 1e6
"""No model's logit comes near; NaN and infinity do not pass either."""
_SCORE_NAMES = ("relevance_score", "score")


def read_scores(raw: bytes, count: int) -> list[float]:
    """One score a passage, in the order of the passages: services reply best first, so each is placed by its index.

    The reply is a list, or an object with the list in ``results``. Raises `ModelError` unless there is exactly one
    finite score for each of the ``count`` passages.
    """
    scores: dict[int, float] = {}
    for item in _items(raw):
        place, score = _place(item, count), _score(item)
        if place in scores:
            raise _unfit(f"it scored passage {place} twice")
        scores[place] = score
    if len(scores) != count:
        raise _unfit(f"it gave {len(scores)} scores for {count} passages")
    return [scores[place] for place in range(count)]


def logistic(logit: float) -> float:
    """A logit as a probability; it can't overflow."""
    if logit >= 0:
        return 1.0 / (1.0 + math.exp(-logit))
    power = math.exp(logit)
    return power / (1.0 + power)


def are_logits(scores: Sequence[float]) -> bool:
    """Whether these are certainly neither probabilities nor cosines."""
    return any(abs(score) > 1.0 + ROUNDING for score in scores)


def within_unit(scores: Sequence[float]) -> list[float]:
    """Scores of a service that promises 0 to 1; raises `ModelError` when it does not hold that."""
    for score in scores:
        if not -ROUNDING <= score <= 1.0 + ROUNDING:
            raise _unfit(f"a score of {score:g} is not between 0 and 1")
    return [min(1.0, max(0.0, score)) for score in scores]


def _items(raw: bytes) -> list[Any]:
    try:
        reply = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise _unfit("it is not JSON") from error
    items = reply.get("results") if isinstance(reply, dict) else reply
    if not isinstance(items, list):
        raise _unfit("it holds no list of results")
    return items


def _place(item: Any, count: int) -> int:
    place = item.get("index") if isinstance(item, dict) else None
    if not isinstance(place, int) or isinstance(place, bool):
        raise _unfit("a result does not say which passage it is about")
    if not 0 <= place < count:
        raise _unfit(f"it names passage {place} of {count}")
    return place


def _score(item: dict[str, Any]) -> float:
    score = next((item[name] for name in _SCORE_NAMES if name in item), None)
    if isinstance(score, int | float) and not isinstance(score, bool) and abs(score) <= MAX_SCORE:
        return float(score)
    raise _unfit("a result has no score that is a finite number")


def _unfit(what: str) -> ModelError:
    return ModelError(
        f"The reranking model's reply can't be used: {what}.", hint="Check OPORA_RERANK_URL and OPORA_RERANK_STYLE."
    )
