"""The promises that rooms ask for; bootstrap puts the implementations behind them.

Every call that touches stored data takes the frozen `Scope` that `opora.access` made. A driver's error is wrapped in
an `OporaError` inside its own file; an outage is never an empty result.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from opora.domain.conversation import Message, Quote, Session, StoredRound
from opora.domain.knowledge import Chunk, ChunkingConfig, Document, KnowledgeBase, ParsedDocument, ParseStatus
from opora.domain.memory import MemoryItem
from opora.domain.models import ModelEntry
from opora.domain.scope import BaseRef, Scope
from opora.domain.search import Capability, EngineHit, IndexRow, SearchResult
from opora.domain.stream import LogState, StreamEvent
from opora.domain.work import Work, WorkKind

T = TypeVar("T")

Vectors = npt.NDArray[np.float32]
"""A float32 matrix of shape (texts, dimension), rows of length 1."""

Clock = Callable[[], datetime]
"""The time now, with its zone."""

NewId = Callable[[], str]
"""A fresh id, unique and sortable by time."""


# --- engines ----------------------------------------------------------------------------------------------------


class SearchEngine(Protocol):
    """One store of vectors and words. It holds only what can be rebuilt; each write is safe to repeat."""

    name: str
    capabilities: frozenset[Capability]

    async def write(self, scope: Scope, rows: Sequence[IndexRow]) -> None:
        """Insert or replace rows by chunk id. A row without a vector keeps a vector that is stored already."""
        ...

    async def search_vector(self, scope: Scope, vector: Vectors, *, top_k: int, threshold: float) -> list[EngineHit]:
        """The ``top_k`` nearest by cosine among the scope's rows, best first, filtered before the cut.

        ``vector`` has shape (dimension,). A threshold of 0 filters nothing, negatives included.
        """
        ...

    async def search_keyword(self, scope: Scope, query: str, *, top_k: int) -> list[EngineHit]:
        """The ``top_k`` best by the words of ``query``, which is data and never query language."""
        ...

    async def delete_chunks(self, scope: Scope, base_id: str, chunk_ids: Collection[str]) -> None: ...

    async def delete_documents(self, scope: Scope, base_id: str, document_ids: Collection[str]) -> None: ...

    async def delete_base(self, scope: Scope, base_id: str) -> None: ...

    async def set_enabled(self, scope: Scope, base_id: str, enabled: Mapping[str, bool]) -> None:
        """Switch chunks (by id) on or off."""
        ...

    async def set_tags(self, scope: Scope, base_id: str, tags: Mapping[str, Sequence[str]]) -> None:
        """Replace the tags of chunks (by id)."""
        ...

    async def copy_base(
        self,
        scope: Scope,
        source_id: str,
        target_id: str,
        chunk_ids: Mapping[str, str],
        *,
        document_ids: Mapping[str, str] | None = None,
    ) -> None:
        """Copy rows whose chunk id is a key of ``chunk_ids`` to the target base under the mapped id.

        ``document_ids`` maps their documents' ids likewise; a document that it does not name keeps its id.
        """
        ...

    async def chunk_ids(self, scope: Scope, base_id: str, *, with_vector: bool = False) -> set[str]:
        """Ids of all rows of a base, or of those that have a vector; for repair and tests."""
        ...

    async def storage_bytes(self, scope: Scope, base_id: str) -> int:
        """An estimate of what the base takes."""
        ...

    async def generation(self) -> str:
        """An id made when the store was created: a new one means the store was lost and must be filled anew."""
        ...

    async def close(self) -> None: ...


# --- models -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderCard:
    """What is known of an embedding model. ``vector_threshold`` is its own floor for cosine scores, measured."""

    identity: str
    """Model, quantisation, prefixing: vectors of equal identity share a space."""
    dimension: int
    max_tokens: int
    vector_threshold: float
    answer_floor: float = 0.0
    """The best cosine from which retrieval may hold an answer without any of the question's words; 0: not known."""
    description: str = ""


class Embedder(Protocol):
    """Turns text into vectors. Count, size, NaN and zero are checked by the wrapper in `opora.models.checked`."""

    @property
    def card(self) -> EmbedderCard: ...

    async def embed_query(self, text: str) -> Vectors:
        """Shape (dimension,), length 1."""
        ...

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), dimension), each of length 1."""
        ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankerCard:
    """What is known of a reranking model; limits of 0 mean that none is known."""

    identity: str
    max_passage_chars: int = 0
    sees_images: bool = False


class Reranker(Protocol):
    """Scores passages for a query. Count, order and scale are checked by its own adapter."""

    @property
    def card(self) -> RerankerCard: ...

    async def rerank(self, query: str, passages: Sequence[str]) -> list[float]:
        """One score in [0, 1] for each passage, in their order."""
        ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    role: str
    """``system``, ``user`` or ``assistant``."""
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatOptions:
    """What is None is left to the model's provider."""

    temperature: float = 0.3
    max_tokens: int = 2048
    top_p: float | None = None
    seed: int | None = None
    thinking: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatDelta:
    """A piece of a model's stream; ``finish_reason`` stands on the last one, in the provider's own word."""

    content: str = ""
    thinking: str = ""
    finish_reason: str = ""


class ChatModel(Protocol):
    @property
    def identity(self) -> str: ...

    def stream(self, messages: Sequence[ChatMessage], options: ChatOptions) -> AsyncIterator[ChatDelta]:
        """Raises `ModelError` when the model fails, also in mid-stream, or when the stream ends without a finish."""
        ...

    async def close(self) -> None: ...


class ExtractiveAnswerer(Protocol):
    """Answers without a chat model: the sentences that best answer, word for word."""

    async def quotes(self, question: str, passages: Sequence[SearchResult]) -> list[Quote]:
        """Quotes best first, in passages' own words; empty when no sentence answers."""
        ...


# --- documents --------------------------------------------------------------------------------------------------


class Parser(Protocol):
    """Reads a file in a guarded child process."""

    async def parse(self, path: str, *, file_name: str) -> ParsedDocument:
        """Raises `ParseFailed` with a reason a person understands."""
        ...

    async def render_page(self, path: str, page: int, *, scale: float = 2.0) -> bytes:
        """A PDF page (from 1) as PNG bytes; raises `ParseFailed` like `parse`."""
        ...

    async def close(self) -> None: ...


class Splitter(Protocol):
    def split(self, parsed: ParsedDocument, config: ChunkingConfig, *, owner: Document) -> list[Chunk]:
        """Chunks in reading order, parents (if any) before their children, linked to their neighbours."""
        ...


class Blobs(Protocol):
    """Files of documents, by ids only: no name from outside ever becomes a path.

    ``part`` is ``original`` (the bytes that came in) or ``text`` (the UTF-8 text that `Place` offsets point into).
    """

    async def put(self, tenant_id: str, document_id: str, version: int, data: bytes, *, part: str = "original") -> None:
        """Write whole or not at all: a reader never sees half a file, also after a crash."""
        ...

    async def get(self, tenant_id: str, document_id: str, version: int, *, part: str = "original") -> bytes: ...

    def path(self, tenant_id: str, document_id: str, version: int, *, part: str = "original") -> str: ...

    async def delete(self, tenant_id: str, document_id: str, *, before: int | None = None) -> None:
        """Remove all versions, or those below ``before``; removing what is not there is no error."""
        ...

    async def stored(self) -> list[tuple[str, str]]:
        """Tenant and document id of everything that is stored; for the sweep at start."""
        ...


# --- repositories -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Paging: ``page`` from 1."""

    page: int = 1
    page_size: int = 20

    @property
    def offset(self) -> int:
        return (self.page - 1) * self.page_size


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed(Generic[T]):
    items: tuple[T, ...]
    total: int


class BaseRepository(Protocol):
    """Knowledge bases of a tenant. All but `add` and `list` take a scope that names the base."""

    async def add(self, base: KnowledgeBase) -> None: ...
    async def find(self, tenant_id: str, base_ids: Collection[str]) -> list[KnowledgeBase]: ...
    async def browse(self, tenant_id: str, page: Page, *, name: str = "") -> Listed[KnowledgeBase]: ...
    async def refs(self, *, tenant_id: str | None = None, base_ids: Collection[str] | None = None) -> list[BaseRef]:
        """Bases of a tenant, or those of the given ids with whoever owns them. Used by `opora.access` and at start."""
        ...

    async def update(self, scope: Scope, base: KnowledgeBase) -> None: ...
    async def hide(self, scope: Scope, base_id: str) -> None:
        """Take the base and its documents out of every list and search at once, until `delete` removes the rows.

        Work that waits in the base is taken back."""
        ...

    async def delete(self, scope: Scope, base_id: str) -> None:
        """Remove the base with its documents' and chunks' rows."""
        ...


class DocumentRepository(Protocol):
    """Documents inside the bases of a scope."""

    async def add(self, scope: Scope, document: Document) -> None:
        """Raises `Conflict` with ``details['document_id']`` when the base has the same bytes already."""
        ...

    async def owner(self, tenant_id: str, document_id: str) -> str:
        """The id of the base that holds the document; raises `NotFound`. Used by `opora.access` only."""
        ...

    async def get(self, scope: Scope, document_id: str) -> Document: ...
    async def get_many(self, scope: Scope, document_ids: Collection[str]) -> dict[str, Document]: ...
    async def by_hash(self, scope: Scope, base_id: str, file_hash: str) -> Document | None: ...
    async def by_source(self, scope: Scope, base_id: str, prefix: str) -> list[Document]:
        """Documents of a base whose source starts with ``prefix``."""
        ...

    async def browse(
        self, scope: Scope, page: Page, *, status: ParseStatus | None = None, name: str = "", source_prefix: str = ""
    ) -> Listed[Document]:
        """Newest first; what is being deleted is left out."""
        ...

    async def ids(self, scope: Scope) -> list[str]:
        """Ids of all documents of the scope, also of those that are being deleted."""
        ...

    async def count_unembedded(self, scope: Scope) -> int:
        """Documents, neither failed nor being deleted, that have chunks without a vector."""
        ...

    async def known(self, document_ids: Collection[str]) -> set[str]:
        """Which of these ids are documents, of any tenant; for the sweep at start only."""
        ...

    async def update(self, scope: Scope, document: Document) -> None: ...
    async def delete(self, scope: Scope, document_id: str) -> None:
        """Remove the row and its chunks; nothing happens when it is gone."""
        ...


class ChunkRepository(Protocol):
    """Chunks inside the bases of a scope; a scope's document, tag and enabled limits are applied."""

    async def replace_document(self, scope: Scope, document: Document, chunks: Sequence[Chunk]) -> set[str]:
        """Make ``chunks`` the chunks of the document; returns the ids that went away.

        A chunk whose id stood before keeps its vector mark and its enabled state.
        """
        ...

    async def get_many(self, scope: Scope, chunk_ids: Collection[str]) -> dict[str, Chunk]: ...
    async def hydrate(self, scope: Scope, chunk_ids: Collection[str]) -> dict[str, SearchResult]:
        """Chunks with the title, file name and source of their document, in one query; the hot path of search.

        What the database no longer holds, or holds as disabled or deleting, is left out.
        """
        ...

    async def browse(self, scope: Scope, document_id: str, page: Page) -> Listed[Chunk]: ...
    async def without_vector(self, scope: Scope, document_id: str, model: str, *, limit: int) -> list[Chunk]:
        """Searched chunks whose vector by ``model`` is not in the engine yet, in order of index."""
        ...

    async def mark_embedded(self, scope: Scope, chunk_ids: Collection[str], model: str) -> None: ...
    async def count_unembedded(self, scope: Scope, document_id: str, model: str) -> int: ...
    async def owner(self, tenant_id: str, chunk_id: str) -> tuple[str, str]:
        """Base and document of a chunk; raises `NotFound`. Used by `opora.access` only."""
        ...

    async def ids(self, scope: Scope, *, model: str | None = None) -> set[str]:
        """Ids of the searched chunks of a scope, or of those whose vector by ``model`` is marked as written."""
        ...

    async def update(self, scope: Scope, chunk: Chunk) -> None: ...
    async def delete(self, scope: Scope, chunk_ids: Collection[str]) -> None: ...
    async def forget_vectors(self, tenant_id: str | None = None) -> None:
        """Unmark every vector (of a tenant, or all): the engine lost them."""
        ...

    async def models(self, scope: Scope) -> set[str]:
        """Identities of the models whose vectors the scope's chunks have."""
        ...

    async def recount(self, scope: Scope, model: str) -> None:
        """Set each document's count of embedded chunks to those embedded by ``model``."""
        ...

    async def add_strays(self, scope: Scope, document: Document, chunk_ids: Collection[str]) -> None:
        """Note chunk ids that the engine may hold and the database does not, until they are taken out there."""
        ...

    async def strays(self, scope: Scope, document_id: str) -> set[str]:
        """The noted ids of a document that the database still does not hold."""
        ...

    async def forget_strays(self, scope: Scope, document_id: str) -> None: ...


class SessionRepository(Protocol):
    """Sessions of the scope's principal; another user's session raises `NotFound`."""

    async def add(self, scope: Scope, session: Session) -> None: ...
    async def get(self, scope: Scope, session_id: str) -> Session: ...
    async def browse(self, scope: Scope, page: Page) -> Listed[Session]: ...
    async def update(self, scope: Scope, session: Session) -> None: ...
    async def delete(self, scope: Scope, session_id: str) -> None:
        """Remove the session with its messages."""
        ...

    async def delete_many(self, scope: Scope, session_ids: Collection[str]) -> list[str]:
        """Remove those of the sessions that are the principal's own; returns their ids."""
        ...


class MessageRepository(Protocol):
    async def add(self, scope: Scope, message: Message) -> None: ...
    async def get(self, scope: Scope, message_id: str) -> Message: ...
    async def update(self, scope: Scope, message: Message) -> None: ...
    async def recent(
        self, scope: Scope, session_id: str, *, limit: int, before: datetime | None = None
    ) -> list[Message]:
        """The last ``limit`` messages, oldest first."""
        ...

    async def of_session(self, scope: Scope, session_id: str) -> list[Message]:
        """All messages, oldest first."""
        ...

    async def delete(self, scope: Scope, message_id: str) -> None: ...
    async def delete_after(self, scope: Scope, message: Message, *, with_it: bool = False) -> list[str]:
        """Remove what came after a message of its session, and with ``with_it`` the message too; returns the ids."""
        ...

    async def clear(self, scope: Scope, session_id: str) -> list[str]:
        """Remove all messages of a session; returns their ids."""
        ...

    async def unfinished(self) -> list[Message]:
        """Assistant messages of all tenants that were never completed; for the start-up check only."""
        ...

    async def interrupt(self, message_id: str, now: datetime) -> None:
        """Flag an unfinished message whose process died."""
        ...


class RoundRepository(Protocol):
    """The principal's own rounds whose answer has ended; an answer's id names the round."""

    async def unindexed(self, scope: Scope, stamps: Collection[str], *, limit: int) -> list[StoredRound]:
        """The newest rounds that carry none of these stamps: what the search engine lacks."""
        ...

    async def count_unindexed(self, scope: Scope, stamps: Collection[str]) -> int: ...
    async def mark_indexed(self, scope: Scope, message_ids: Collection[str], stamp: str) -> None: ...
    async def get_many(self, scope: Scope, message_ids: Collection[str]) -> dict[str, StoredRound]: ...


class CitationRepository(Protocol):
    """How often the caller's own answers cited each document."""

    async def add(self, scope: Scope, document_ids: Collection[str]) -> None:
        """Count one answer that cites these documents; those that the scope does not hold are passed over."""
        ...

    async def uses(self, scope: Scope, document_ids: Collection[str]) -> dict[str, int]:
        """The number of the caller's answers that cited each of these documents; those without any are left out."""
        ...


class MemoryRepository(Protocol):
    """What the scope's principal asked to be remembered; another user's item raises `NotFound`."""

    async def enabled(self, scope: Scope) -> bool:
        """Whether memory is used; it is, until somebody switches it off."""
        ...

    async def enable(self, scope: Scope, enabled: bool) -> None: ...
    async def add(self, scope: Scope, item: MemoryItem) -> None: ...
    async def get(self, scope: Scope, item_id: str) -> MemoryItem: ...
    async def count(self, scope: Scope) -> int: ...
    async def all(self, scope: Scope) -> list[MemoryItem]:
        """Everything, newest first."""
        ...

    async def browse(self, scope: Scope, page: Page) -> Listed[MemoryItem]: ...
    async def update(self, scope: Scope, item: MemoryItem) -> None: ...
    async def delete(self, scope: Scope, item_id: str) -> None: ...
    async def clear(self, scope: Scope) -> int:
        """Remove everything; returns how many items that were."""
        ...


class ModelRepository(Protocol):
    """The registry of the scope's tenant; another tenant's entry raises `NotFound`."""

    async def add(self, scope: Scope, entry: ModelEntry) -> None: ...
    async def get(self, scope: Scope, model_id: str) -> ModelEntry: ...
    async def all(self, scope: Scope) -> list[ModelEntry]:
        """Oldest first."""
        ...

    async def update(self, scope: Scope, entry: ModelEntry) -> None: ...
    async def delete(self, scope: Scope, model_id: str) -> None: ...
    async def sealed_key(self, scope: Scope, model_id: str) -> str:
        """As `Secrets` sealed it; '' for none."""
        ...

    async def seal_key(self, scope: Scope, model_id: str, token: str) -> None:
        """Keep a sealed key; '' takes it away."""
        ...


class WorkRepository(Protocol):
    """Work that must happen: rows with leases, committed together with what made them necessary."""

    async def add(self, work: Work) -> None:
        """Add, or do nothing where the same (kind, subject) waits already."""
        ...

    async def lease(
        self, owner: str, now: datetime, until: datetime, kinds: Collection[WorkKind] | None = None
    ) -> Work | None:
        """Take the oldest due work that nobody holds, marking it held by ``owner`` until then.

        One subject is worked on by one holder at a time, and a base is deleted when nothing else in it is held.
        """
        ...

    async def extend(self, work_id: str, owner: str, until: datetime) -> bool:
        """False when the lease was lost."""
        ...

    async def finish(self, work_id: str) -> None: ...
    async def retry(self, work_id: str, not_before: datetime, error: str) -> None:
        """Release for another try; ``attempts`` grows by one."""
        ...

    async def release_all(self) -> None:
        """Free every lease; called at start by the one owner of a data folder."""
        ...

    async def cancel(self, kind: WorkKind, subject: str) -> None:
        """Take back work that waits; what somebody holds is left to them."""
        ...

    async def pending(self, tenant_id: str | None = None) -> int: ...
    async def waiting(self, subject: str) -> set[WorkKind]:
        """Kinds of work on a subject, held or not."""
        ...

    async def chunks_ahead(self, document_id: str) -> int | None:
        """Chunks to be embedded up to the end of this document, in the order of the queue; None when not queued."""
        ...

    async def add_for_documents(self, kind: WorkKind, now: datetime, new_id: NewId, base_id: str | None = None) -> int:
        """Queue work on every document that has chunks (of a base, or all), marking it as being processed.

        Embedding is queued for those that lack vectors only."""
        ...


class Repositories(Protocol):
    """One open transaction: everything done through it is committed, or rolled back, together."""

    @property
    def bases(self) -> BaseRepository: ...
    @property
    def documents(self) -> DocumentRepository: ...
    @property
    def chunks(self) -> ChunkRepository: ...
    @property
    def sessions(self) -> SessionRepository: ...
    @property
    def messages(self) -> MessageRepository: ...
    @property
    def rounds(self) -> RoundRepository: ...
    @property
    def citations(self) -> CitationRepository: ...
    @property
    def memory(self) -> MemoryRepository: ...
    @property
    def models(self) -> ModelRepository: ...
    @property
    def work(self) -> WorkRepository: ...

    async def get_fact(self, name: str) -> str | None:
        """A stored fact of the installation, such as the engine generation or the model's dimension."""
        ...

    async def set_fact(self, name: str, value: str) -> None: ...


class Secrets(Protocol):
    """Makes a key unreadable for whoever has the database alone."""

    def seal(self, text: str) -> str: ...
    def unseal(self, token: str) -> str:
        """Raises `Unavailable` when it was sealed by another installation."""
        ...


class Jobs(Protocol):
    """What the use cases see of the workers: they wake them, and wait for what changes."""

    def wake(self) -> None:
        """Work was committed; look now."""
        ...

    @property
    def changes(self) -> int:
        """Grows whenever work on something ended a step."""
        ...

    async def changed(self, seen: int) -> int:
        """Wait until `changes` is above ``seen``; returns it."""
        ...

    def seconds_for(self, chunks: int) -> float | None:
        """How long embedding that many chunks takes at the present pace; None while nothing is known."""
        ...


class Database(Protocol):
    def begin(self) -> AbstractAsyncContextManager[Repositories]:
        """A writing transaction: commits at the end of the block, rolls back on an exception."""
        ...

    def read(self) -> AbstractAsyncContextManager[Repositories]:
        """A reading transaction on a consistent snapshot."""
        ...

    async def backup(self, target: str) -> None:
        """Write a consistent copy of the database to a file."""
        ...

    async def close(self) -> None: ...


# --- streams ----------------------------------------------------------------------------------------------------


class StreamLog(Protocol):
    """The append-only log of events of each answer. Offsets count from 0; `FIRST` begins a log, `TERMINAL` ends it.

    Every call raises `Unavailable` when the log is kept by a service that can't be reached.
    """

    async def append(self, session_id: str, message_id: str, event: StreamEvent) -> int:
        """Append and wake the followers; returns the event's offset.

        Raises `NotFound` when there is no such log and the event begins none, `Conflict` behind the terminal event
        (but for a title in time), `Busy` when there is no room for another log.
        """
        ...

    async def read(self, session_id: str, message_id: str, from_offset: int = 0) -> tuple[list[StreamEvent], int]:
        """Events from an offset on, and the next offset. Raises `NotFound` when there is no such log."""
        ...

    def follow(self, session_id: str, message_id: str, from_offset: int = 0) -> AsyncIterator[tuple[int, StreamEvent]]:
        """Replay from an offset, then live events, ending after the terminal event (and a late title).

        It ends without the terminal event when nobody is left to write one. Raises `NotFound` like `read`.
        """
        ...

    async def exists(self, session_id: str, message_id: str) -> bool: ...

    async def state(self, session_id: str, message_id: str) -> LogState: ...

    async def take_over(self, session_id: str, message_id: str) -> bool:
        """Become the writer of an abandoned log; False when it is not abandoned, or somebody else was faster."""
        ...

    async def stop_requested(self, session_id: str, message_id: str) -> None:
        """Return as soon as a `stop` stands in the log, whoever wrote it. Never returns when none comes."""
        ...

    async def close(self) -> None: ...


# --- the parts that jobs report ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a document's processing is; ``seconds_left`` is an estimate, None while nothing is known."""

    document_id: str
    status: ParseStatus
    chunks: int
    embedded: int
    seconds_left: float | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
