"""Search over one's own messages, over HTTP."""

from __future__ import annotations

import httpx2
import pytest

from opora.bootstrap import App
from opora.domain.scope import LOCAL_PRINCIPAL

from .conftest import COLLEAGUE, QUESTION, add_text, scope_of

PATH = "/api/v1/messages/search"


async def asked(app: App, principal=LOCAL_PRINCIPAL) -> str:
    scope = await app.access.bases(principal)
    session = await app.sessions.create(scope, title="Дорога")
    taken = await app.chat.ask(scope, session.session_id, QUESTION)
    async for _ in app.chat.follow(scope, session.session_id, taken.assistant_message_id):
        pass
    return session.session_id


async def test_a_round_is_found_with_its_place(app: App, http: httpx2.AsyncClient) -> None:
    await add_text(app, LOCAL_PRINCIPAL)
    session_id = await asked(app)
    response = await http.post(PATH, json={"query": "командировки"})
    (found,) = response.json()["data"]
    assert (found["session_id"], found["session_title"]) == (session_id, "Дорога")
    assert found["question"]["content"] == QUESTION
    assert "командировки" in found["answer"]["content"]
    assert found["score"] > 0
    for mode in ("vector", "hybrid"):
        assert (await http.post(PATH, json={"query": "проезд", "mode": mode})).status_code == 503


async def test_a_colleagues_session_holds_nothing_for_me(app: App, http: httpx2.AsyncClient) -> None:
    await add_text(app, LOCAL_PRINCIPAL)
    theirs = await asked(app, COLLEAGUE)
    response = await http.post(PATH, json={"query": "проезд", "session_ids": [theirs]})
    assert response.json()["data"] == []
    everything = await app.access.bases(COLLEAGUE)
    assert (await app.history.search(scope_of(COLLEAGUE), "проезд")).rounds
    assert everything.tenant_id == LOCAL_PRINCIPAL.tenant_id


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "query"),
        ({"query": " "}, "query"),
        ({"query": "a", "limit": 51}, "limit"),
        ({"query": "a", "mode": "x"}, "mode"),
    ],
)
async def test_searches_that_are_refused(http: httpx2.AsyncClient, body: dict[str, object], field: str) -> None:
    response = await http.post(PATH, json=body)
    assert (response.status_code, response.json()["error"]["details"]["field"]) == (422, field)
