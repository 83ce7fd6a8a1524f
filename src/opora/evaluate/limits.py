"""Reads the figures that a change must not fall below, and says which of them it does.

The file is YAML or JSON:

    minimum:                  # by arm, shares in 0 to 1
      hybrid: {ndcg@10: 0.95, recall@10: 0.99}
    max_drop:                 # against the run given with --compare
      hybrid: {ndcg@10: 0.005}
    max_false_answers: 0.10   # of every off-topic set
    max_missed_answers: 0.05
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from opora.domain.errors import InvalidInput
from opora.evaluate.arms import ARMS
from opora.evaluate.evaluation import Evaluation
from opora.evaluate.measures import MEASURES

ByArm = Mapping[str, Mapping[str, float]]
_NAMES = ("minimum", "max_drop", "max_false_answers", "max_missed_answers")
_SLACK = 1e-9
"""A figure that is equal but for the last digit of a sum is equal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    minimum: ByArm = field(default_factory=dict)
    max_drop: ByArm = field(default_factory=dict)
    max_false_answers: float | None = None
    max_missed_answers: float | None = None


def read_limits(path: Path) -> Limits:
    """Raises `InvalidInput` that names the file and what in it does not fit."""
    content = _content(path)
    if not isinstance(content, dict) or not content:
        raise _fault(path, f"it must set one of {', '.join(_NAMES)}")
    unknown = [str(name) for name in content if name not in _NAMES]
    if unknown:
        raise _fault(path, f"there is no limit '{unknown[0]}'; there are {', '.join(_NAMES)}")
    return Limits(
        minimum=_by_arm(path, "minimum", content.get("minimum")),
        max_drop=_by_arm(path, "max_drop", content.get("max_drop")),
        max_false_answers=_share(path, "max_false_answers", content.get("max_false_answers")),
        max_missed_answers=_share(path, "max_missed_answers", content.get("max_missed_answers")),
    )


def failures(limits: Limits, seen: Evaluation) -> list[str]:
    """A sentence for each limit that is not kept. What was not measured is not kept either."""
    found: list[str] = []
    for arm, measure, least in _each(limits.minimum):
        value = seen.arms.get(arm, {}).get(measure)
        if value is None:
            found.append(f"{arm} was not measured; {measure} {least:.4f} is asked for.")
        elif value < least - _SLACK:
            found.append(f"{arm}: {measure} is {value:.4f}, below {least:.4f}.")
    for arm, measure, most in _each(limits.max_drop):
        change = seen.changes.get(arm, {}).get(measure)
        if change is None:
            found.append(f"{arm}: {measure} can't be compared; the earlier run lacks this arm.")
        elif -change.mean > most + _SLACK:
            found.append(f"{arm}: {measure} fell by {-change.mean:.4f}, more than {most:.4f} (p = {change.p:.3f}).")
    return found + _refusal_failures(limits, seen)


def _refusal_failures(limits: Limits, seen: Evaluation) -> list[str]:
    refusal = seen.refusal
    if refusal is None:
        asked = limits.max_false_answers is not None or limits.max_missed_answers is not None
        return ["False and missed answers were not measured; give --off-topic."] if asked else []
    found = []
    most = limits.max_missed_answers
    if most is not None and refusal.missed_answers > most + _SLACK:
        found.append(f"{refusal.missed_answers:.1%} of the answerable questions are refused, more than {most:.1%}.")
    most = limits.max_false_answers
    for name, figures in refusal.off_topic.items():
        if most is not None and figures.false_answers > most + _SLACK:
            found.append(f"{figures.false_answers:.1%} of the questions of {name} pass, more than {most:.1%}.")
    return found


def _content(path: Path) -> Any:
    import yaml

    try:
        data = path.read_bytes()
    except OSError as error:
        raise _fault(path, f"it can't be read: {error.strerror}") from error
    try:
        # YAML takes JSON's 1e-2 for a text.
        return json.loads(data)
    except ValueError:
        pass
    try:
        return yaml.safe_load(data)
    except (yaml.YAMLError, ValueError) as error:
        line = getattr(getattr(error, "problem_mark", None), "line", None)
        raise _fault(path, f"it is neither YAML nor JSON{'' if line is None else f', line {line + 1}'}") from error


def _each(by_arm: ByArm) -> list[tuple[str, str, float]]:
    return [(arm, measure, value) for arm, values in by_arm.items() for measure, value in values.items()]


def _by_arm(path: Path, name: str, value: Any) -> dict[str, dict[str, float]]:
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(isinstance(inner, dict) for inner in value.values()):
        raise _fault(path, f"'{name}' holds arms, and each of them measures with a figure")
    for arm, inner in value.items():
        if arm not in ARMS:
            raise _fault(path, f"'{name}': there is no arm '{arm}'; there are {', '.join(ARMS)}")
        for measure in inner:
            if measure not in MEASURES:
                raise _fault(path, f"'{name}': there is no measure '{measure}'; there are {', '.join(MEASURES)}")
    return {
        arm: {measure: _number(path, f"{name}.{arm}.{measure}", figure) for measure, figure in inner.items()}
        for arm, inner in value.items()
    }


def _share(path: Path, name: str, value: Any) -> float | None:
    return None if value is None else _number(path, name, value)


def _number(path: Path, name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise _fault(path, f"'{name}' is a share from 0 to 1")
    return float(value)


def _fault(path: Path, what: str) -> InvalidInput:
    return InvalidInput(f"{path}: {what}.", details={"field": "gate", "file": str(path)})
