"""How results, answers and their sources look in a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from opora.cli.citations import numbered, rows_of_quote
from opora.cli.words import say

SNIPPET_CHARS = 300
QUOTES_HEAD = "Quotes from the documents (no chat model is set, so nothing was written):\n"


def show_results(results: Iterable[Mapping[str, Any]]) -> None:
    """Each passage with its score, source and the start of its text."""
    for rank, result in enumerate(results, start=1):
        say(f"{rank:2}. {result['score']:.3f}  {place_of(result)}")
        say(f"    {snippet(result['content'])}\n")


def show_answer(answer: Mapping[str, Any], *, extractive: bool) -> None:
    """The answer with numbers for its sources; the sources follow by `show_sources`."""
    text, _ = numbered(answer["answer"])
    if extractive and text.strip():
        say(QUOTES_HEAD)
    if text.strip():
        say(text.strip())
    show_end(answer)


def show_end(answer: Mapping[str, Any]) -> None:
    """How the answer ended, where it did not end well; remarks are for people, not for a pipe."""
    if answer.get("error"):
        say(f"opora: {answer['error']}", to_people=True)
    elif answer["finish"] == "truncated":
        say("opora: The answer was cut at the longest length that is allowed.", to_people=True)
    elif answer["finish"] == "stopped":
        say("opora: The answer was stopped before its end.", to_people=True)


def show_sources(answer: Mapping[str, Any], citations: Sequence[Mapping[str, Any]] = ()) -> None:
    """One line a source that the answer names, with the rows that were quoted where they can be told."""
    _, sources = numbered(answer["answer"])
    references = {key: result for result in answer["references"] for key in _keys(result)}
    if sources:
        say()
    for number, source in enumerate(sources, start=1):
        result = references.get(source.get("chunk_id", ""))
        if result is None:
            say(f"[{number}] {source.get('doc') or source.get('title') or ''} {source.get('url', '')}".rstrip())
            continue
        quoted = [rows_of_quote(citation) for citation in citations if citation["number"] == number]
        rows = sorted({row for found in quoted if found for row in found}) if all(quoted) else []
        say(f"[{number}] {place_of(result, rows=rows)}")


def _keys(result: Mapping[str, Any]) -> list[str]:
    return [*result.get("sub_chunk_id", []), result["id"]]


def place_of(result: Mapping[str, Any], *, rows: Sequence[int] = ()) -> str:
    """Where a passage stands: document, page or sheet and rows (those given, else all of the passage), headings."""
    place = result.get("place") or {}
    parts = [result.get("knowledge_filename") or result.get("knowledge_title") or ""]
    if place.get("page"):
        parts.append(f"p. {_span(place['page'], place.get('page_end'))}")
    if place.get("sheet"):
        parts.append(place["sheet"])
    if rows:
        parts.append(f"row{'s' if len(rows) > 1 else ''} {', '.join(map(str, rows))}")
    elif place.get("row"):
        span = _span(place["row"], place.get("row_end"))
        parts.append(f"row{'s' if '-' in span else ''} {span}")
    if place.get("heading_path"):
        parts.append(" > ".join(place["heading_path"]))
    return ", ".join(part for part in parts if part)


def _span(first: int, last: int | None) -> str:
    return f"{first}-{last}" if last and last != first else str(first)


def snippet(text: str) -> str:
    """The start of a text on one line."""
    line = " ".join(text.split())
    return line if len(line) <= SNIPPET_CHARS else line[:SNIPPET_CHARS].rstrip() + "…"
