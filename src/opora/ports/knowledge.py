"""Repositories of bases, documents and chunks."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from opora.domain.bases import BaseCopy, BaseStatistics
from opora.domain.enrichment import Enrichment
from opora.domain.filters import Filter
from opora.domain.graph import ChunkFacts
from opora.domain.knowledge import Chunk, Document, KnowledgeBase, ParseStatus
from opora.domain.revisions import ChunkRevision
from opora.domain.scope import BaseRef, Scope
from opora.domain.search import SearchResult
from opora.domain.steps import Step
from opora.domain.tags import Tag, Tagged
from opora.ports.values import Listed, Page


class BaseRepository(Protocol):
    """Knowledge bases of a tenant. All but `add` and `list` take a scope that names the base."""

    async def add(self, base: KnowledgeBase, *, is_hidden: bool = False) -> None:
        """A hidden base is in no list and no search, and its documents have no owner, until `show`."""
        ...

    async def show(self, scope: Scope, base_id: str) -> None: ...
    async def hidden(self, scope: Scope, base_id: str) -> KnowledgeBase | None:
        """A base that was added hidden. For what fills it only."""
        ...

    async def by_name(self, tenant_id: str, name: str) -> list[KnowledgeBase]:
        """Bases of this name, case aside, those that are being copied too, oldest first.

        There is more than one only among those that earlier versions made."""
        ...

    async def statistics(self, scope: Scope, base_id: str) -> BaseStatistics:
        """All but what the engine takes."""
        ...

    async def find(self, tenant_id: str, base_ids: Collection[str]) -> list[KnowledgeBase]: ...
    async def browse(self, tenant_id: str, page: Page, *, name: str = "") -> Listed[KnowledgeBase]: ...
    async def refs(self, *, tenant_id: str | None = None, base_ids: Collection[str] | None = None) -> list[BaseRef]:
        """Bases of a tenant, or those of the given ids with whoever owns them. Used by `opora.access` and at start."""
        ...

    async def of_model(self, tenant_id: str, model_id: str, *, holding_vectors: bool = False) -> list[KnowledgeBase]:
        """Bases that are embedded by this model of the registry; only those with vectors where that is asked."""
        ...

    async def update(self, scope: Scope, base: KnowledgeBase) -> None: ...
    async def hide(self, scope: Scope, base_id: str) -> None:
        """Take the base and its documents out of every list and search at once, until `delete` removes the rows.

        Work that waits in the base is taken back."""
        ...

    async def delete(self, scope: Scope, base_id: str) -> None:
        """Remove the base with its documents' and chunks' rows."""
        ...


class CopyRepository(Protocol):
    """Copies of bases; their progress is kept when they are done."""

    async def add(self, task: BaseCopy) -> None: ...
    async def get(self, scope: Scope, task_id: str) -> BaseCopy:
        """Raises `NotFound`, also for one of another tenant."""
        ...

    async def update(self, scope: Scope, task: BaseCopy) -> None: ...


class DocumentRepository(Protocol):
    """Documents inside the bases of a scope."""

    async def add(self, scope: Scope, document: Document, *, into_hidden: bool = False) -> None:
        """Raises `Conflict` with ``details['document_id']`` when the base has the same bytes already, and `NotFound`
        for a base that is hidden and was not said to be."""
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
        self,
        scope: Scope,
        page: Page,
        *,
        status: ParseStatus | None = None,
        name: str = "",
        source_prefix: str = "",
        folder: str | None = None,
    ) -> Listed[Document]:
        """Newest first; what is being deleted is left out. A ``folder`` holds what lies in folders inside it too."""
        ...

    async def ids(self, scope: Scope) -> list[str]:
        """Ids of all documents of the scope, also of those that are being deleted."""
        ...

    async def owners(self, tenant_id: str, document_ids: Collection[str]) -> dict[str, str]:
        """The base of each of these documents that the tenant has. Used by `opora.access` only."""
        ...

    async def fitting(self, scope: Scope, *, folder: str = "", fits: Filter | None = None) -> frozenset[str]:
        """Ids of the scope's documents in a folder, and in those inside it, that a filter lets through."""
        ...

    async def folders(self, scope: Scope) -> dict[str, int]:
        """The folders of the scope's documents, and how many lie in each itself."""
        ...

    async def count_unembedded(self, scope: Scope) -> int:
        """Documents, neither failed nor being deleted, that have chunks without a vector."""
        ...

    async def known(self, document_ids: Collection[str]) -> set[str]:
        """Which of these ids are documents, of any tenant; for the sweep at start only."""
        ...

    async def update(self, scope: Scope, document: Document) -> None: ...
    async def move(self, scope: Scope, document: Document) -> None:
        """Put the document with its chunks, states, steps and waiting work into the base that it names now.

        Raises `Conflict` when that has the same bytes."""
        ...

    async def delete(self, scope: Scope, document_id: str) -> None:
        """Remove the row and its chunks; nothing happens when it is gone."""
        ...


class ChunkRepository(Protocol):
    """Chunks inside the bases of a scope; a scope's document, tag and enabled limits are applied."""

    async def replace_document(self, scope: Scope, document: Document, chunks: Sequence[Chunk]) -> set[str]:
        """Make ``chunks`` the chunks of the document; returns the ids that went away.

        A chunk whose id stood before keeps its vector mark, its enabled state and its question forms.
        """
        ...

    async def put(self, scope: Scope, document: Document, chunks: Sequence[Chunk]) -> None:
        """Add chunks to a document, or write them anew; others of the document stay."""
        ...

    async def count_searched(self, scope: Scope, document_id: str, *, model: str | None = None) -> int:
        """Searched rows of a document, forms included, or those of them with a vector by ``model``."""
        ...

    async def get_many(self, scope: Scope, chunk_ids: Collection[str]) -> dict[str, Chunk]: ...
    async def hydrate(self, scope: Scope, chunk_ids: Collection[str]) -> dict[str, SearchResult]:
        """Chunks with the title, file name and source of their document, in one query; the hot path of search.

        What the database no longer holds, or holds as disabled or deleting, is left out.
        """
        ...

    async def forms(self, scope: Scope, owner_ids: Collection[str]) -> dict[str, list[Chunk]]:
        """Question forms by the chunk that they lead to; `get_many`, `browse` and `hydrate` never give one."""
        ...

    async def present(self, scope: Scope, chunk_ids: Collection[str]) -> set[str]:
        """Which of these rows, forms included, the database holds."""
        ...

    async def browse(
        self, scope: Scope, document_id: str, page: Page, *, with_forms: bool = False
    ) -> Listed[Chunk]: ...
    async def without_vector(
        self, scope: Scope, document_id: str, model: str, *, limit: int, start: int = 0
    ) -> list[Chunk]:
        """Searched chunks whose vector by ``model`` is not in the engine yet, in order of index, from ``start`` on."""
        ...

    async def mark_embedded(self, scope: Scope, chunk_ids: Collection[str], model: str) -> None: ...
    async def count_unembedded(self, scope: Scope, document_id: str, model: str, *, with_forms: bool = True) -> int: ...
    async def owner(self, tenant_id: str, chunk_id: str) -> tuple[str, str]:
        """Base and document of a chunk; raises `NotFound`. Used by `opora.access` only."""
        ...

    async def ids(self, scope: Scope, *, model: str | None = None) -> set[str]:
        """Ids of the searched chunks of a scope, or of those whose vector by ``model`` is marked as written."""
        ...

    async def update(self, scope: Scope, chunk: Chunk) -> None:
        """Its question forms take over its enabled state and its tags."""
        ...

    async def delete(self, scope: Scope, chunk_ids: Collection[str]) -> None:
        """Question forms go with their owner."""
        ...

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

    async def forget_strays(self, scope: Scope, document_id: str, chunk_ids: Collection[str]) -> None:
        """Those that were taken out, and those that the database holds after all; others were noted meanwhile."""
        ...


class EnrichmentRepository(Protocol):
    """How far the enrichment of each document has come."""

    async def get(self, scope: Scope, document_id: str) -> Enrichment | None: ...
    async def forget_reasons(self, scope: Scope, base_id: str) -> None:
        """Let what was given up in a base be tried again, with a fresh budget."""
        ...

    async def put(self, scope: Scope, base_id: str, enrichment: Enrichment) -> None:
        """Keep it in the place of what was kept for the document."""
        ...


class GraphRepository(Protocol):
    """What chunks speak of, and how it is related; searches see only rows of chunks that the scope holds."""

    async def replace(self, scope: Scope, document_id: str, facts: Sequence[ChunkFacts]) -> None:
        """Hold these facts of a document and no others."""
        ...

    async def seeds(self, scope: Scope, key: str, *, limit: int) -> list[str]:
        """Keys of entities of that very key; where there is none, of those that have its words side by side."""
        ...

    async def mentions(self, scope: Scope, keys: Collection[str], *, limit: int) -> list[tuple[str, str]]:
        """Pairs of an entity's key and the id of a chunk that speaks of it."""
        ...

    async def related(self, scope: Scope, keys: Collection[str], *, limit: int) -> list[str]:
        """Keys of entities that one relation joins with one of ``keys``."""
        ...


class StepRepository(Protocol):
    """What the processing of each document did, for the last attempts."""

    async def add(self, scope: Scope, document_id: str, steps: Sequence[Step], *, is_attempt: bool) -> None:
        """Keep steps of a new attempt, or more of the last one; nothing happens where the document is gone."""
        ...

    async def of_document(self, scope: Scope, document_id: str) -> list[Step]:
        """Oldest first."""
        ...


class RevisionRepository(Protocol):
    """The states of chunks that people edited; other chunks have none. They are kept as long as their document."""

    async def of_document(self, scope: Scope, document_id: str) -> list[ChunkRevision]: ...
    async def lineage(self, scope: Scope, chunk_id: str) -> list[ChunkRevision]:
        """All states of the chunk that has, or had, this id, oldest first; empty for one that was never edited."""
        ...

    async def owner(self, tenant_id: str, chunk_id: str) -> tuple[str, str]:
        """Base and document of a state; raises `NotFound`. Used by `opora.access` only."""
        ...

    async def add(self, scope: Scope, revisions: Sequence[ChunkRevision]) -> None: ...


class TagRepository(Protocol):
    """Tags of the scope's bases, and what has them."""

    async def add(self, scope: Scope, tag: Tag) -> None: ...
    async def get(self, scope: Scope, tag_id: str) -> Tag: ...
    async def by_name(self, scope: Scope, base_id: str, name: str) -> Tag | None:
        """The tag of a base with this name, case aside."""
        ...

    async def known(self, scope: Scope, tag_ids: Collection[str]) -> set[str]:
        """Which of these are tags of the scope's bases."""
        ...

    async def browse(self, scope: Scope, base_id: str) -> list[Tagged]:
        """By position and name, with counts."""
        ...

    async def update(self, scope: Scope, tag: Tag) -> None: ...
    async def delete(self, scope: Scope, tag_id: str) -> None: ...
    async def set_on_document(self, scope: Scope, document_id: str, tag_ids: tuple[str, ...]) -> dict[str, bool]:
        """Give a document and all its rows these tags; returns the rows, and whether each is searched."""
        ...

    async def take_off(self, scope: Scope, tag: Tag) -> tuple[dict[str, tuple[str, ...]], set[str]]:
        """Take a tag off everything; returns the tags that searched rows are left with, and their documents."""
        ...
