"""The page and the description of the API come from the package, load nothing from elsewhere and run nothing inline."""

import re

import httpx2

from opora.api.docs import render
from opora.bootstrap import App

from .conftest import application


async def test_the_page_and_its_files(http: httpx2.AsyncClient) -> None:
    page = await http.get("/")
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    assert page.headers["cache-control"] == "no-cache"
    loaded = re.findall(r'(?:src|href)="([^"#]+)"', page.text)
    assert any(address.endswith(".js") for address in loaded)
    for address in loaded:
        assert not re.match(r"(?:https?:)?//", address)
        assert (await http.get("/" + address.lstrip("/."))).status_code == 200, address
    assert not re.search(r"<script(?![^>]*\ssrc=)|<style|\son\w+=|\sstyle=", page.text)


async def test_files_of_the_page_stay_in_their_folder(http: httpx2.AsyncClient) -> None:
    for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static/nothing.js"):
        assert (await http.get(path)).status_code == 404, path


async def test_the_description_names_every_route(app: App, http: httpx2.AsyncClient) -> None:
    page = await http.get("/docs")
    assert page.status_code == 200
    for path in application(app).openapi()["paths"]:
        assert path in page.text
    assert not re.search(r"<script|<style|\sstyle=|https?://", page.text)
    assert (await http.get("/docs.css")).headers["content-type"].startswith("text/css")
    assert (await http.get("/openapi.json")).json()["info"]["title"] == "Opora"


def test_what_is_described_is_data() -> None:
    operation = {"tags": ["<b>"], "summary": "<script>", "description": "<i>", "parameters": []}
    page = render({"info": {"title": "<t>", "version": "1"}, "paths": {"/<x>": {"get": operation}}})
    assert not re.search(r"<(b|script|i|t|x)>", page)


async def test_every_operation_has_a_summary_and_a_group(app: App) -> None:
    for path, item in application(app).openapi()["paths"].items():
        for method, operation in item.items():
            assert operation["summary"], (method, path)
            assert operation["tags"], (method, path)
