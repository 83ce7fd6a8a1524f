"""Documents from the web: fetched from their address, and fetched again when they are read anew."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

from opora.domain.errors import InvalidInput, ParseFailed
from opora.domain.knowledge import Document, Origin, ParseReason
from opora.domain.scope import Scope
from opora.knowledge.documents import Documents
from opora.net.client import Fetched, GuardedClient
from opora.text.names import clean_file_name, extension

FETCH_SECONDS = 60.0
PAGE_TYPES = frozenset({"text/html", "application/xhtml+xml"})
_EXTENSIONS: Mapping[str, str] = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "text/plain": ".txt",
    "text/markdown": ".md",
    "text/csv": ".csv",
    "application/json": ".json",
    "application/pdf": ".pdf",
}
_NOT_READ = ("audio/", "video/", "font/", "multipart/")
_FILES = frozenset(
    (
        *(".pdf", ".docx", ".xlsx", ".pptx", ".odt", ".ods", ".odp", ".epub", ".rtf", ".xls"),
        *(".csv", ".tsv", ".json", ".jsonl", ".md", ".txt", ".eml", ".mhtml"),
    )
)
"""Names that promise a file: a web page in its place is a login or an error."""
_GIVEN_NAME = re.compile(r"filename\*=(?:UTF-8'[^']*')([^;]+)|filename=\"?([^\";]+)\"?", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What stood at an address."""

    file_name: str
    data: bytes


class Addresses:
    def __init__(self, documents: Documents, client: GuardedClient, *, limit: int) -> None:
        self._documents = documents
        self._client = client
        self._limit = limit

    async def add(
        self,
        scope: Scope,
        base_id: str,
        url: str,
        *,
        title: str = "",
        metadata: Mapping[str, Any] | None = None,
        folder: str = "",
    ) -> Document:
        """Fetch a page or a file and take it in; an address that the base has takes what stands there now.

        Raises `InvalidInput` for an address that is refused, `ParseFailed` where no document stands there.
        """
        scope.owner_of(base_id)
        source = checked_address(url)
        page = await self.fetch(source)
        return await self._documents.add_file(
            scope,
            base_id,
            file_name=page.file_name,
            data=page.data,
            source=source,
            title=title,
            metadata=metadata,
            folder=folder,
            origin=Origin.URL,
            replace=True,
        )

    async def read_again(self, scope: Scope, document_id: str) -> Document:
        """Read a document anew: from its address where it came from one, else from its stored bytes.

        Where the address fails, the document stays as it is.
        """
        document = await self._documents.get(scope, document_id)
        if document.origin is not Origin.URL:
            return await self._documents.retry(scope, document_id)
        page = await self.fetch(document.source)
        return await self._documents.refreshed(scope, document.document_id, page.data)

    async def fetch(self, address: str) -> Page:
        fetched = await self._client.fetch(
            "GET", address, max_bytes=self._limit, follow_redirects=True, total_seconds=FETCH_SECONDS
        )
        media_type = fetched.headers.get("content-type", "").partition(";")[0].strip().lower()
        if fetched.status != 200:
            hint = "Open it in a browser: it may have moved, or want a login."
            raise _refused(f"The address answered {fetched.status}, so there is no document.", hint)
        if media_type.startswith(_NOT_READ):
            raise _refused(f"At the address stands {media_type}, which is no document.", "Give the document's own.")
        if media_type in PAGE_TYPES and extension(_last_name(address)) in _FILES:
            hint = "It may be a login or an error: open it in a browser."
            raise _refused("In the place of the file stands a web page.", hint)
        return Page(file_name=_name(fetched, media_type), data=fetched.body)


def checked_address(url: str) -> str:
    """The address without what only browsers need, and without a password; raises `InvalidInput`."""
    try:
        parts = urlsplit(url.strip())
        is_whole = parts.scheme in ("http", "https") and bool(parts.hostname)
        has_password = parts.username is not None or parts.password is not None
    except ValueError:
        is_whole, has_password = False, False
    if not is_whole:
        raise InvalidInput.of("url", "This is not a full http or https address.")
    if has_password:
        raise InvalidInput.of("url", "An address with a name or password in it is not kept.", hint="Leave them out.")
    return urlunsplit(parts._replace(fragment=""))


def _refused(message: str, hint: str) -> ParseFailed:
    return ParseFailed(ParseReason.UNREACHABLE, message, hint=hint)


def _last_name(address: str) -> str:
    return unquote(urlsplit(address).path.rpartition("/")[2])


def _name(fetched: Fetched, media_type: str) -> str:
    """The name that the server gives, or that of the address, with an extension that says what it is."""
    given = _GIVEN_NAME.search(fetched.headers.get("content-disposition", ""))
    name = unquote(given[1] or given[2]) if given else _last_name(fetched.url)
    name = clean_file_name(name, fallback=urlsplit(fetched.url).hostname or "page")
    wanted = _EXTENSIONS.get(media_type, "")
    known = extension(name) in _FILES or extension(name) in (".html", ".htm", ".xhtml")
    return name if known or not wanted else clean_file_name(f"{name}{wanted}")
