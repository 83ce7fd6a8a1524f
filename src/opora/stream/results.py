"""Turns a search result into the JSON object that every door gives out."""

from __future__ import annotations

from typing import Any

from opora.domain.conversation import CitationCheck, Span
from opora.domain.knowledge import Place
from opora.domain.search import SearchResult


def result_json(result: SearchResult) -> dict[str, Any]:
    """The documented fields of a search result, and beside them where it stands in its document."""
    return {
        "id": result.chunk_id,
        "content": result.content,
        "knowledge_id": result.document_id,
        "knowledge_title": result.title,
        "knowledge_filename": result.file_name,
        "chunk_index": result.chunk_index,
        "chunk_type": result.chunk_type.value,
        "parent_chunk_id": result.parent_chunk_id,
        "sub_chunk_id": list(result.sub_chunk_ids),
        "score": result.score,
        "score_kind": result.kind.value,
        "match_type": int(result.match_type),
        "metadata": dict(result.metadata),
        "image_info": result.image_info,
        "knowledge_base_id": result.base_id,
        "knowledge_source": result.source,
        "context": result.context,
        "place": place_json(result.place),
        "scores": dict(result.scores),
        "ranks": dict(result.ranks),
    }


def citation_json(checked: CitationCheck) -> dict[str, Any]:
    """A checked citation: the tag, the statement before it, and what of the document bears it out."""
    return {
        "number": checked.number,
        "kind": checked.kind,
        "title": checked.title,
        "chunk_id": checked.chunk_id,
        "knowledge_id": checked.document_id,
        "knowledge_base_id": checked.base_id,
        "url": checked.url,
        "start": checked.start,
        "end": checked.end,
        "statement": checked.statement,
        "support": checked.support.value,
        "share": checked.share,
        "quote": span_json(checked.quote),
        "best": span_json(checked.best),
        "document_version": checked.document_version,
        "document_place": None if checked.place is None else place_json(checked.place),
    }


def span_json(span: Span | None) -> dict[str, Any] | None:
    return None if span is None else {"start": span.start, "end": span.end, "exact": span.exact}


def place_json(place: Place) -> dict[str, Any]:
    """Offsets in the document's text, and page, boxes, headings, sheet and rows where they are known."""
    known: dict[str, Any] = {"start": place.start, "end": place.end}
    for name in ("page", "page_end", "row", "row_end"):
        if (value := getattr(place, name)) is not None:
            known[name] = value
    if place.boxes:
        known["boxes"] = [
            {"page": box.page, "x0": box.x0, "y0": box.y0, "x1": box.x1, "y1": box.y1} for box in place.boxes
        ]
    if place.heading_path:
        known["heading_path"] = list(place.heading_path)
    if place.sheet:
        known["sheet"] = place.sheet
    return known
