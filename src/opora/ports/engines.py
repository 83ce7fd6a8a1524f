"""What a search engine promises."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from opora.domain.scope import Scope
from opora.domain.search import Capability, EngineHit, IndexRow
from opora.ports.values import Vectors


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


class VectorReader(Protocol):
    """What an engine with `Capability.STORED_VECTORS` promises beside."""

    async def vectors(self, scope: Scope, base_id: str, chunk_ids: Collection[str]) -> dict[str, Vectors]:
        """The vectors of these rows of a base, each of shape (dimension,) and length 1; rows without one are left out.

        Only the base is looked at: which rows may be seen is the caller's to know.
        """
        ...


class FulltextEngine(Protocol):
    """What an engine with `Capability.FULLTEXT` promises beside."""

    async def search_fulltext(self, scope: Scope, query: str, *, top_k: int) -> list[EngineHit]:
        """The ``top_k`` best by any word of ``query``, forms of a word being one, filtered before the cut.

        ``query`` is data and never query language.
        """
        ...
