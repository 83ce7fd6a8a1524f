"""Every answer has an id and the headers that keep a browser in; what nobody expected is answered too."""

import logging

import httpx2
import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from opora.api.middleware.failures import FailureMiddleware
from opora.api.middleware.headers import SECURITY_HEADERS, SecurityHeadersMiddleware
from opora.api.middleware.request_id import RequestIdMiddleware


async def broken(scope: Scope, receive: Receive, send: Send) -> None:
    raise RuntimeError("secret path /etc/opora")


def client(app: object) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost")  # type: ignore[arg-type]


async def test_the_clients_id_is_said_again() -> None:
    async with client(RequestIdMiddleware(PlainTextResponse("in"))) as http:
        assert (await http.get("/", headers={"X-Request-ID": "a-1:b.c_d"})).headers["X-Request-ID"] == "a-1:b.c_d"


@pytest.mark.parametrize("given", [None, "", "a b", "x" * 129, "<script>", 'a"b', "é"])
async def test_an_id_is_made_where_none_or_a_strange_one_came(given: str | None) -> None:
    async with client(RequestIdMiddleware(PlainTextResponse("in"))) as http:
        headers = {} if given is None else {"X-Request-ID": given.encode()}
        made = (await http.get("/", headers=headers)).headers["X-Request-ID"]
        assert len(made) == 32
        assert made != (await http.get("/", headers=headers)).headers["X-Request-ID"]


async def test_security_headers() -> None:
    async with client(SecurityHeadersMiddleware(PlainTextResponse("in"))) as http:
        headers = (await http.get("/api/v1/x")).headers
        assert {name: headers[name] for name in SECURITY_HEADERS} == dict(SECURITY_HEADERS)
        assert "default-src 'self'" in headers["Content-Security-Policy"]
        assert "unsafe-inline" not in headers["Content-Security-Policy"]
        assert headers["Cache-Control"] == "no-store"


async def test_a_route_that_sets_a_header_has_its_way() -> None:
    inner = PlainTextResponse("in", headers={"Content-Security-Policy": "sandbox", "Cache-Control": "no-cache"})
    async with client(SecurityHeadersMiddleware(inner)) as http:
        headers = (await http.get("/api/v1/x")).headers
        assert headers.get_list("Content-Security-Policy") == ["sandbox"]
        assert headers["Cache-Control"] == "no-cache"


async def test_what_nobody_expected_is_in_the_log_and_not_in_the_answer(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        async with client(FailureMiddleware(broken)) as http:
            response = await http.get("/x")
    assert response.status_code == 500
    assert response.json()["error"]["code"] == 1007
    assert "secret" not in response.text
    assert "secret path" in caplog.text


async def test_an_answer_that_has_begun_is_broken_off() -> None:
    async def half(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise RuntimeError("half-way")

    async with client(FailureMiddleware(half)) as http:
        with pytest.raises(RuntimeError, match="half-way"):
            await http.get("/x")
