"""Entries of a FAQ base as people keep them: their limits, and the rows by which they are found."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import blake2b
from typing import Any

from opora.domain.errors import InvalidInput
from opora.domain.faq import (
    ANSWER_STRATEGY,
    ANSWERS,
    NEGATIVE_QUESTIONS,
    SIMILAR_QUESTIONS,
    STANDARD_QUESTION,
    STRATEGY_ALL,
    STRATEGY_RANDOM,
    FaqEntry,
)
from opora.domain.forms import form_id, question_hash
from opora.domain.knowledge import Chunk, ChunkType, FaqIndexMode

MAX_QUESTION_CHARS = 1_000
MAX_ANSWER_CHARS = 10_000
MAX_QUESTIONS = 100
"""Similar and negative questions of an entry, each."""
MAX_ANSWERS = 20
MAX_TAGS = 50
IS_RECOMMENDED = "is_recommended"
_STATE_BYTES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class FaqDraft:
    """An entry that is not kept yet, with its switches."""

    entry: FaqEntry
    is_enabled: bool = True
    is_recommended: bool = False
    tag_ids: tuple[str, ...] = ()

    @property
    def hashes(self) -> list[str]:
        """Of the questions that no other entry of the base may have."""
        return [question_hash(text) for text in (self.entry.standard_question, *self.entry.similar_questions)]


@dataclass(frozen=True, slots=True, kw_only=True)
class FaqRecord:
    """A kept entry; ``seq_id`` is its number in the base, never given twice."""

    entry_id: str
    seq_id: int
    base_id: str
    tenant_id: str
    document_id: str
    draft: FaqDraft = field(default_factory=lambda: FaqDraft(entry=FaqEntry()))
    created_at: datetime
    updated_at: datetime

    @property
    def state(self) -> str:
        """A mark of what the entry says and how it is switched: another one after every change."""
        told = {**metadata_of(self.draft), "is_enabled": self.draft.is_enabled, "tag_ids": list(self.draft.tag_ids)}
        return blake2b(json.dumps(told, sort_keys=True).encode(), digest_size=_STATE_BYTES).hexdigest()


def checked_draft(draft: FaqDraft) -> FaqDraft:
    """Trimmed, without repeated questions; raises `InvalidInput` naming the field that does not fit."""
    entry = draft.entry
    standard = entry.standard_question.strip()
    if not standard:
        raise InvalidInput.of(STANDARD_QUESTION, "An entry needs a standard question.")
    similar = _distinct(entry.similar_questions, but=standard)
    negative = _distinct(entry.negative_questions)
    answers = tuple(dict.fromkeys(text.strip() for text in entry.answers if text.strip()))
    _limit(STANDARD_QUESTION, (standard,), 1, MAX_QUESTION_CHARS)
    _limit(SIMILAR_QUESTIONS, similar, MAX_QUESTIONS, MAX_QUESTION_CHARS)
    _limit(NEGATIVE_QUESTIONS, negative, MAX_QUESTIONS, MAX_QUESTION_CHARS)
    _limit(ANSWERS, answers, MAX_ANSWERS, MAX_ANSWER_CHARS)
    if not answers:
        raise InvalidInput.of(ANSWERS, "An entry needs an answer.")
    if entry.answer_strategy not in (STRATEGY_ALL, STRATEGY_RANDOM):
        raise InvalidInput.of(ANSWER_STRATEGY, "The answer strategy is 'all' or 'random'.")
    asked = {question_hash(text) for text in (standard, *similar)}
    both = next((text for text in negative if question_hash(text) in asked), None)
    if both is not None:
        raise InvalidInput.of(NEGATIVE_QUESTIONS, f"An entry can't both answer and not answer this: {both}")
    if len(draft.tag_ids) > MAX_TAGS:
        raise InvalidInput.of("tag_ids", f"An entry has at most {MAX_TAGS} tags.")
    entry = replace(
        entry,
        standard_question=standard,
        similar_questions=similar,
        negative_questions=negative,
        answers=answers,
    )
    return replace(draft, entry=entry, tag_ids=tuple(dict.fromkeys(draft.tag_ids)))


def metadata_of(draft: FaqDraft) -> dict[str, Any]:
    """What `FaqEntry.read` reads back."""
    entry = draft.entry
    return {
        STANDARD_QUESTION: entry.standard_question,
        SIMILAR_QUESTIONS: list(entry.similar_questions),
        NEGATIVE_QUESTIONS: list(entry.negative_questions),
        ANSWERS: list(entry.answers),
        ANSWER_STRATEGY: entry.answer_strategy,
        IS_RECOMMENDED: draft.is_recommended,
    }


def entry_chunk(record: FaqRecord) -> Chunk:
    """The chunk that is shown and cited: never searched by its own text."""
    entry = record.draft.entry
    return Chunk(
        chunk_id=record.entry_id,
        base_id=record.base_id,
        tenant_id=record.tenant_id,
        document_id=record.document_id,
        chunk_index=record.seq_id,
        content="\n".join((entry.standard_question, *entry.answers)),
        chunk_type=ChunkType.FAQ,
        enabled=record.draft.is_enabled,
        tag_ids=record.draft.tag_ids,
        metadata=metadata_of(record.draft),
    )


def form_chunks(record: FaqRecord, mode: FaqIndexMode) -> list[Chunk]:
    """The searched rows of an entry, one a question, and one an answer where the base says so."""
    entry = record.draft.entry
    answers = entry.answers if mode is FaqIndexMode.QUESTION_ANSWER else ()
    texts = {
        form_id(record.entry_id, text): text for text in (entry.standard_question, *entry.similar_questions, *answers)
    }
    return [
        Chunk(
            chunk_id=row_id,
            base_id=record.base_id,
            tenant_id=record.tenant_id,
            document_id=record.document_id,
            chunk_index=record.seq_id,
            content=text,
            chunk_type=ChunkType.QUESTION,
            parent_chunk_id=record.entry_id,
            enabled=record.draft.is_enabled,
            tag_ids=record.draft.tag_ids,
        )
        for row_id, text in texts.items()
    ]


def _distinct(texts: Iterable[str], *, but: str = "") -> tuple[str, ...]:
    seen = {question_hash(but)} if but else set()
    kept = []
    for text in texts:
        mark = question_hash(text)
        if text.strip() and mark not in seen:
            seen.add(mark)
            kept.append(text.strip())
    return tuple(kept)


def _limit(name: str, texts: Sequence[str], count: int, chars: int) -> None:
    if len(texts) > count:
        raise InvalidInput.of(name, f"{name}: an entry has at most {count}.")
    if any(len(text) > chars for text in texts):
        raise InvalidInput.of(name, f"{name}: at most {chars} characters each.")
