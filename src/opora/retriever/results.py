"""Pieces of documents as results, and an answer as the JSON object that every door gives out."""

from __future__ import annotations

from typing import Any

from opora.domain.context import ContextAnswer, ContextResult
from opora.domain.search import ScoreKind, SearchResult
from opora.stream.results import place_json


def result_of(text: SearchResult) -> ContextResult:
    """A piece as the database has it, not scored yet."""
    return ContextResult(
        chunk_id=text.chunk_id,
        base_id=text.base_id,
        tenant_id=text.tenant_id,
        document_id=text.document_id,
        chunk_index=text.chunk_index,
        content=text.content,
        context=text.context,
        chunk_type=text.chunk_type,
        score=0.0,
        kind=ScoreKind.NONE,
        file_name=text.file_name,
        title=text.title,
        source=text.source,
        place=text.place,
        metadata=text.metadata,
        pre_chunk_id=text.pre_chunk_id,
        next_chunk_id=text.next_chunk_id,
    )


def answer_json(answer: ContextAnswer) -> dict[str, Any]:
    """``search_metadata`` stands only with a hybrid search, ``neighbour_of`` and ``linked_to`` only with neighbours."""
    body: dict[str, Any] = {
        "query": answer.query,
        "search_type": answer.search_type.value,
        "results_count": answer.results_count,
        "results": [result_json(result) for result in answer.results],
    }
    if answer.search_metadata:
        body["search_metadata"] = dict(answer.search_metadata)
    body["warnings"] = list(answer.warnings)
    return body


def result_json(result: ContextResult) -> dict[str, Any]:
    body: dict[str, Any] = {
        "chunk_id": result.chunk_id,
        "chunk_index": result.chunk_index,
        "content": result.content,
        "context": result.context,
        "score": result.score,
        "score_kind": result.kind.value,
        "scores": dict(result.scores),
        "ranks": dict(result.ranks),
        "metadata": dict(result.metadata),
        "place": place_json(result.place),
        "document": {
            "id": result.document_id,
            "file_name": result.file_name,
            "title": result.title,
            "source": result.source,
            "knowledge_base_id": result.base_id,
        },
    }
    if result.neighbour_of:
        body |= {"neighbour_of": result.neighbour_of, "linked_to": result.linked_to}
    return body
