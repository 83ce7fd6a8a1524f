"""A document moves to another base, or is copied there: with its vectors, edits and tags, found once at any moment."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from opora.bootstrap import App
from opora.bootstrap.models import Models
from opora.domain.scope import LOCAL_PRINCIPAL
from opora.models.null import NullEmbedder
from opora.ports import Vectors
from opora.settings import Settings

from .conftest import client_of, scope_of

TEXT = "# Проезд\n\nРасходы на проезд возмещают по документам.\n\n# Суточные\n\nСуточные платят вперёд."


class Counting(NullEmbedder):
    """Remembers what it was given to embed."""

    def __init__(self) -> None:
        super().__init__(8)
        self.passages: list[str] = []

    async def embed_passages(self, texts: Any) -> Vectors:
        self.passages += texts
        return await super().embed_passages(texts)


class Two:
    """Two bases, a document in the first, and short words for asking."""

    def __init__(self, app: App, http: httpx2.AsyncClient, embedder: Counting, bases: list[str]) -> None:
        self.app, self.http, self.embedder = app, http, embedder
        self.here, self.there = bases
        self.document = ""

    async def call(self, method: str, path: str, status: int = 200, **options: Any) -> Any:
        response = await self.http.request(method, f"/api/v1{path}", **options)
        assert response.status_code == status, response.text
        return response.json()["data" if status < 400 else "error"]

    async def write(self, base_id: str, content: str, title: str = "Правила") -> str:
        body = {"title": title, "content": content}
        made = await self.call("POST", f"/knowledge-bases/{base_id}/knowledge/manual", 201, json=body)
        await self.app.jobs.idle()
        return str(made["id"])

    async def found(self, *base_ids: str, mode: str = "hybrid", **body: Any) -> list[str]:
        asked = {"query": "возмещают проезд", "knowledge_base_ids": list(base_ids), "mode": mode, **body}
        results = await self.call("POST", "/knowledge-search", json=asked)
        return sorted(one["id"] for one in results)

    async def move(self, status: int = 202, target: str = "", **body: Any) -> Any:
        given = {"knowledge_ids": [self.document], "knowledge_base_id": target or self.there, **body}
        return await self.call("POST", "/knowledge/move", status, json=given)

    async def rows(self, base_id: str, *, with_vector: bool = False) -> set[str]:
        scope = scope_of(LOCAL_PRINCIPAL, base_id)
        return await self.app._engine.chunk_ids(scope, base_id, with_vector=with_vector)

    async def chunks(self, document_id: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = await self.call("GET", f"/chunks/{document_id}")
        return rows


@pytest.fixture
async def two(tmp_path: Path) -> AsyncIterator[Two]:
    embedder = Counting()
    app = await App.open(Settings(data=tmp_path, embedding="none"), models=Models(embedder=embedder, chat=None))
    bases = [(await app.bases.create(scope_of(LOCAL_PRINCIPAL), name=name)).base_id for name in ("Тут", "Там")]
    async with client_of(app) as http:
        two = Two(app, http, embedder, bases)
        two.document = await two.write(two.here, TEXT)
        yield two
    await app.close()


async def test_a_document_moves_with_its_vectors_and_keeps_its_ids(two: Two) -> None:
    before, ids = list(two.embedder.passages), await two.rows(two.here)
    await two.move()
    await two.app.jobs.idle()
    moved = await two.call("GET", f"/knowledge/{two.document}")
    assert (moved["knowledge_base_id"], moved["parse_status"]) == (two.there, "completed")
    assert moved["embedded_count"] == moved["chunk_count"] > 0
    assert two.embedder.passages == before, "vectors were taken along"
    assert (await two.rows(two.here), await two.rows(two.there, with_vector=True)) == (set(), ids)
    for mode in ("semantic", "fulltext", "hybrid"):
        assert await two.found(two.here, mode=mode) == []
        assert await two.found(two.there, mode=mode)
    steps = await two.call("GET", f"/knowledge/{two.document}/spans")
    assert {"chunks": len(ids), "vectors": len(ids)} in [step["counts"] for step in steps if step["name"] == "move"]


async def test_it_is_found_once_at_every_moment_of_its_way(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = await two.found(two.here, two.there)
    seen: list[list[str]] = []
    engine = two.app._engine

    def looking(name: str) -> None:
        real = getattr(engine, name)

        async def call(*args: Any, **kw: Any) -> Any:
            seen.append(await two.found(two.here, two.there))
            outcome = await real(*args, **kw)
            seen.append(await two.found(two.here, two.there))
            return outcome

        monkeypatch.setattr(engine, name, call)

    for name in ("copy_base", "write", "delete_documents"):
        looking(name)
    await two.move()
    await two.app.jobs.idle()
    assert len(seen) >= 8
    assert seen == [wanted] * len(seen)


async def test_edits_tags_and_states_move_along(two: Two) -> None:
    tag = await two.call("POST", f"/knowledge-bases/{two.here}/tags", 201, json={"name": "Кадры", "color": "red"})
    await two.call("PUT", f"/knowledge/{two.document}", json={"tag_ids": [tag["id"]]})
    chunk = (await two.chunks(two.document))[0]
    path = f"/chunks/{two.document}/{chunk['id']}"
    await two.call("PUT", path, json={"content": "Проезд возмещают сразу."})
    await two.app.jobs.idle()
    await two.move()
    await two.app.jobs.idle()
    (there,) = await two.call("GET", f"/knowledge-bases/{two.there}/tags")
    assert (there["name"], there["color"], there["knowledge_count"]) == ("Кадры", "red", 1)
    assert await two.found(two.there, tag_ids=[there["id"]])
    rows = await two.chunks(two.document)
    assert [row["content"] for row in rows if row["is_edited"]] == ["Проезд возмещают сразу."]
    assert all(row["tag_ids"] == [there["id"]] for row in rows)
    old = await two.call("GET", f"/chunks/by-id/{chunk['id']}")
    assert old["content"] == chunk["content"]
    await two.call("POST", f"/knowledge/{two.document}/reparse")
    await two.app.jobs.idle()
    assert [row["id"] for row in await two.chunks(two.document)] == [row["id"] for row in rows]


async def test_back_and_forth_leaves_nothing_behind(two: Two) -> None:
    ids = await two.rows(two.here)
    for target in (two.there, two.here, two.there, two.here):
        await two.move(target=target)
        await two.app.jobs.idle()
    assert (await two.rows(two.here, with_vector=True), await two.rows(two.there)) == (ids, set())
    assert await two.found(two.here)


async def test_what_the_other_base_has_already_stays(two: Two) -> None:
    other = await two.write(two.there, TEXT)
    error = await two.move(409)
    assert error["details"]["document_id"] == other
    await two.move(202, target=two.here)
    assert (await two.call("GET", f"/knowledge/{two.document}"))["knowledge_base_id"] == two.here


async def test_the_same_bytes_that_come_first_keep_the_document_where_it_is(
    two: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both were free to go when they were asked; one was quicker."""
    real = two.app._engine.copy_base
    scope = scope_of(LOCAL_PRINCIPAL, two.there)

    async def late(*args: Any, **kw: Any) -> None:
        await real(*args, **kw)
        await two.app.documents.add_text(scope, two.there, title="Раньше", content=TEXT)

    monkeypatch.setattr(two.app._engine, "copy_base", late)
    await two.move()
    await two.app.jobs.idle()
    assert (await two.call("GET", f"/knowledge/{two.document}"))["knowledge_base_id"] == two.here
    assert await two.found(two.here)
    steps = await two.call("GET", f"/knowledge/{two.document}/spans")
    assert [step["outcome"] for step in steps if step["name"] == "move"] == ["failed"]


async def test_an_edit_on_the_way_arrives_too(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    chunk = (await two.chunks(two.document))[0]
    real = two.app._engine.copy_base
    done = False

    async def edited(*args: Any, **kw: Any) -> None:
        nonlocal done
        await real(*args, **kw)
        if not done:
            done = True
            path = f"/chunks/{two.document}/{chunk['id']}"
            await two.call("PUT", path, json={"content": "Проезд возмещают на ходу."})

    monkeypatch.setattr(two.app._engine, "copy_base", edited)
    await two.move()
    await two.app.jobs.idle()
    rows = await two.chunks(two.document)
    assert "Проезд возмещают на ходу." in [row["content"] for row in rows]
    assert await two.rows(two.there, with_vector=True) == {row["id"] for row in rows}
    assert await two.rows(two.here) == set()


async def test_a_base_that_goes_meanwhile_takes_nobody_in(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    real = two.app._engine.copy_base

    async def gone(*args: Any, **kw: Any) -> None:
        await real(*args, **kw)
        await two.call("DELETE", f"/knowledge-bases/{two.there}")

    monkeypatch.setattr(two.app._engine, "copy_base", gone)
    await two.move()
    await two.app.jobs.idle()
    assert (await two.call("GET", f"/knowledge/{two.document}"))["knowledge_base_id"] == two.here
    assert await two.found(two.here)
    assert await two.rows(two.there) == set()


async def test_a_base_of_questions_and_a_document_that_is_read_are_refused(two: Two) -> None:
    faq = await two.call("POST", "/knowledge-bases", 201, json={"name": "Вопросы", "type": "faq"})
    await two.move(422, target=faq["id"])
    await two.app.jobs.close()
    await two.call("POST", f"/knowledge/{two.document}/reparse")
    assert (await two.move(409))["details"]["document_id"] == two.document


async def test_other_ways_of_indexing_are_those_of_the_new_base(two: Two) -> None:
    words = await two.call(
        "POST", "/knowledge-bases", 201, json={"name": "Слова", "indexing_strategy": {"vector": False, "keyword": True}}
    )
    await two.move(target=words["id"])
    await two.app.jobs.idle()
    assert await two.rows(words["id"], with_vector=True) == set()
    assert await two.found(words["id"], mode="fulltext")
    await two.move(target=two.there)
    await two.app.jobs.idle()
    assert await two.rows(two.there, with_vector=True) == await two.rows(two.there) != set()


async def test_a_copy_has_vectors_edits_and_tags_and_is_its_own(two: Two) -> None:
    tag = await two.call("POST", f"/knowledge-bases/{two.here}/tags", 201, json={"name": "Кадры"})
    await two.call("PUT", f"/knowledge/{two.document}", json={"tag_ids": [tag["id"]]})
    first, second = await two.chunks(two.document)
    await two.call("PUT", f"/chunks/{two.document}/{first['id']}", json={"content": "Проезд возмещают сразу."})
    await two.call("POST", f"/chunks/{two.document}", 201, json={"content": "Добавлено людьми."})
    await two.call("DELETE", f"/chunks/{two.document}/{second['id']}")
    await two.app.jobs.idle()
    before = list(two.embedder.passages)
    body = {"knowledge_ids": [two.document], "knowledge_base_id": two.there}
    (copy,) = await two.call("POST", "/knowledge/copy", 202, json=body)
    await two.app.jobs.idle()
    assert two.embedder.passages == before, "vectors were taken along"
    made = await two.call("GET", f"/knowledge/{copy['id']}")
    assert (made["parse_status"], made["title"], made["knowledge_base_id"]) == ("completed", "Правила", two.there)
    rows = await two.chunks(copy["id"])
    assert [row["content"] for row in rows] == [row["content"] for row in await two.chunks(two.document)]
    assert {row["id"] for row in rows}.isdisjoint(row["id"] for row in await two.chunks(two.document))
    assert await two.rows(two.there, with_vector=True) == {row["id"] for row in rows}
    (there,) = await two.call("GET", f"/knowledge-bases/{two.there}/tags")
    assert [row["tag_ids"] for row in rows] == [[there["id"]]] * len(rows)
    assert (await two.call("GET", f"/knowledge/{copy['id']}/text"))["text"]
    # Reading it anew changes nothing: the ids are those that its own parse gives, and the edits are its own.
    await two.call("POST", f"/knowledge/{copy['id']}/reparse")
    await two.app.jobs.idle()
    assert [row["id"] for row in await two.chunks(copy["id"])] == [row["id"] for row in rows]
    assert two.embedder.passages == before
    await two.call("DELETE", f"/knowledge/{two.document}")
    await two.app.jobs.idle()
    assert await two.found(two.there)


async def test_a_copy_of_a_document_that_goes_meanwhile_is_read_from_its_own_bytes(two: Two) -> None:
    await two.app.jobs.close()
    body = {"knowledge_ids": [two.document], "knowledge_base_id": two.there}
    (copy,) = await two.call("POST", "/knowledge/copy", 202, json=body)
    await two.call("DELETE", f"/knowledge/{two.document}")
    await two.app.jobs.start()
    await two.app.jobs.idle()
    assert (await two.call("GET", f"/knowledge/{copy['id']}"))["parse_status"] == "completed"
    assert await two.found(two.there)


async def test_of_several_documents_all_go_or_none(two: Two) -> None:
    other = await two.write(two.here, "Второй текст о проезде.", "Второй")
    await two.write(two.there, "Второй текст о проезде.", "Второй")
    await two.move(409, knowledge_ids=[two.document, other])
    await two.app.jobs.idle()
    assert (await two.call("GET", f"/knowledge/{two.document}"))["knowledge_base_id"] == two.here
    await two.move(404, knowledge_ids=[two.document, "absent"])
    await two.move(404, target="absent")
