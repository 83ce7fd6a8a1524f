"""An evaluation for machines, as plain values, and for people, as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from opora.evaluate.evaluation import Evaluation
from opora.evaluate.measures import MEASURES
from opora.evaluate.refusal import GOLD_REMOVED, OffTopic
from opora.evaluate.significance import Difference


def as_dict(seen: Evaluation, failures: Sequence[str] | None = None) -> dict[str, Any]:
    """Shares in 0 to 1. ``failures`` is None where no limits were given."""
    result: dict[str, Any] = {
        "dataset": seen.dataset,
        "passages": seen.passages,
        "queries": seen.queries,
        "profile": seen.profile,
        "model": seen.model,
        "arms": {arm: dict(figures) for arm, figures in seen.arms.items()},
    }
    if seen.changes:
        result["changes"] = changes_dict(seen.changes)
    if seen.refusal is not None:
        result["gate"] = asdict(seen.refusal)
    if failures is not None:
        result["passed"] = not failures
        result["failures"] = list(failures)
    return result


def changes_dict(changes: Mapping[str, Mapping[str, Difference]]) -> dict[str, Any]:
    return {
        arm: {name: asdict(change) | {"significant": change.is_significant} for name, change in of.items()}
        for arm, of in changes.items()
    }


def table(seen: Evaluation) -> list[str]:
    """Lines: what was measured, the figures of each arm in percent, and, where they were asked for, the gate's."""
    lines = [
        f"{seen.dataset}: {seen.passages:,} passages, {seen.queries:,} questions; {seen.model}, profile {seen.profile}",
        "",
        *figures_table(seen.arms),
    ]
    if seen.changes:
        lines += ["", *changes_table(seen.changes)]
    if seen.refusal is not None:
        refusal = seen.refusal
        lines += [
            "",
            f"The gate at {refusal.confidence:g}: {100 * refusal.missed_answers:.1f}% of {refusal.answerable:,} "
            "answerable questions refused",
            f"{'questions of':<16} {'number':>8} {'answered %':>11} {'AUROC':>7}",
            *(_off_topic(name, figures) for name, figures in refusal.off_topic.items()),
            _off_topic(GOLD_REMOVED, refusal.gold_removed),
        ]
    return lines


def figures_table(arms: Mapping[str, Mapping[str, float]]) -> list[str]:
    head = f"{'arm':<10}" + "".join(f"{name:>11}" for name in MEASURES)
    rows = [f"{arm:<10}" + "".join(f"{100 * of[name]:>11.1f}" for name in MEASURES) for arm, of in arms.items()]
    return [head, *rows]


def changes_table(changes: Mapping[str, Mapping[str, Difference]]) -> list[str]:
    """Differences in points; a star marks those that chance would hardly make."""
    head = f"{'change':<10}" + "".join(f"{name:>11}" for name in MEASURES)
    rows = [f"{arm:<10}" + "".join(f"{_change(of[name]):>11}" for name in MEASURES) for arm, of in changes.items()]
    return [head, *rows, "* p < 0.05, paired randomisation test"]


def _change(change: Difference) -> str:
    return f"{100 * change.mean:+.2f}{'*' if change.is_significant else ' '}"


def _off_topic(name: str, figures: OffTopic) -> str:
    return f"{name:<16} {figures.questions:>8,} {100 * figures.false_answers:>11.1f} {figures.auroc:>7.3f}"
