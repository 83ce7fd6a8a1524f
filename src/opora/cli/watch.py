"""Waits until documents are ready, showing how far they are and how long it may still take."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from opora.cli.client import ApiError, Client
from opora.cli.sync import Report

FIRST_POLL_SECONDS, LAST_POLL_SECONDS = 0.05, 0.5
"""Small documents are ready in a moment; who waits for large ones need not be asked often."""
LOOK_AHEAD = 16
"""Documents are worked on about in the order in which they came: so many of the first are asked for at once."""


class Bar(Protocol):
    def __call__(self, done: int, *, total: int | None = None, note: str = "") -> None:
        """Show how many are done."""
        ...


class Bars:
    """Progress bars on standard error; without a terminal there are none."""

    def __init__(self, progress: Any) -> None:
        self._progress = progress

    def add(self, name: str, total: int) -> Bar:
        bar = self._progress.add_task(name, total=total, note="")

        def show(done: int, *, total: int | None = None, note: str = "") -> None:
            self._progress.update(bar, completed=done, total=total, note=note)

        return show


@contextmanager
def bars() -> Iterator[Bars]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description:<10}"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        yield Bars(progress)


async def watch(client: Client, report: Report, bar: Bar) -> None:
    """Wait until every document of the report has ended; those that failed are added to it with their reason."""
    waiting = list(report.documents)
    total, pause = len(waiting), FIRST_POLL_SECONDS
    while waiting:
        states = {one: await _state(client, one) for one in (*waiting[:LOOK_AHEAD], waiting[-1])}
        ended = {one for one, state in states.items() if state["parse_status"] in ("completed", "failed", "gone")}
        for one in waiting:
            if one in ended and states[one]["parse_status"] == "failed":
                report.failed.append(await _reason(client, one))
        left = max(state.get("seconds_left") or 0.0 for state in states.values())
        waiting = [one for one in waiting if one not in ended]
        bar(total - len(waiting), note=_note(left) if waiting else "")
        if ended:
            pause = FIRST_POLL_SECONDS
        else:
            await asyncio.sleep(pause)
            pause = min(2 * pause, LAST_POLL_SECONDS)


async def _state(client: Client, document_id: str) -> dict[str, Any]:
    try:
        state: dict[str, Any] = await client.call("GET", f"/knowledge/{document_id}/progress")
    except ApiError as exc:
        if exc.status != 404:
            raise
        return {"parse_status": "gone"}  # somebody deleted it meanwhile
    return state


async def _reason(client: Client, document_id: str) -> dict[str, str]:
    doc = await client.call("GET", f"/knowledge/{document_id}")
    return {
        "id": document_id,
        "path": doc.get("source") or doc["file_name"],
        "reason": doc.get("error_reason", ""),
        "message": doc.get("error_message", ""),
    }


def _note(seconds: float) -> str:
    """Words are searched as soon as a document is split; what takes long is the vectors."""
    if seconds < 1:
        return ""
    left = f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
    return f"vectors in about {left}; words are searched already"
