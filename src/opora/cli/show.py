"""How results, answers, candidates and settings look in a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from html import unescape
from typing import Any

import typer

SNIPPET_CHARS = 300
_TAG = re.compile(r"<(kb|web) ([^<>]*?)/>")
_ATTRIBUTE = re.compile(r'([a-z_]+)="([^"]*)"')


def show_results(results: Iterable[Mapping[str, Any]]) -> None:
    """Each passage with its score, source and the start of its text."""
    for rank, result in enumerate(results, start=1):
        typer.echo(f"{rank:2}. {result['score']:.3f}  {place_of(result)}")
        typer.echo(f"    {snippet(result['content'])}\n")


def show_answer(answer: Mapping[str, Any], *, extractive: bool) -> None:
    """The answer with numbers for its sources, and the sources below."""
    text, sources = numbered(answer["answer"])
    if extractive:
        typer.echo("Quotes from the documents (no chat model is set, so nothing was written):\n")
    typer.echo(text.strip() or answer.get("error", ""))
    if answer["finish"] not in ("complete", "nothing_found"):
        typer.echo(f"\n[{answer['finish']}]")
    if sources:
        by_id = {result["id"]: result for result in answer["references"]}
        typer.echo("")
        for number, source in enumerate(sources, start=1):
            result = by_id.get(source.get("chunk_id", ""))
            where = place_of(result) if result else source.get("doc") or source.get("title") or source.get("url", "")
            typer.echo(f"[{number}] {where}")


def numbered(answer: str) -> tuple[str, list[dict[str, str]]]:
    """The answer with ``[1]`` in place of citation tags, and the sources in the order of their numbers."""
    sources: list[dict[str, str]] = []

    def number(match: re.Match[str]) -> str:
        source = {name: unescape(value) for name, value in _ATTRIBUTE.findall(match[2])}
        key = source.get("chunk_id") or source.get("url")
        for index, known in enumerate(sources, start=1):
            if key == (known.get("chunk_id") or known.get("url")):
                return f" [{index}]"
        sources.append(source)
        return f" [{len(sources)}]"

    return _TAG.sub(number, answer), sources


def place_of(result: Mapping[str, Any]) -> str:
    """Where a passage stands: document, page or sheet and rows, headings."""
    place = (result.get("metadata") or {}).get("place") or result.get("place") or {}
    parts = [result.get("knowledge_filename") or result.get("knowledge_title") or ""]
    if place.get("page"):
        parts.append(f"p. {place['page']}")
    if place.get("sheet"):
        parts.append(place["sheet"])
    if place.get("row"):
        rows = place["row"] if place.get("row_end") in (None, place["row"]) else f"{place['row']}-{place['row_end']}"
        parts.append(f"row {rows}")
    if place.get("heading_path"):
        parts.append(" > ".join(place["heading_path"]))
    return ", ".join(part for part in parts if part)


def snippet(text: str) -> str:
    """The start of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= SNIPPET_CHARS else line[:SNIPPET_CHARS].rstrip() + "…"


def show_candidates(candidates: Iterable[Mapping[str, Any]]) -> None:
    """One row a candidate: rank and score at each stage, and why it was dropped."""
    typer.echo("\nCandidates (rank: score by stage)")
    for candidate in candidates:
        marks = "  ".join(f"{m['stage']} {m['rank']}: {m['score']:.3f}" for m in candidate["marks"])
        name = f"{candidate['title'] or candidate['chunk_id']} #{candidate['chunk_index']}"
        typer.echo(f"  {name:<44} {marks}")
        if candidate.get("reason"):
            detail = f" ({candidate['detail']})" if candidate.get("detail") else ""
            typer.echo(f"      dropped at {candidate['dropped_at']}: {candidate['reason']}{detail}")


def show_settings(settings: Mapping[str, Mapping[str, Any]]) -> None:
    """Each effective setting and where it came from."""
    typer.echo("\nSettings in force")
    for name, entry in settings.items():
        typer.echo(f"  {name:<30} {entry['value']!s:<14} {entry['origin']}")
