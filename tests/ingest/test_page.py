"""Pages of the web, from a real server on loopback, through the guarded client and a guarded child."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from tests.servers.loopback import on_loopback

from opora.domain.errors import InvalidInput, OporaError, TooLarge, Unavailable
from opora.ingest.page import MAX_PAGE_BYTES, WebPageReader
from opora.ingest.worker import ChildParser
from opora.net.addresses import AddressPolicy
from opora.net.client import GuardedClient

PAGE = (
    "<html><head><title>Т</title><script>evil()</script></head><body><nav>Меню сайта</nav>"
    "<main><h1>Проезд</h1><p>Проезд возмещают после возвращения.</p></main></body></html>"
)


async def answer(request: Request) -> Response:
    path = request.url.path
    if path == "/moved":
        return RedirectResponse("/page")
    if path == "/typeless":
        return Response(PAGE.encode())
    if path == "/cp1251":
        return Response(PAGE.encode("cp1251"), headers={"content-type": "text/html; charset=windows-1251"})
    kind = {"/picture": "image/png", "/plain": "text/plain"}.get(path, "text/html")
    content = "Просто слова." if path == "/plain" else "x" * (MAX_PAGE_BYTES + 1) if path == "/large" else PAGE
    return Response(content.encode(), status_code=404 if path == "/absent" else 200, headers={"content-type": kind})


@pytest.fixture
async def site() -> AsyncIterator[str]:
    async with on_loopback([Route("/{path:path}", answer)]) as url:
        yield url


@pytest.fixture
async def parser() -> AsyncIterator[ChildParser]:
    made = ChildParser(children=1)
    yield made
    await made.close()


@pytest.fixture
async def reader(parser: ChildParser) -> AsyncIterator[WebPageReader]:
    client = GuardedClient(AddressPolicy(allowed_hosts=frozenset({"127.0.0.1"})))
    yield WebPageReader(client, parser)
    await client.close()


@pytest.mark.parametrize("path", ["/page", "/moved", "/cp1251"])
async def test_the_main_text_of_a_page(reader: WebPageReader, site: str, path: str) -> None:
    text = await reader.read(site + path)
    assert "Проезд возмещают после возвращения." in text
    assert "Меню" not in text
    assert "evil" not in text


async def test_plain_text_is_read_as_it_is(reader: WebPageReader, site: str) -> None:
    assert await reader.read(f"{site}/plain") == "Просто слова."


@pytest.mark.parametrize(
    ("path", "error", "words"),
    [
        ("/absent", Unavailable, "404"),
        ("/picture", InvalidInput, "image/png"),
        ("/typeless", InvalidInput, "missing"),
        ("/large", TooLarge, "larger"),
    ],
)
async def test_what_is_no_page(
    reader: WebPageReader, site: str, path: str, error: type[OporaError], words: str
) -> None:
    """Status and type are looked at before any text is taken."""
    with pytest.raises(error, match=words):
        await reader.read(site + path)


async def test_addresses_inside_the_network_are_refused(parser: ChildParser, site: str) -> None:
    client = GuardedClient()
    with pytest.raises(InvalidInput, match="inner network"):
        await WebPageReader(client, parser).read(f"{site}/page")
    with pytest.raises(InvalidInput):
        await WebPageReader(client, parser).read("file:///etc/hostname")
    await client.close()
