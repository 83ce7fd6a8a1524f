"""An event that is kept outside this process comes back as it was, whatever a model or a document put into it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opora.domain.conversation import Finish
from opora.domain.knowledge import Box, Place
from opora.domain.search import ScoreKind, SearchResult
from opora.domain.stream import TERMINAL, ResponseType, StreamEvent
from opora.stream.frames import frame
from opora.stream.wire import TERMINAL_PREFIX, from_line, kind_prefix, to_line

any_text = st.text(st.characters(codec=None, exclude_categories=()), max_size=20)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=6,
)
results = st.builds(
    SearchResult,
    chunk_id=any_text,
    base_id=st.just("kb"),
    tenant_id=st.just("t"),
    document_id=st.just("d"),
    content=any_text,
    score=st.floats(-1, 1),
    kind=st.sampled_from(ScoreKind),
    place=st.builds(Place, start=st.integers(0, 9), boxes=st.just((Box(page=1, x0=0.0, y0=1.5, x1=2.0, y1=3.0),))),
    metadata=st.dictionaries(any_text, values, max_size=2),
)
events = st.builds(
    StreamEvent,
    response_type=st.sampled_from(ResponseType),
    event_id=any_text,
    content=any_text,
    done=st.booleans(),
    references=st.lists(results, max_size=2).map(tuple),
    data=st.dictionaries(any_text, values, max_size=3),
)


@given(events)
@settings(max_examples=60)
def test_an_event_comes_back_as_it_was(event: StreamEvent) -> None:
    line = to_line(event)
    assert from_line(line) == event
    assert b"\n" not in line


@given(events)
@settings(max_examples=30)
def test_the_kind_is_told_by_the_beginning(event: StreamEvent) -> None:
    line = to_line(event)
    assert [kind for kind in ResponseType if line.startswith(kind_prefix(kind))] == [event.response_type]
    assert line.startswith(TERMINAL_PREFIX) == (event.response_type is TERMINAL)


@pytest.mark.parametrize(
    "data",
    [
        {"finish": Finish.STOPPED},
        {"names": {"б", "а"}, "pair": (1, 2)},
        {"at": datetime(2026, 1, 2, tzinfo=UTC)},
        {"other": ResponseType},
    ],
)
def test_a_reader_sees_the_same_frame_wherever_the_event_was_kept(data: dict[str, object]) -> None:
    event = StreamEvent(response_type=ResponseType.TOOL_RESULT, data=data)
    names = {"request_id": "r", "session_id": "s", "message_id": "m"}
    assert frame(0, from_line(to_line(event)), **names) == frame(0, event, **names)
