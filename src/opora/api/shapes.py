"""The JSON objects of bases, documents, chunks, sessions and messages, in the names that clients know."""

from __future__ import annotations

import difflib
from dataclasses import asdict
from typing import Any

from opora.chat.history import FoundRound
from opora.domain.bases import BaseCopy, BaseStatistics
from opora.domain.conversation import CitationCheck, Feedback, Message, Session
from opora.domain.knowledge import Chunk, Document, KnowledgeBase, ParseStatus
from opora.domain.memory import MemoryItem
from opora.domain.models import ModelEntry
from opora.domain.search import SearchResult
from opora.domain.steps import Step
from opora.index.difference import Difference
from opora.index.edits import EDITED
from opora.knowledge.chunk_edits import State
from opora.ports import Progress
from opora.stream import results
from opora.stream.results import place_json, result_json


def base_json(base: KnowledgeBase) -> dict[str, Any]:
    chunking, indexing = base.chunking, base.indexing
    return {
        "id": base.base_id,
        "name": base.name,
        "type": base.base_type.value,
        "description": base.description,
        "chunking_config": {
            "chunk_size": chunking.size,
            "chunk_overlap": chunking.overlap,
            "enable_parent_child": chunking.parent_child,
            "parent_chunk_size": chunking.parent_size,
            "child_chunk_size": chunking.child_size,
        },
        "embedding_model_id": base.own_model_id or base.embedding_model_id,
        "vector_store_id": base.vector_store_id,
        "indexing_strategy": {
            "vector": indexing.vector,
            "keyword": indexing.keyword,
            "wiki": indexing.wiki,
            "graph": indexing.graph,
        },
        "faq_config": {"index_mode": base.faq.index_mode.value},
        "enrichment_config": asdict(base.enrichment),
        "is_pinned": base.is_pinned,
        "created_at": base.created_at.isoformat(),
        "updated_at": base.updated_at.isoformat(),
    }


def statistics_json(found: BaseStatistics) -> dict[str, Any]:
    return {
        "documents": sum(found.documents.values()),
        "documents_by_status": {
            status.value: found.documents.get(status, 0) for status in ParseStatus if status is not ParseStatus.DELETING
        },
        "faq_entries": found.entries,
        "chunks": found.chunks,
        "embedded": found.embedded,
        "file_bytes": found.file_bytes,
        "storage_bytes": found.storage_bytes,
        "changed_at": found.changed_at.isoformat(),
    }


def difference_json(found: Difference) -> dict[str, Any]:
    counts = {name: len(getattr(found, name)) for name in ("missing", "stray", "vectorless")}
    return {"is_sound": found.is_sound, **counts}


def copy_json(task: BaseCopy) -> dict[str, Any]:
    return {
        "task_id": task.task_id,
        "source_id": task.source_id,
        "target_id": task.target_id,
        "status": task.status.value,
        "total": task.total,
        "done": task.done,
        "error": task.error,
        "created_at": task.created_at.isoformat(),
        "updated_at": task.updated_at.isoformat(),
    }


def document_json(document: Document) -> dict[str, Any]:
    return {
        "id": document.document_id,
        "knowledge_base_id": document.base_id,
        "title": document.title,
        "description": document.description,
        "source": document.source,
        "folder": document.folder,
        "origin": document.origin.value,
        "parse_status": document.parse_status.value,
        "enable_status": "enabled" if document.enabled else "disabled",
        "file_name": document.file_name,
        "file_type": document.file_type,
        "file_size": document.file_size,
        "file_hash": document.file_hash,
        "tag_ids": list(document.tag_ids),
        "metadata": dict(document.metadata),
        "error_reason": document.error_reason,
        "error_message": document.error_message,
        "version": document.version,
        "chunk_count": document.chunk_count,
        "embedded_count": document.embedded_count,
        "created_at": document.created_at.isoformat(),
        "updated_at": document.updated_at.isoformat(),
    }


def step_json(step: Step) -> dict[str, Any]:
    return {
        "id": step.step_id,
        "attempt": step.attempt,
        "name": step.name.value,
        "started_at": step.started_at.isoformat(),
        "milliseconds": round(step.microseconds / 1000, 3),
        "counts": dict(step.counts),
        "outcome": "failed" if step.error else "done",
        "error": step.error,
    }


def progress_json(progress: Progress) -> dict[str, Any]:
    return {
        **progress.extra,
        "id": progress.document_id,
        "parse_status": progress.status.value,
        "chunks": progress.chunks,
        "embedded": progress.embedded,
        "seconds_left": progress.seconds_left,
    }


def chunk_json(chunk: Chunk) -> dict[str, Any]:
    return {
        "id": chunk.chunk_id,
        "knowledge_id": chunk.document_id,
        "knowledge_base_id": chunk.base_id,
        "content": chunk.content,
        "context": chunk.context,
        "is_enabled": chunk.enabled,
        "chunk_index": chunk.chunk_index,
        "chunk_type": chunk.chunk_type.value,
        "parent_chunk_id": chunk.parent_chunk_id,
        "pre_chunk_id": chunk.pre_chunk_id,
        "next_chunk_id": chunk.next_chunk_id,
        "tag_ids": list(chunk.tag_ids),
        "is_edited": bool(chunk.metadata.get(EDITED)),
        "metadata": dict(chunk.metadata),
        "place": place_json(chunk.place),
    }


def revision_json(state: State, before: str) -> dict[str, Any]:
    """One state of a chunk; ``diff`` is against the words ``before`` it."""
    one = state.revision
    after = "" if one.is_deleted else one.content
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=1)
    return {
        "revision": one.revision,
        "chunk_id": one.chunk_id,
        "origin": one.origin.value,
        "content": after,
        "author": one.author,
        "is_current": state.is_current,
        "diff": list(lines)[2:] if one.revision else [],
        "created_at": one.created_at.isoformat(),
    }


def session_json(session: Session) -> dict[str, Any]:
    return {
        "id": session.session_id,
        "title": session.title,
        "description": session.description,
        "is_pinned": session.is_pinned,
        "parent_session_id": session.parent_session_id,
        "forked_from_message_id": session.forked_from_message_id,
        "last_request_state": dict(session.last_request),
        "created_at": session.created_at.isoformat(),
        "updated_at": session.updated_at.isoformat(),
    }


def memory_json(item: MemoryItem) -> dict[str, Any]:
    return {
        "id": item.item_id,
        "content": item.content,
        "always": item.always,
        "created_at": item.created_at.isoformat(),
        "updated_at": item.updated_at.isoformat(),
    }


def model_json(entry: ModelEntry) -> dict[str, Any]:
    """Whether there is a key is told, and never which."""
    return {
        "id": entry.model_id,
        "name": entry.name,
        "type": entry.kind.value,
        "provider": entry.provider,
        "model": entry.model,
        "base_url": entry.base_url,
        "options": dict(entry.options),
        "has_key": entry.has_key,
        **({"dimension": entry.dimension} if entry.dimension else {}),
        "source": "registry",
        "created_at": entry.created_at.isoformat(),
        "updated_at": entry.updated_at.isoformat(),
    }


def message_json(message: Message) -> dict[str, Any]:
    """What was rendered for the model stays inside."""
    return {
        "id": message.message_id,
        "session_id": message.session_id,
        "request_id": message.request_id,
        "role": message.role.value,
        "content": message.content,
        "knowledge_references": [result_json(result) for result in message.references],
        "citation_support": [citation.support.value for citation in message.citations],
        "is_completed": message.is_completed,
        "finish": message.finish.value if message.finish else "",
        "extractive": bool(message.trace.get("extractive")),
        "warnings": list(message.trace.get("warnings", ())),
        "error_message": message.error_message,
        "quoted_context": message.beside.quoted_context,
        "attachments": [{"name": one.name, "content": one.content} for one in message.beside.attachments],
        "images": [
            {"id": one.image_id, "media_type": one.media_type, "size": one.size, "caption": one.caption}
            for one in message.beside.images
        ],
        "feedback": _feedback_json(message.feedback),
        "created_at": message.created_at.isoformat(),
        "updated_at": message.updated_at.isoformat(),
    }


def found_json(found: FoundRound) -> dict[str, Any]:
    round_ = found.round_
    return {
        "score": found.score,
        "session_id": round_.answer.session_id,
        "session_title": round_.session_title,
        "request_id": round_.answer.request_id,
        "question": None if round_.question is None else _said_json(round_.question),
        "answer": _said_json(round_.answer),
    }


def _said_json(message: Message) -> dict[str, str]:
    return {"id": message.message_id, "content": message.content, "created_at": message.created_at.isoformat()}


def _feedback_json(feedback: Feedback | None) -> dict[str, str] | None:
    return None if feedback is None else {"thumb": feedback.thumb.value, "comment": feedback.comment}


def citation_json(checked: CitationCheck, passage: SearchResult | None) -> dict[str, Any]:
    """What the event of the stream says, with the passage that was cited beside it."""
    return {
        **results.citation_json(checked),
        "content": passage.content if passage else "",
        "place": place_json(passage.place) if passage else {},
    }
