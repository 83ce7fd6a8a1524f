"""Joins runs of deltas of one text for a replay, so that a long answer is not sent again word by word."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from opora.domain.stream import ResponseType, StreamEvent

JOINED = frozenset({ResponseType.ANSWER, ResponseType.THINKING, ResponseType.REFLECTION})

Numbered = tuple[int, StreamEvent]


def coalesce(events: Iterable[Numbered]) -> list[Numbered]:
    """Events with runs of unfinished deltas of the same kind, id and data joined, in the same order.

    A joined event carries the last offset of its run: a reader that resumes behind it misses nothing.
    """
    joined: list[Numbered] = []
    texts: list[str] = []
    for offset, event in events:
        if joined and _continues(joined[-1][1], event):
            texts.append(event.content)
            joined[-1] = (offset, event)
            continue
        _close(joined, texts)
        joined.append((offset, event))
        texts = [event.content]
    _close(joined, texts)
    return joined


def _close(joined: list[Numbered], texts: list[str]) -> None:
    if len(texts) > 1:
        offset, event = joined[-1]
        joined[-1] = (offset, replace(event, content="".join(texts)))


def _continues(before: StreamEvent, event: StreamEvent) -> bool:
    return (
        event.response_type in JOINED
        and before.response_type is event.response_type
        and before.event_id == event.event_id
        and not (before.done or event.done)
        and not (before.references or event.references)
        and before.data == event.data
    )
