"""The events of a stored answer, for readers that come after its log is gone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from opora.domain.conversation import CitationCheck, Finish, Message
from opora.domain.stream import ResponseType, StreamEvent
from opora.pipeline.generate import ANSWER_EVENT_ID
from opora.stream.results import citation_json


def checked_event(citations: Sequence[CitationCheck]) -> StreamEvent:
    """What came of the check of each citation of an answer."""
    data = {"citations": [citation_json(citation) for citation in citations]}
    return StreamEvent(response_type=ResponseType.CITATIONS_CHECKED, event_id="citations", done=True, data=data)


def stored_events(message: Message) -> list[StreamEvent]:
    """What a whole replay gives: query, references, the answer in one piece, how it ended, the terminal event."""
    ids = {
        "session_id": message.session_id,
        "assistant_message_id": message.message_id,
        "request_id": message.request_id,
    }
    finish = message.finish or Finish.INTERRUPTED
    events = [StreamEvent(response_type=ResponseType.AGENT_QUERY, data=ids)]
    if message.references:
        events.append(
            StreamEvent(
                response_type=ResponseType.REFERENCES, event_id="references", references=message.references, done=True
            )
        )
    data = {"extractive": True} if message.trace.get("extractive") else {}
    if message.content:
        events.append(
            StreamEvent(response_type=ResponseType.ANSWER, event_id=ANSWER_EVENT_ID, content=message.content, data=data)
        )
    if message.error_message:
        events.append(StreamEvent(response_type=ResponseType.ERROR, content=message.error_message, done=True))
    elif finish is Finish.STOPPED:
        events.append(StreamEvent(response_type=ResponseType.STOP))
    else:
        truncated = {"truncated": True} if finish is Finish.TRUNCATED else {}
        events.append(
            StreamEvent(
                response_type=ResponseType.ANSWER, event_id=ANSWER_EVENT_ID, done=True, data={**data, **truncated}
            )
        )
    if message.citations:
        events.append(checked_event(message.citations))
    events.append(StreamEvent(response_type=ResponseType.COMPLETE, done=True, data={"finish": finish.value}))
    return events


def missing_events(message: Message, logged: Sequence[StreamEvent]) -> list[StreamEvent]:
    """What a log still needs to say all that the stored message says, and to be at its end."""
    told = {event.response_type for event in logged}
    said = "".join(event.content for event in logged if event.response_type is ResponseType.ANSWER)
    has_ended = any(event.done for event in logged if event.response_type is ResponseType.ANSWER)
    missing: list[StreamEvent] = []
    for event in stored_events(message):
        if event.response_type is not ResponseType.ANSWER:
            if event.response_type not in told:
                missing.append(event)
        elif event.done:
            if not has_ended and message.finish is not Finish.INTERRUPTED:
                missing.append(event)
        elif event.content.startswith(said) and len(event.content) > len(said):
            missing.append(replace(event, content=event.content[len(said) :]))
    return missing
