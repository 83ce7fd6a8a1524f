"""Sessions, messages and the references that an answer stands on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from opora.domain.knowledge import Place
from opora.domain.pictures import Image
from opora.domain.search import SearchResult


class Role(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"


class Finish(StrEnum):
    """How an answer ended. ``interrupted`` is an answer whose process died; it is flagged at the next start."""

    COMPLETE = "complete"
    TRUNCATED = "truncated"
    STOPPED = "stopped"
    NOTHING_FOUND = "nothing_found"
    ERROR = "error"
    INTERRUPTED = "interrupted"


class Support(StrEnum):
    """How far a passage bears out the statement that cites it, told by words and figures alone."""

    SUPPORTED = "supported"
    PARTLY = "partly"
    NOT_FOUND = "not_found"


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A stretch of a text by offsets; ``exact`` when a quote stands there character by character."""

    start: int
    end: int
    exact: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class CitationCheck:
    """One citation of an answer, checked against the passage and the document that it names.

    ``number`` counts sources from 1 in the order of their first citation; ``start`` and ``end`` are the offsets of the
    tag in the answer.
    """

    number: int
    kind: str
    start: int
    end: int
    title: str = ""
    chunk_id: str = ""
    document_id: str = ""
    base_id: str = ""
    url: str = ""
    statement: str = ""
    support: Support = Support.NOT_FOUND
    share: float = 0.0
    """The share of the statement's terms, weighted by rarity, that the best supporting text holds."""
    quote: Span | None = None
    """Where the statement stands in the passage word for word."""
    best: Span | None = None
    """Where the best supporting text stands in the passage; None for 'not found'."""
    document_version: int = 0
    """The version of the document that was looked into; 0 when it could not be read."""
    place: Place | None = None
    """Where the best supporting text stands in that version: offsets, page and boxes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    session_id: str
    tenant_id: str
    user_id: str
    title: str = ""
    description: str = ""
    is_pinned: bool = False
    parent_session_id: str = ""
    """The session that this one was forked from; '' for one that began empty."""
    forked_from_message_id: str = ""
    last_request: Mapping[str, Any] = field(default_factory=dict)
    """What the last question chose (bases, documents, settings), for clients to choose it again."""
    created_at: datetime
    updated_at: datetime


class Thumb(StrEnum):
    UP = "up"
    DOWN = "down"
    NONE = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """What its reader thought of an answer."""

    thumb: Thumb = Thumb.NONE
    comment: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A text that came with a question and belongs to no base."""

    name: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What stands beside a question: the passage that it speaks about, texts and pictures that came with it."""

    quoted_context: str = ""
    attachments: tuple[Attachment, ...] = ()
    images: tuple[Image, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.quoted_context or self.attachments or self.images)


NOTHING_BESIDE = Beside()


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A user's question or the answer to it; the two of one round share ``request_id``."""

    message_id: str
    session_id: str
    tenant_id: str
    request_id: str
    role: Role
    content: str = ""
    rendered_content: str = ""
    references: tuple[SearchResult, ...] = ()
    citations: tuple[CitationCheck, ...] = ()
    is_completed: bool = False
    finish: Finish | None = None
    error_message: str = ""
    trace: Mapping[str, Any] = field(default_factory=dict)
    beside: Beside = NOTHING_BESIDE
    request: Mapping[str, Any] = field(default_factory=dict)
    """Of a question: what was chosen for it, so that it can be asked again."""
    feedback: Feedback | None = None
    """Of an answer."""
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One finished question with its answer, as history replays it."""

    request_id: str
    question: str
    answer: str
    references: tuple[SearchResult, ...] = ()
    beside: Beside = NOTHING_BESIDE


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRound:
    """An ended answer with its question (None: deleted), as the search over earlier messages finds it."""

    session_title: str
    question: Message | None
    answer: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A sentence taken word for word from a passage; ``start`` and ``end`` are offsets in the passage's content."""

    chunk_id: str
    text: str
    start: int
    end: int
    score: float
