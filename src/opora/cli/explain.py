"""How the way of every candidate and the settings in force look in a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from opora.cli.words import cell, say, width

STAGES = ("vector", "keyword", "found", "ranked", "merged", "context")
NAME_COLUMNS = 36
MARK_COLUMNS = 11
REASONS = {
    "below_threshold": "its score is below the threshold",
    "not_in_database": "it was deleted",
    "over_match_count": "more were found than are taken",
    "duplicate": "the same text ranks higher",
    "merged": "it is part of a passage above",
    "not_diverse": "too much like a better one",
    "over_top_k": "more were ranked than are kept",
    "negative_question": "its entry excludes this question",
    "over_budget": "the prompt is full",
    "below_floor": "its score is below the floor",
}


def show_candidates(candidates: Sequence[Mapping[str, Any]]) -> None:
    """One row a candidate: rank and score at each stage, and why it was dropped."""
    say("\nCandidates (rank and score at each stage)")
    names = {candidate["chunk_id"]: _name(candidate) for candidate in candidates}
    known = [stage for stage in STAGES if any(stage in _marks(candidate) for candidate in candidates)]
    stages = [*known, *sorted(_other_stages(candidates))]
    columns = min(NAME_COLUMNS, max([10, *map(width, names.values())]))
    say("  " + " ".join([cell("", columns), *(cell(stage, MARK_COLUMNS) for stage in stages)]).rstrip())
    for candidate in candidates:
        marks = _marks(candidate)
        cells = [cell(marks.get(stage, "-"), MARK_COLUMNS) for stage in stages]
        say("  " + " ".join([cell(names[candidate["chunk_id"]], columns), *cells]).rstrip())
        if candidate.get("reason"):
            say(f"      dropped at {candidate['dropped_at']}: {_reason(candidate, names)}")
    if not candidates:
        say("  none")


def show_settings(settings: Mapping[str, Mapping[str, Any]]) -> None:
    """Each effective setting and where it came from."""
    say("\nSettings in force")
    for name, entry in settings.items():
        say(f"  {name:<30} {entry['value']!s:<16} {entry['origin']}")


def _name(candidate: Mapping[str, Any]) -> str:
    """What fell at the first look was never read from the database: it has an id only."""
    if not candidate.get("title"):
        return str(candidate["chunk_id"])
    number = f" #{candidate['chunk_index']}"
    room = NAME_COLUMNS - len(number)
    title = candidate["title"]
    return (title if width(title) <= room else cell(title, room)) + number


def _marks(candidate: Mapping[str, Any]) -> dict[str, str]:
    return {mark["stage"]: f"{mark['rank']}: {mark['score']:.3f}" for mark in candidate["marks"]}


def _other_stages(candidates: Iterable[Mapping[str, Any]]) -> set[str]:
    return {mark["stage"] for candidate in candidates for mark in candidate["marks"]} - set(STAGES)


def _reason(candidate: Mapping[str, Any], names: Mapping[str, str]) -> str:
    detail = str(candidate.get("detail") or "")
    for chunk_id, name in names.items():
        detail = detail.replace(chunk_id, name)
    words = REASONS.get(candidate["reason"])
    inside = ", ".join(part for part in (candidate["reason"] if words else "", detail) if part)
    return (words or candidate["reason"]) + (f" ({inside})" if inside else "")
