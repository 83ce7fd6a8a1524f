"""What reads, cuts and keeps files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from opora.domain.knowledge import Chunk, ChunkingConfig, Document, ParsedDocument

Numbered = tuple[int, Mapping[str, Any]]
"""A row's number for people, and its values by field."""


class Parser(Protocol):
    """Reads a file in a guarded child process."""

    async def parse(self, path: str, *, file_name: str) -> ParsedDocument:
        """Raises `ParseFailed` with a reason a person understands."""
        ...

    async def read_rows(self, path: str, *, file_name: str) -> list[Numbered]:
        """Rows of FAQ entries. Raises `ParseFailed`, and `InvalidInput` for a file that names no questions."""
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

    async def delete_version(self, tenant_id: str, document_id: str, version: int) -> None:
        """Remove one version alone: of an upload that was refused after its bytes were written."""
        ...

    async def stored(self) -> list[tuple[str, str]]:
        """Tenant and document id of everything that is stored; for the sweep at start."""
        ...
