"""What the tools give back, as JSON Schema."""

from __future__ import annotations

from typing import Any

_TEXT = {"type": "string"}
_COUNT = {"type": "integer"}
_NUMBER = {"type": "number"}


def _object(required: str = "", **properties: Any) -> dict[str, Any]:
    """More may come with a later version."""
    return {"type": "object", "properties": properties, "required": required.split()}


def _list_of(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


SEARCH = _object(
    "query search_type results_count results",
    query=_TEXT,
    search_type=_TEXT,
    results_count=_COUNT,
    results=_list_of(
        _object(
            "chunk_id content score document",
            chunk_id=_TEXT,
            chunk_index=_COUNT,
            content=_TEXT,
            score=_NUMBER,
            score_kind=_TEXT,
            scores={"type": "object"},
            neighbour_of=_TEXT,
            document=_object("id file_name", id=_TEXT, file_name=_TEXT, title=_TEXT, source=_TEXT),
        )
    ),
    search_metadata={"type": "object"},
    warnings=_list_of(_TEXT),
)
BASES = _object(
    "total knowledge_bases",
    total=_COUNT,
    knowledge_bases=_list_of(_object("id name", id=_TEXT, name=_TEXT, type=_TEXT, description=_TEXT)),
)
DOCUMENTS = _object(
    "total documents",
    total=_COUNT,
    documents=_list_of(_object("id title parse_status", id=_TEXT, title=_TEXT, file_name=_TEXT, parse_status=_TEXT)),
)
DOCUMENT = _object(
    "document chunks total_chunks",
    document=_object("id title", id=_TEXT, title=_TEXT, file_name=_TEXT, source=_TEXT),
    total_chunks=_COUNT,
    chunks=_list_of(_object("number id text", number=_COUNT, id=_TEXT, text=_TEXT, headings=_TEXT, page=_COUNT)),
    next_chunk={"type": ["integer", "null"]},
)
ANSWER = _object(
    "answer citations session_id",
    answer=_TEXT,
    citations=_list_of(
        _object(
            "title support", title=_TEXT, quote=_TEXT, support=_TEXT, document_id=_TEXT, chunk_id=_TEXT, page=_COUNT
        )
    ),
    session_id=_TEXT,
    message_id=_TEXT,
    warnings=_list_of(_TEXT),
)
