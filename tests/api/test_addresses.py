"""Documents of the web: a real server is asked through the guarded client, and no error page gets in."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest

from opora.bootstrap import App
from opora.domain.scope import LOCAL_PRINCIPAL
from opora.settings import Settings

from .conftest import client_of, scope_of

PAGE = b"<html><head><title>Rules</title></head><body><h1>Rules</h1><p>Travel is paid back.</p></body></html>"


@dataclass
class Site:
    """Answers by path with (status, headers, body)."""

    pages: dict[str, tuple[int, dict[str, str], bytes]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    address: str = ""

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        path = head.split(" ", 2)[1]
        self.asked.append(path)
        status, headers, body = self.pages.get(path, (404, {"content-type": "text/html"}, b"<h1>Not here</h1>"))
        lines = [f"HTTP/1.1 {status} X", f"content-length: {len(body)}", "connection: close"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        await writer.drain()
        writer.close()


@asynccontextmanager
async def serving_site() -> AsyncIterator[Site]:
    site = Site()
    server = await asyncio.start_server(site.answer, "127.0.0.1", 0)
    site.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        yield site


class Web:
    def __init__(self, app: App, http: httpx2.AsyncClient, site: Site, base_id: str) -> None:
        self.app, self.http, self.site = app, http, site
        self.base = f"/api/v1/knowledge-bases/{base_id}/knowledge"

    def page(self, path: str, body: bytes = PAGE, status: int = 200, **headers: str) -> None:
        given = {"content-type": "text/html; charset=utf-8"} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        self.site.pages[path] = (status, given, body)

    async def add(self, path: str, **body: Any) -> httpx2.Response:
        response = await self.http.post(f"{self.base}/url", json={"url": self.site.address + path, **body})
        await self.app.jobs.idle()
        return response

    async def see(self, document_id: str) -> dict[str, Any]:
        found: dict[str, Any] = (await self.http.get(f"/api/v1/knowledge/{document_id}")).json()["data"]
        return found

    async def count(self) -> int:
        return int((await self.http.get(self.base)).json()["total"])


@pytest.fixture
async def web(tmp_path: Path) -> AsyncIterator[Web]:
    async with serving_site() as site:
        settings = Settings(data=tmp_path, embedding="none", upload_limit=200_000, fetch_hosts=("127.0.0.1",))
        app = await App.open(settings)
        base = await app.bases.create(scope_of(LOCAL_PRINCIPAL), name="Сеть")
        async with client_of(app) as http:
            yield Web(app, http, site, base.base_id)
        await app.close()


async def test_a_page_is_taken_in_and_its_source_is_its_address(web: Web) -> None:
    web.page("/rules?a=1")
    made = await web.add("/rules?a=1#part", folder="web")
    assert made.status_code == 201, made.text
    document = await web.see(made.json()["data"]["id"])
    assert document["source"] == web.site.address + "/rules?a=1"
    assert (document["origin"], document["file_type"], document["parse_status"], document["folder"]) == (
        *("url", "html", "completed", "web"),
    )
    assert document["title"] == "Rules"


async def test_read_again_it_is_fetched_again_and_an_error_leaves_it_as_it_is(web: Web) -> None:
    web.page("/rules")
    document_id = (await web.add("/rules")).json()["data"]["id"]
    web.page("/rules", PAGE.replace(b"paid back", b"paid ahead"))
    again = f"/api/v1/knowledge/{document_id}/reparse"
    assert (await web.http.post(again)).json()["data"]["version"] == 2
    await web.app.jobs.idle()
    assert "paid ahead" in (await web.http.get(f"/api/v1/knowledge/{document_id}/text")).text
    web.page("/rules", b"<h1>Oops</h1>", 500)
    refused = await web.http.post(again)
    assert (refused.status_code, refused.json()["error"]["details"]["reason"]) == (422, "unreachable")
    assert (await web.see(document_id))["parse_status"] == "completed"
    rows = (await web.http.post("/api/v1/knowledge/batch-reparse", json={"ids": [document_id]})).json()["data"]
    assert "500" in rows[0]["error"]
    assert "paid ahead" in (await web.http.get(f"/api/v1/knowledge/{document_id}/text")).text


async def test_the_same_address_again_is_the_same_document(web: Web) -> None:
    web.page("/rules")
    first = (await web.add("/rules")).json()["data"]["id"]
    web.page("/rules", PAGE.replace(b"paid", b"given"))
    second = (await web.add("/rules")).json()["data"]
    assert (second["id"], second["version"], await web.count()) == (first, 2, 1)


@pytest.mark.parametrize(
    ("path", "status", "headers"),
    [
        ("/absent", 404, {}),
        ("/broken", 500, {}),
        ("/empty", 204, {}),
        ("/login.pdf", 200, {}),
        ("/film", 200, {"content_type": "video/mp4"}),
    ],
)
async def test_no_error_page_is_ever_taken_in(web: Web, path: str, status: int, headers: dict[str, str]) -> None:
    web.page(path, b"" if status == 204 else PAGE, status, **headers)
    refused = await web.add(path)
    assert (refused.status_code, refused.json()["error"]["details"]["reason"]) == (422, "unreachable")
    assert await web.count() == 0


async def test_a_redirect_is_followed_and_names_come_from_the_server(web: Web) -> None:
    web.page("/moved", b"", 302, location="/files/real?x=1")
    web.page(
        "/files/real?x=1",
        b"Travel is paid back.",
        content_type="text/plain",
        content_disposition="attachment; filename*=UTF-8''%D0%BF%D1%80%D0%BE%D0%B5%D0%B7%D0%B4.txt",
    )
    document = (await web.add("/moved")).json()["data"]
    assert (document["file_name"], document["source"]) == ("проезд.txt", web.site.address + "/moved")


async def test_what_is_too_large_is_refused(web: Web) -> None:
    web.page("/large", b"x" * 300_000, content_type="text/plain")
    assert (await web.add("/large")).status_code == 413


@pytest.mark.parametrize("url", ["ftp://a/b", "file:///etc/passwd", "nothing", "http://", "http://me:pw@host/x"])
async def test_other_addresses_are_refused(web: Web, url: str) -> None:
    response = await web.http.post(f"{web.base}/url", json={"url": url})
    assert (response.status_code, response.json()["error"]["details"]["field"]) == (422, "url")


async def test_an_inner_address_that_nobody_allowed_is_never_asked(app: App, http: httpx2.AsyncClient) -> None:
    base = await app.bases.create(scope_of(LOCAL_PRINCIPAL), name="Сеть")
    async with serving_site() as site:
        path = f"/api/v1/knowledge-bases/{base.base_id}/knowledge/url"
        response = await http.post(path, json={"url": f"{site.address}/rules"})
        assert response.json()["error"]["details"]["reason"] == "address_refused"
        assert "OPORA_FETCH_HOSTS" in response.json()["error"]["hint"]
        assert site.asked == []
