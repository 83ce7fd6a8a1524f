"""A replay has the same text in fewer frames."""

from hypothesis import given
from hypothesis import strategies as st

from opora.domain.stream import ResponseType, StreamEvent
from opora.stream.coalesce import coalesce

events = st.lists(
    st.builds(
        StreamEvent,
        response_type=st.sampled_from(
            [ResponseType.ANSWER, ResponseType.THINKING, ResponseType.TOOL_CALL, ResponseType.COMPLETE]
        ),
        event_id=st.sampled_from(["a", "b"]),
        content=st.sampled_from(["", "x", "yz"]),
        done=st.booleans(),
        data=st.sampled_from([{}, {"extractive": True}]),
    ),
    max_size=12,
)


def delta(text: str, kind: ResponseType = ResponseType.ANSWER, event_id: str = "answer") -> StreamEvent:
    return StreamEvent(response_type=kind, event_id=event_id, content=text)


def test_a_run_of_deltas_becomes_one_event_with_the_last_offset() -> None:
    done = StreamEvent(response_type=ResponseType.ANSWER, event_id="answer", done=True)
    assert coalesce(enumerate([delta("a"), delta("b"), delta("c"), done])) == [(2, delta("abc")), (3, done)]


def test_other_kinds_and_ids_stay_apart() -> None:
    thinking = delta("t", ResponseType.THINKING)
    call = delta("x", ResponseType.TOOL_CALL)
    separate = [delta("a"), thinking, delta("b"), delta("c", event_id="other"), call, call]
    assert coalesce(enumerate(separate)) == list(enumerate(separate))


@given(events)
def test_no_text_and_no_event_of_another_kind_is_lost(given_events: list[StreamEvent]) -> None:
    joined = coalesce(enumerate(given_events))
    assert "".join(e.content for _, e in joined) == "".join(e.content for e in given_events)
    assert [e for _, e in joined if e.done] == [e for e in given_events if e.done]
    offsets = [offset for offset, _ in joined]
    assert offsets == sorted(set(offsets))
    if given_events:
        assert offsets[-1] == len(given_events) - 1
    assert coalesce(joined) == joined
