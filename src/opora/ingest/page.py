"""Reads a page of the web as a document is read: fetched through the guarded client, parsed in a guarded child."""

from __future__ import annotations

import asyncio
import codecs
import tempfile
from email.message import Message
from pathlib import Path

from opora.domain.errors import InvalidInput, Unavailable
from opora.net.client import Fetched, GuardedClient
from opora.ports import Parser
from opora.text.decode import decode

MAX_PAGE_BYTES = 4 * 1024 * 1024
PAGE_SECONDS = 20.0
"""A page that is slower is not worth the wait of whoever asked a question."""
NAMES = {"text/html": "page.html", "application/xhtml+xml": "page.html", "text/plain": "page.txt"}
"""What is read as a page, and as a file of which kind."""


class WebPageReader:
    """A `PageReader`. Addresses inside the network are refused, on each hop of a redirect too."""

    def __init__(self, client: GuardedClient, parser: Parser) -> None:
        self._client = client
        self._parser = parser

    async def read(self, url: str) -> str:
        """Navigation, scripts and the like are left out. The text of an error page is never taken for the page's."""
        page = await self._client.fetch(
            "GET",
            url,
            headers={"accept": ", ".join(NAMES)},
            max_bytes=MAX_PAGE_BYTES,
            follow_redirects=True,
            total_seconds=PAGE_SECONDS,
        )
        if page.status != 200:
            raise Unavailable(f"The page answered {page.status}.", hint="Open it in a browser to see why.")
        kind, charset = _kind(page)
        if kind not in NAMES:
            raise InvalidInput(f"The page is of type '{kind}', which is not read.", hint="Pages of text are.")
        with tempfile.TemporaryDirectory(prefix="opora-page-") as folder:
            path = Path(folder) / NAMES[kind]
            await asyncio.to_thread(path.write_bytes, _as_declared(page.body, charset))
            parsed = await self._parser.parse(str(path), file_name=path.name)
        return parsed.text


def _kind(page: Fetched) -> tuple[str, str]:
    """Type and character set of the header that came with the page."""
    header = Message()
    header["content-type"] = page.headers.get("content-type", "")
    return (header.get_content_type() if header["content-type"] else "missing"), header.get_content_charset("")


def _as_declared(body: bytes, charset: str) -> bytes:
    """The body as a file that says itself what the header said of it: a page is often silent on its character set."""
    return codecs.BOM_UTF8 + decode(body, declared=charset).text.encode("utf-8", "replace") if charset else body
