"""Without the configured key nothing under the prefix is told; with it, by either header, everything is."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from opora.api.envelope import ok
from opora.bootstrap import App
from opora.settings import Settings

from .conftest import application, client_of

KEY = "sk-secret"


@pytest.fixture
async def guarded(tmp_path: Path) -> AsyncIterator[App]:
    settings = Settings(
        data=tmp_path, embedding="none", api_key=KEY, host="0.0.0.0", allowed_hosts=("docs.example.org",)
    )
    opened = await App.open(settings)
    yield opened
    await opened.close()


async def test_every_route_under_the_prefix_wants_the_key(guarded: App) -> None:
    async with client_of(guarded) as http:
        walked = 0
        for path, item in application(guarded).openapi()["paths"].items():
            for method in item:
                if not path.startswith("/api/"):
                    continue
                walked += 1
                for headers in ({}, {"X-API-Key": "sk-wrong"}, {"Authorization": "Bearer sk-wrong"}):
                    response = await http.request(method, path, headers=headers)
                    assert response.status_code == 401, (method, path)
                    assert response.json()["error"]["code"] == 1001
                    assert response.headers["www-authenticate"] == "Bearer"
    assert walked > 25


@pytest.mark.parametrize("headers", [{"X-API-Key": KEY}, {"Authorization": f"Bearer {KEY}"}])
async def test_with_the_key(guarded: App, headers: dict[str, str]) -> None:
    async with client_of(guarded, headers=headers) as http:
        assert (await http.get("/api/v1/knowledge-bases")).status_code == 200


async def test_health_and_page_need_no_key_and_tell_no_secret(guarded: App) -> None:
    async with client_of(guarded) as http:
        for path in ("/healthz", "/readyz", "/docs", "/openapi.json"):
            response = await http.get(path)
            assert response.status_code == 200, path
            assert KEY not in response.text
            assert str(guarded.settings.data) not in response.text


async def test_hosts_are_those_that_are_configured(guarded: App) -> None:
    async with client_of(guarded) as http:
        assert (await http.get("/healthz", headers={"Host": "docs.example.org:8642"})).status_code == 200
        assert (await http.get("/healthz", headers={"Host": "evil.example"})).status_code == 421


async def test_a_foreign_page_can_not_post_though_no_key_is_needed(http: httpx2.AsyncClient) -> None:
    response = await http.post("/api/v1/knowledge-bases", json={"name": "a"}, headers={"Origin": "http://evil.example"})
    assert response.status_code == 403
    form = await http.post(
        "/api/v1/sessions", content=b"{}", headers={"Content-Type": "text/plain", "Sec-Fetch-Site": "cross-site"}
    )
    assert form.status_code == 403
    assert (await http.get("/api/v1/knowledge-bases")).json()["total"] == 0


async def test_refusals_have_an_id_and_the_headers_too(http: httpx2.AsyncClient) -> None:
    response = await http.get("/", headers={"Host": "evil.example", "X-Request-ID": "r-1"})
    assert response.headers["X-Request-ID"] == "r-1"
    assert response.headers["X-Content-Type-Options"] == "nosniff"


async def test_a_long_body_is_refused(http: httpx2.AsyncClient) -> None:
    response = await http.post("/api/v1/knowledge-bases", json={"name": "x" * 2_000_000})
    assert response.status_code == 413


async def test_what_nobody_expected(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*args: object, **kwargs: object) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr(app.bases, "browse", fail)
    async with client_of(app) as http:
        response = await http.get("/api/v1/knowledge-bases")
    assert (response.status_code, response.json()["error"]["code"]) == (500, 1007)
    assert "secret" not in response.text
    assert "X-Request-ID" in response.headers


async def test_models_info_and_readiness(http: httpx2.AsyncClient) -> None:
    assert {model["type"] for model in (await http.get("/api/v1/models")).json()["data"]} == {"chat"}
    info = (await http.get("/api/v1/system/info")).json()["data"]
    assert info["ready"] is True
    assert info["version"]
    assert all({"name", "ok", "detail", "hint"} <= set(check) for check in info["checks"])
    ready = (await http.get("/readyz")).json()
    assert ready["ready"] is True
    assert all(set(check) == {"name", "ok"} for check in ready["checks"])


async def test_not_ready_is_said_by_the_status(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    async def ready() -> dict[str, object]:
        return {"ready": False, "checks": [{"name": "database", "ok": False, "detail": "/secret", "hint": ""}]}

    monkeypatch.setattr(app, "ready", ready)
    async with client_of(app) as http:
        response = await http.get("/readyz")
        assert (response.status_code, response.json()["ready"]) == (503, False)
        assert "secret" not in response.text
        assert (await http.get("/healthz")).status_code == 200


async def test_a_data_folder_that_takes_no_writes_is_not_ready(app: App, http: httpx2.AsyncClient) -> None:
    assert (await http.get("/readyz")).status_code == 200
    app.settings = app.settings.model_copy(update={"data": app.settings.data / "gone"})
    response = await http.get("/readyz")
    assert response.status_code == 503
    assert {"name": "writes", "ok": False} in response.json()["checks"]
    assert "gone" not in response.text


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_an_answer_is_json_or_nothing(value: float) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        ok({"score": value})
