"""Frames have the documented fields, one data line, and Cyrillic as it is."""

import json
from datetime import UTC, datetime
from types import MappingProxyType

from opora.domain.knowledge import Box, Place
from opora.domain.search import MatchType, SearchResult
from opora.domain.stream import ResponseType, StreamEvent
from opora.stream.frames import frame
from opora.stream.results import result_json

RESULT = SearchResult(
    chunk_id="ch",
    base_id="kb",
    tenant_id="t",
    document_id="doc",
    content="Выплата",
    title="Положение",
    file_name="p.pdf",
    source="/s",
    chunk_index=3,
    parent_chunk_id="par",
    sub_chunk_ids=("s1",),
    score=0.5,
    match_type=MatchType.KEYWORD,
    place=Place(start=1, end=9, page=2, boxes=(Box(page=2, x0=0, y0=1, x1=2, y1=3),), heading_path=("Гл. 1",)),
)


def body_of(event: StreamEvent) -> dict[str, object]:
    data = frame(7, event, request_id="req", session_id="s", message_id="m").decode()
    lines = data.split("\n")
    assert lines[:2] == ["id: 7", "event: message"]
    assert lines[2].startswith("data: ")
    assert lines[3:] == ["", ""]
    body = json.loads(lines[2].removeprefix("data: "))
    assert isinstance(body, dict)
    return body


def test_empty_fields_are_absent() -> None:
    assert body_of(StreamEvent(response_type=ResponseType.ANSWER, event_id="a", content="да")) == {
        "id": "req",
        "response_type": "answer",
        "content": "да",
        "done": False,
    }


def test_the_first_event_carries_session_and_message() -> None:
    body = body_of(StreamEvent(response_type=ResponseType.AGENT_QUERY))
    assert (body["session_id"], body["assistant_message_id"]) == ("s", "m")


def test_the_last_event_says_how_it_ended() -> None:
    body = body_of(StreamEvent(response_type=ResponseType.COMPLETE, done=True, data={"finish": "complete"}))
    assert body["data"] == {"finish": "complete"}
    assert body["done"] is True


def test_references_have_the_fields_of_a_search_result() -> None:
    body = body_of(StreamEvent(response_type=ResponseType.REFERENCES, references=(RESULT,)))
    assert body["knowledge_references"] == [json.loads(json.dumps(result_json(RESULT)))]


def test_fields_of_a_search_result() -> None:
    shown = result_json(RESULT)
    expected = {
        "id": "ch",
        "content": "Выплата",
        "knowledge_id": "doc",
        "knowledge_title": "Положение",
        "knowledge_filename": "p.pdf",
        "chunk_index": 3,
        "chunk_type": "text",
        "parent_chunk_id": "par",
        "sub_chunk_id": ["s1"],
        "score": 0.5,
        "match_type": 1,
        "metadata": {},
        "image_info": "",
        "knowledge_base_id": "kb",
        "knowledge_source": "/s",
    }
    assert {name: shown[name] for name in expected} == expected
    assert shown["place"] == {
        "start": 1,
        "end": 9,
        "page": 2,
        "boxes": [{"page": 2, "x0": 0, "y0": 1, "x1": 2, "y1": 3}],
        "heading_path": ["Гл. 1"],
    }
    assert "tenant_id" not in shown


def test_cyrillic_is_not_escaped_and_line_ends_can_not_split_a_frame() -> None:
    event = StreamEvent(response_type=ResponseType.ANSWER, content="стро\r\nка\n\ndata: {}\n")
    data = frame(0, event, request_id="r", session_id="s", message_id="m")
    assert "стро".encode() in data
    assert data.count(b"\n") == 4
    assert b"\r" not in data


def test_half_a_letter_and_unusual_values_do_not_break_the_stream() -> None:
    data = {"at": datetime(2025, 1, 1, tzinfo=UTC), "names": {"b", "a"}, "map": MappingProxyType({"k": 1})}
    body = body_of(StreamEvent(response_type=ResponseType.TOOL_RESULT, content="a\ud83db", data=data))
    assert body["content"] == "a?b"
    assert body["data"] == {"at": "2025-01-01T00:00:00+00:00", "names": ["a", "b"], "map": {"k": 1}}
