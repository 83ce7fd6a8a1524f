"""Pictures over HTTP: they come with a question and are given back to whom they belong."""

from __future__ import annotations

import base64
import io

import httpx2
import pytest
from PIL import Image

from opora.bootstrap import App
from opora.domain.scope import LOCAL_PRINCIPAL

from .conftest import add_text
from .test_foreign_ids import PICTURE

DATA = base64.b64decode(PICTURE.partition(",")[2])


async def asked(http: httpx2.AsyncClient, app: App, **body: object) -> httpx2.Response:
    await add_text(app, LOCAL_PRINCIPAL)
    session = (await http.post("/api/v1/sessions", json={})).json()["data"]["id"]
    return await http.post(f"/api/v1/knowledge-chat/{session}", json=body)


@pytest.mark.parametrize("given", [PICTURE, {"url": PICTURE}, {"data": PICTURE}])
async def test_a_picture_comes_with_a_question_and_is_given_back(
    app: App, http: httpx2.AsyncClient, given: object
) -> None:
    response = await asked(http, app, query="Как возмещают проезд?", images=[given])
    assert response.status_code == 200
    session = response.headers["X-Session-ID"]
    (question, answer) = (await http.get(f"/api/v1/messages/{session}/load")).json()["data"]
    (image,) = question["images"]
    assert (image["media_type"], image["size"], image["caption"]) == ("image/png", len(DATA), "")
    assert any("pictures" in warning for warning in answer["warnings"])
    path = f"/api/v1/messages/{question['id']}/images/{image['id']}"
    shown = await http.get(path)
    assert (shown.content, shown.headers["content-type"]) == (DATA, "image/png")
    assert shown.headers["x-content-type-options"] == "nosniff"


async def test_asked_again_the_question_keeps_its_pictures(app: App, http: httpx2.AsyncClient) -> None:
    response = await asked(http, app, query="Как возмещают проезд?", images=[PICTURE])
    session, answer = response.headers["X-Session-ID"], response.headers["X-Message-ID"]
    await http.post(f"/api/v1/messages/{answer}/regenerate", json={})
    (question, _) = (await http.get(f"/api/v1/messages/{session}/load")).json()["data"]
    (image,) = question["images"]
    assert (await http.get(f"/api/v1/messages/{question['id']}/images/{image['id']}")).content == DATA


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"query": "q", "images": ["https://example.org/a.png"]}, "images"),
        ({"query": "q", "images": [{"url": "data:image/png;base64,AAAA"}]}, "images"),
        ({"query": "q", "images": [PICTURE] * 6}, "images"),
        ({"query": " "}, "query"),
        ({}, "query"),
    ],
)
async def test_what_is_no_picture_or_no_question_is_refused_and_named(
    app: App, http: httpx2.AsyncClient, body: dict[str, object], field: str
) -> None:
    response = await asked(http, app, **body)
    assert response.status_code == 422
    assert field in response.text


async def test_a_question_may_be_as_long_as_its_pictures(app: App, http: httpx2.AsyncClient) -> None:
    out = io.BytesIO()
    Image.effect_noise((1400, 1400), 90).save(out, "PNG")
    url = f"data:image/png;base64,{base64.b64encode(out.getvalue()).decode()}"
    assert len(url) > 1024 * 1024
    assert (await asked(http, app, query="Как возмещают проезд?", images=[url])).status_code == 200
