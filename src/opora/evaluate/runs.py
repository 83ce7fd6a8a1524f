"""Writes and reads rankings in TREC's run format: query id, Q0, passage id, rank, score, tag.

One file holds one arm, as other tools expect. The arms of a run are neighbours: ``name.run`` is the hybrid arm,
``name.vector.run`` the vector arm, and so on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from opora.domain.errors import InvalidInput

MAIN_ARM = "hybrid"

Ranked = Sequence[tuple[str, float]]
"""Passage ids with their scores, best first."""


def path_of(path: Path, arm: str) -> Path:
    """Where an arm stands, ``path`` being that of the main one."""
    return path if arm == MAIN_ARM else path.with_name(f"{path.stem}.{arm}{path.suffix}")


def write_run(path: Path, rankings: Mapping[str, Ranked], tag: str) -> None:
    """Write whole or not at all. Scores fall strictly, also in single precision, so no reader can reorder ties."""
    lines: list[str] = []
    for query_id, ranked in rankings.items():
        last = np.float32(np.inf)
        for rank, (passage_id, score) in enumerate(ranked, start=1):
            last = min(np.float32(score), np.nextafter(last, np.float32(-np.inf)))
            lines.append(f"{query_id} Q0 {passage_id} {rank} {last:.9g} {tag}\n")
    partial = path.with_name(f"{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text("".join(lines), encoding="utf-8", newline="\n")
        partial.replace(path)
    except OSError as error:
        raise InvalidInput.of("out", f"{path} can't be written: {error.strerror}.") from error


def read_run(path: Path) -> dict[str, list[str]]:
    """Passage ids by query id, best score first, equal scores by rank. Raises `InvalidInput` naming the line."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput.of("compare", f"{path} can't be read as a run.") from error
    rows: dict[str, list[tuple[float, int, str]]] = {}
    for line, row in enumerate(text.split("\n"), start=1):
        if not row.strip():
            continue
        fields = row.split()
        if len(fields) != 6:
            raise _fault(path, line, "a line has six fields: query, Q0, passage, rank, score, tag")
        try:
            rank, score = int(fields[3]), float(fields[4])
        except ValueError as error:
            raise _fault(path, line, "rank or score is no number") from error
        if not math.isfinite(score):
            raise _fault(path, line, "the score is no finite number")
        rows.setdefault(fields[0], []).append((-score, rank, fields[2]))
    rankings: dict[str, list[str]] = {}
    for query_id, found in rows.items():
        rankings[query_id] = [passage_id for _, _, passage_id in sorted(found)]
        if len(set(rankings[query_id])) < len(found):
            raise InvalidInput.of("compare", f"{path}: question '{query_id}' has a passage twice.")
    return rankings


def read_arms(path: Path, arms: Sequence[str]) -> dict[str, dict[str, list[str]]]:
    """The run at ``path``, which must be there, as the main arm, and those of its neighbours that are there."""
    runs = {MAIN_ARM: read_run(path)}
    return runs | {arm: read_run(path_of(path, arm)) for arm in arms if arm != MAIN_ARM and path_of(path, arm).exists()}


def _fault(path: Path, line: int, what: str) -> InvalidInput:
    details = {"field": "compare", "file": str(path), "line": line}
    return InvalidInput(f"{path}, line {line}: {what}.", details=details)
