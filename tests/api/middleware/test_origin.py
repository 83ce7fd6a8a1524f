"""A foreign name in Host and a foreign page are refused; programs and our own page are not."""

import httpx2
import pytest
from starlette.responses import PlainTextResponse

from opora.api.middleware.origin import OriginMiddleware


def client(*names: str) -> httpx2.AsyncClient:
    app = OriginMiddleware(PlainTextResponse("in"), names=names)
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost:8642")


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:1", "127.0.0.1:8642", "[::1]:8642", "[::1]", "docs.example.org:8642"]
)
async def test_names_that_are_ours(host: str) -> None:
    async with client("Docs.example.org") as http:
        assert (await http.get("/", headers={"Host": host})).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "evil.example:8642", "0.0.0.0", "",
     "localhost@evil.example", "evil.example/localhost", "[::2]", "localhost:port", "10.0.0.5"],
)  # fmt: skip
async def test_names_that_are_not(host: str) -> None:
    async with client("0.0.0.0") as http:
        for method in ("GET", "POST"):
            response = await http.request(method, "/", headers={"Host": host})
            assert response.status_code == 421
            assert response.json()["success"] is False
            assert "OPORA_ALLOWED_HOSTS" in response.json()["error"]["hint"]


@pytest.mark.parametrize(
    "origin",
    ["http://evil.example", "null", "http://localhost:3000", "http://127.0.0.1:8642", "https://localhost:8642.evil",
     "http://localhost", "file://", "", "http://localhost:8642:1"],
)  # fmt: skip
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
async def test_a_page_of_another_origin_can_not_send(origin: str, method: str) -> None:
    async with client() as http:
        response = await http.request(method, "/", headers={"Origin": origin, "Host": "localhost:8642"})
        assert response.status_code == 403
        assert response.json()["error"]["code"] == 1002


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("localhost:8642", "http://localhost:8642"),
        ("[::1]:8642", "http://[::1]:8642"),
        ("docs.example.org", "https://docs.example.org"),
        ("docs.example.org", "http://docs.example.org:80"),
    ],
)
async def test_our_own_page_can_send(host: str, origin: str) -> None:
    async with client("docs.example.org") as http:
        assert (await http.post("/", headers={"Host": host, "Origin": origin})).status_code == 200


@pytest.mark.parametrize(
    ("site", "status"), [("cross-site", 403), ("same-site", 403), ("same-origin", 200), ("none", 200)]
)
async def test_browsers_that_send_no_origin_say_where_they_come_from(site: str, status: int) -> None:
    async with client() as http:
        assert (await http.post("/", headers={"Sec-Fetch-Site": site})).status_code == status


async def test_programs_send_no_origin() -> None:
    async with client() as http:
        assert (await http.post("/")).status_code == 200
