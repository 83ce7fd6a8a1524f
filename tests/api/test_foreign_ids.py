"""Every route of the OpenAPI document answers an id of another tenant exactly as one that is not there."""

import re
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import httpx2
import pytest

from opora.bootstrap import App
from opora.chat.pictures import read_pictures
from opora.domain.faq_import import ImportMode
from opora.domain.knowledge import BaseType
from opora.domain.models import ModelKind
from opora.domain.scope import LOCAL_PRINCIPAL, Principal
from opora.domain.stream import TERMINAL
from opora.ingest.faq_file import listed_rows
from opora.ingest.faq_rows import draft_of

from .conftest import COLLEAGUE, QUESTION, STRANGER, add_text, application, client_of, scope_of

PICTURE = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGM4IScHAAK2AQU0pnWqAAAAAElFTkSuQmCC"
)
ABSENT = "00000000000000000000000000"
BODIES: dict[tuple[str, str], dict[str, Any]] = {
    ("put", "/api/v1/knowledge-bases/{base_id}"): {"json": {"name": "Чужое"}},
    ("post", "/api/v1/knowledge-bases/{base_id}/knowledge/file"): {"files": {"file": ("a.txt", b"text")}},
    ("post", "/api/v1/knowledge-bases/{base_id}/knowledge/manual"): {"json": {"title": "t", "content": "c"}},
    ("post", "/api/v1/knowledge-bases/{base_id}/knowledge/url"): {"json": {"url": "http://127.0.0.1:1/a"}},
    ("put", "/api/v1/knowledge/{document_id}/file"): {"files": {"file": ("a.txt", b"text")}},
    ("put", "/api/v1/chunks/{document_id}/{chunk_id}"): {"json": {"is_enabled": False}},
    ("put", "/api/v1/tenants/{tenant_id}/retrieval-config"): {"json": {"settings": {}}},
    ("post", "/api/v1/tenants/{tenant_id}/retrieval-config/preview"): {"json": {"settings": {}, "query": "q"}},
    ("put", "/api/v1/tenants/{tenant_id}/prompt-templates/{template_id}"): {"json": {"text": "Чужое"}},
    ("post", "/api/v1/tenants/{tenant_id}/prompt-templates/{template_id}/preview"): {"json": {"text": "Чужое"}},
    ("put", "/api/v1/agents/{agent_id}"): {"json": {"name": "Чужое"}},
    ("post", "/api/v1/knowledge-bases/{base_id}/tags"): {"json": {"name": "Ещё"}},
    ("put", "/api/v1/knowledge-bases/{base_id}/tags/{tag_id}"): {"json": {"name": "Иначе"}},
    ("put", "/api/v1/knowledge/{document_id}"): {"json": {"description": "Чужое"}},
    ("post", "/api/v1/chunks/{document_id}"): {"json": {"content": "Чужое"}},
    ("put", "/api/v1/chunks/{document_id}/batch"): {"json": {"ids": ["{chunk_id}"], "is_enabled": False}},
    ("post", "/api/v1/chunks/{document_id}/batch-delete"): {"json": {"ids": ["{chunk_id}"]}},
    ("post", "/api/v1/chunks/{document_id}/{chunk_id}/revert"): {"json": {"revision": 0}},
    ("post", "/api/v1/knowledge-bases/{base_id}/hybrid-search"): {"json": {"query_text": "q"}},
    ("put", "/api/v1/sessions/{session_id}"): {"json": {"title": "Чужое"}},
    ("post", "/api/v1/sessions/{session_id}/stop"): {"json": {"message_id": "{message_id}"}},
    ("post", "/api/v1/knowledge-chat/{session_id}"): {"json": {"query": "q"}},
    ("post", "/api/v1/agent-chat/{session_id}"): {"json": {"query": "q"}},
    ("put", "/api/v1/memory/items/{item_id}"): {"json": {"content": "Чужое"}},
    ("post", "/api/v1/sessions/{session_id}/rewind"): {"json": {"message_id": "{message_id}"}},
    ("post", "/api/v1/sessions/{session_id}/fork"): {"json": {"message_id": "{message_id}"}},
    ("post", "/api/v1/messages/{message_id}/feedback"): {"json": {"thumb": "up"}},
    ("post", "/api/v1/knowledge-bases/{base_id}/faq/entry"): {"json": {"standard_question": "q", "answers": ["a"]}},
    ("put", "/api/v1/knowledge-bases/{base_id}/faq/entry/{entry_id}"): {"json": {"answers": ["a"]}},
    ("post", "/api/v1/knowledge-bases/{base_id}/faq/entries"): {"json": {"entries": [{}], "dry_run": True}},
    ("delete", "/api/v1/knowledge-bases/{base_id}/faq/entries"): {"json": {"ids": ["{entry_id}"]}},
    ("put", "/api/v1/knowledge-bases/{base_id}/faq/entries/fields"): {"json": {"ids": ["{entry_id}"]}},
    ("put", "/api/v1/knowledge-bases/{base_id}/faq/entries/tags"): {"json": {"ids": ["{entry_id}"], "tag_ids": []}},
    ("post", "/api/v1/knowledge-bases/{base_id}/faq/search"): {"json": {"query_text": "q"}},
    ("put", "/api/v1/models/{model_id}"): {"json": {"name": "Чужое"}},
    ("put", "/api/v1/models/{model_id}/key"): {"json": {"key": "sk-1"}},
}
"""A valid body for each route that wants one. A route that is missing here answers 422 and fails the test."""


@pytest.fixture
async def theirs(app: App) -> dict[str, str]:
    return await everything_of(app, STRANGER)


@pytest.fixture
async def http(app: App) -> AsyncIterator[httpx2.AsyncClient]:
    async with client_of(app) as client:
        yield client


async def everything_of(app: App, principal: Principal) -> dict[str, str]:
    """One of everything, belonging to somebody."""
    base_id, document_id = await add_text(app, principal)
    scope = await app.access.document(principal, document_id)
    from opora.ports import Page

    (chunk, *_) = (await app.chunks.browse(scope, document_id, Page())).items
    session = await app.sessions.create(scope_of(principal), title="Секрет")
    item = await app.memory.add(scope_of(principal), "Секрет")
    faq = await app.bases.create(scope_of(principal), name="Секрет", base_type=BaseType.FAQ)
    faq_scope = scope_of(principal, faq.base_id)
    draft = draft_of({"standard_question": "Секрет", "answers": "Секрет"})
    record = await app.faq.create(faq_scope, faq.base_id, draft)
    task = await app.faq_imports.start(faq_scope, faq.base_id, listed_rows([{}]), mode=ImportMode.APPEND)
    admin = scope_of(replace(principal, is_admin=True))
    entry = await app.registry.add(
        admin, kind=ModelKind.CHAT, provider="openai", name="Секрет", model="m", base_url="http://127.0.0.1:1/v1"
    )
    pictures = read_pictures([PICTURE])
    image_id = pictures[0].image_id
    asked = await app.chat.ask(scope, session.session_id, QUESTION, pictures=pictures)
    async for _, event in app.chat.follow(scope, session.session_id, asked.assistant_message_id):
        if event.response_type is TERMINAL:
            break
    return {
        "base_id": base_id,
        "document_id": document_id,
        "chunk_id": chunk.chunk_id,
        "session_id": session.session_id,
        "message_id": asked.assistant_message_id,
        "question_id": asked.user_message_id,
        "item_id": item.item_id,
        "agent_id": (await app.agents.create(admin, name="Секрет")).agent_id,
        "tenant_id": principal.tenant_id,
        "template_id": "grounded",
        "tag_id": (await app.tags.create(scope_of(principal, base_id), base_id, name="Секрет")).tag_id,
        "image_id": image_id,
        "model_id": entry.model_id,
        "faq_base_id": faq.base_id,
        "entry_id": record.entry_id,
        "task_id": task.task_id,
        "copy_id": (await app.copies.start(scope_of(principal, base_id), base_id, name="Секрет, копия")).task_id,
        "page": "1",
        "model": f"opora:{base_id}",
    }


def operations(app: App) -> list[tuple[str, str]]:
    paths = application(app).openapi()["paths"]
    return [(method, path) for path, item in paths.items() for method in item if "{" in path]


def filled(value: Any, ids: dict[str, str]) -> Any:
    if isinstance(value, str):
        return re.sub(r"\{(\w+)\}", lambda match: ids[match[1]], value)
    if isinstance(value, dict):
        return {key: filled(item, ids) for key, item in value.items()}
    if isinstance(value, list):
        return [filled(item, ids) for item in value]
    return value


async def call(http: httpx2.AsyncClient, method: str, path: str, ids: dict[str, str]) -> httpx2.Response:
    if "/faq/" in path:
        ids = {**ids, "base_id": ids["faq_base_id"]}
    if "{image_id}" in path:
        ids = ids | {"message_id": ids["question_id"]}
    options = filled(BODIES.get((method, path), {}), ids)
    if "continue-stream" in path:
        options["params"] = {"message_id": ids["message_id"]}
    return await http.request(method, filled(path, ids), **options)


async def test_every_route_with_the_ids_of_another_tenant(
    app: App, http: httpx2.AsyncClient, theirs: dict[str, str]
) -> None:
    absent = dict.fromkeys(theirs, ABSENT) | {"page": "1"}
    walked = operations(app)
    assert len(walked) > 20
    for method, path in walked:
        foreign = await call(http, method, path, theirs)
        missing = await call(http, method, path, absent)
        assert (foreign.status_code, foreign.content) == (missing.status_code, missing.content), (method, path)
        assert foreign.status_code == 404, (method, path, foreign.text)
        assert "Секрет" not in foreign.text
        assert {name: foreign.headers[name] for name in ("content-type", "content-length")} == {
            name: missing.headers[name] for name in ("content-type", "content-length")
        }


async def test_nothing_of_theirs_was_changed(app: App, http: httpx2.AsyncClient, theirs: dict[str, str]) -> None:
    for method, path in operations(app):
        await call(http, method, path, theirs)
    scope = await app.access.document(STRANGER, theirs["document_id"])
    assert (await app.documents.get(scope, theirs["document_id"])).title == "Проезд"
    session = await app.sessions.get(scope_of(STRANGER), theirs["session_id"])
    assert (session.title, session.is_pinned) == ("Секрет", False)
    assert (await app.chunks.get(scope, theirs["chunk_id"])).enabled


_APART = ("/pages/{page}", "/regenerate", "/batch-delete", "/knowledge/url")


async def test_the_walk_reaches_what_is_ones_own(app: App, http: httpx2.AsyncClient) -> None:
    """The walk would prove nothing if its calls were refused for another reason."""
    mine = await everything_of(app, LOCAL_PRINCIPAL)
    for method, path in operations(app):
        # These take away what others need; tests of their own call them.
        if method == "delete" or path.endswith(_APART):
            continue
        response = await call(http, method, path, mine)
        assert response.status_code in (200, 201, 202, 409), (method, path, response.text)


async def test_a_session_of_a_colleague_is_not_found_either(app: App, http: httpx2.AsyncClient) -> None:
    theirs = await everything_of(app, COLLEAGUE)
    for method, path in operations(app):
        if any(name in path for name in ("session_id", "message_id", "item_id")):
            response = await call(http, method, path, theirs)
            assert response.status_code == 404, (method, path, response.text)


async def test_a_message_of_another_session_of_ones_own(app: App, http: httpx2.AsyncClient) -> None:
    mine = await everything_of(app, LOCAL_PRINCIPAL)
    other = await app.sessions.create(scope_of(LOCAL_PRINCIPAL))
    ids = mine | {"session_id": other.session_id}
    for method, path in (
        ("get", "/api/v1/sessions/continue-stream/{session_id}"),
        ("post", "/api/v1/sessions/{session_id}/stop"),
    ):
        response = await call(http, method, path, ids)
        assert response.status_code == 404, (path, response.text)


@pytest.mark.parametrize("body", [{"knowledge_base_ids": ["{base_id}"]}, {"knowledge_base_ids": [ABSENT]}])
async def test_search_and_chat_over_a_base_of_another_tenant(
    app: App, http: httpx2.AsyncClient, theirs: dict[str, str], body: dict[str, Any]
) -> None:
    session = await app.sessions.create(scope_of(LOCAL_PRINCIPAL))
    for path in ("/api/v1/knowledge-search", f"/api/v1/knowledge-chat/{session.session_id}"):
        response = await http.post(path, json={"query": QUESTION, **filled_list(body, theirs)})
        assert response.status_code == 404
        assert "проезд" not in response.text


async def test_search_by_a_document_of_another_tenant_finds_nothing_of_it(
    app: App, http: httpx2.AsyncClient, theirs: dict[str, str]
) -> None:
    await add_text(app, LOCAL_PRINCIPAL, "Совсем другое про проезд.")
    body = {"query": QUESTION, "knowledge_ids": [theirs["document_id"]]}
    response = await http.post("/api/v1/knowledge-search", json=body)
    assert response.status_code in (200, 404)
    assert response.json().get("data", []) == []


async def test_search_over_everything_stays_in_the_tenant(http: httpx2.AsyncClient, theirs: dict[str, str]) -> None:
    response = await http.post("/api/v1/knowledge-search", json={"query": QUESTION})
    assert response.json()["data"] == []


def filled_list(body: dict[str, Any], ids: dict[str, str]) -> dict[str, Any]:
    return {key: [filled(one, ids) for one in value] for key, value in body.items()}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("post", "/knowledge/batch-delete", {"ids": ["{document_id}"]}),
        ("post", "/knowledge/batch-reparse", {"ids": ["{document_id}"]}),
        ("post", "/knowledge/move", {"knowledge_ids": ["{document_id}"], "folder": "x"}),
        ("post", "/knowledge/move", {"knowledge_ids": ["{document_id}"], "knowledge_base_id": "{base_id}"}),
        ("post", "/knowledge/copy", {"knowledge_ids": ["{document_id}"], "knowledge_base_id": "{base_id}"}),
    ],
)
async def test_several_documents_of_another_tenant(
    app: App, http: httpx2.AsyncClient, theirs: dict[str, str], method: str, path: str, body: dict[str, Any]
) -> None:
    absent = dict.fromkeys(theirs, ABSENT)
    foreign, missing = [
        await http.request(method, f"/api/v1{path}", json=filled(body, ids)) for ids in (theirs, absent)
    ]
    assert (foreign.status_code, foreign.content) == (404, missing.content)
    scope = await app.access.document(STRANGER, theirs["document_id"])
    kept = await app.documents.get(scope, theirs["document_id"])
    assert (kept.base_id, kept.folder, kept.version) == (theirs["base_id"], "", 1)


async def test_ones_own_document_does_not_go_to_a_base_of_another_tenant(
    app: App, http: httpx2.AsyncClient, theirs: dict[str, str]
) -> None:
    _, mine = await add_text(app, LOCAL_PRINCIPAL, "Моё.")
    for path in ("move", "copy"):
        body = {"knowledge_ids": [mine], "knowledge_base_id": theirs["base_id"]}
        assert (await http.post(f"/api/v1/knowledge/{path}", json=body)).status_code == 404
    assert (await http.get("/api/v1/knowledge/batch", params={"ids": [theirs["document_id"]]})).status_code == 404
