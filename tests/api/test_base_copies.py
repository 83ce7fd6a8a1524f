"""A base is copied with all it holds: nobody sees the copy before it is complete, and nothing is embedded for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import httpx2
import pytest

from opora.bootstrap import App
from opora.bootstrap.models import Models
from opora.domain.bases import copied_id
from opora.domain.errors import EngineError
from opora.domain.scope import LOCAL_PRINCIPAL
from opora.models.null import NullEmbedder
from opora.ports import Vectors
from opora.settings import Settings

from .conftest import STRANGER, add_base, client_of, scope_of

BASES = "/api/v1/knowledge-bases"
PARTS = ["Проезд возмещают по документам.", "Гостиницу оплачивает бухгалтерия.", "Отпуск длится месяц."]
WHOLE = [f"# Часть {n}\n\n{part}" for n, part in enumerate(PARTS)]
TEXT = "\n\n".join(WHOLE)


class Counting(NullEmbedder):
    """Notes what it embeds, and waits where a test holds it."""

    def __init__(self) -> None:
        super().__init__(16)
        self.embedded: list[str] = []
        self.free = asyncio.Event()
        self.free.set()

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        await self.free.wait()
        self.embedded += texts
        return await super().embed_passages(texts)


@pytest.fixture
def embedder() -> Counting:
    return Counting()


async def opened_at(folder: Path, embedder: Counting) -> App:
    return await App.open(Settings(data=folder), models=Models(embedder=embedder, chat=None))


@pytest.fixture
async def app(tmp_path: Path, embedder: Counting) -> AsyncIterator[App]:
    opened = await opened_at(tmp_path, embedder)
    yield opened
    await opened.close()


async def data(http: httpx2.AsyncClient, method: str, path: str, *, status: int = 200, **options: Any) -> Any:
    response = await http.request(method, path, **options)
    assert response.status_code == status, response.text
    return response.json()["data"]


async def documents(http: httpx2.AsyncClient, base_id: str) -> dict[str, dict[str, Any]]:
    return {one["file_name"]: one for one in await data(http, "GET", f"{BASES}/{base_id}/knowledge?page_size=100")}


async def chunks(http: httpx2.AsyncClient, document_id: str) -> list[dict[str, Any]]:
    return list(await data(http, "GET", f"/api/v1/chunks/{document_id}?page_size=100"))


async def contents(http: httpx2.AsyncClient, document_id: str) -> list[str]:
    return [one["content"] for one in await chunks(http, document_id)]


async def upload(http: httpx2.AsyncClient, base_id: str, name: str, text: str, **form: Any) -> str:
    path = f"{BASES}/{base_id}/knowledge/file"
    made = await data(http, "POST", path, status=201, files={"file": (name, text.encode())}, data=form)
    return str(made["id"])


async def copied(app: App, http: httpx2.AsyncClient, base_id: str, **body: Any) -> str:
    task = await data(http, "POST", f"{BASES}/copy", status=202, json={"source_id": base_id, **body})
    await app.jobs.idle()
    task = await data(http, "GET", f"{BASES}/copy/progress/{task['task_id']}")
    assert (task["status"], task["error"], task["source_id"]) == ("completed", "", base_id)
    assert task["done"] == task["total"]
    return str(task["target_id"])


async def found(http: httpx2.AsyncClient, query: str, *base_ids: str, **body: Any) -> list[dict[str, Any]]:
    asked = {"query": query, "knowledge_base_ids": list(base_ids), "match_count": 50, **body}
    return list(await data(http, "POST", "/api/v1/knowledge-search", json=asked))


async def check_sound(app: App, http: httpx2.AsyncClient, base_id: str) -> None:
    sound = {"is_sound": True, "missing": 0, "stray": 0, "vectorless": 0}
    assert await data(http, "GET", f"{BASES}/{base_id}/index") == sound
    async with app._database.read() as stored:
        assert await stored.work.pending() == 0


async def people_worked(app: App, http: httpx2.AsyncClient) -> tuple[str, str]:
    """A base in which people did what they can do to a document; the ids of both."""
    base_id = (await add_base(app, LOCAL_PRINCIPAL)).base_id
    document_id = await upload(http, base_id, "правила.md", TEXT, source="правила.md")
    await upload(http, base_id, "другое.md", "# Другое\n\nСовсем другое дело.")
    await app.jobs.idle()
    first, second, third = await chunks(http, document_id)
    path = f"/api/v1/chunks/{document_id}"
    await data(http, "PUT", f"{path}/{first['id']}", json={"content": "Дорогу компенсируют авансом."})
    await data(http, "DELETE", f"{path}/{second['id']}")
    added = {"content": "Питание оплачивают отдельно.", "after_chunk_id": third["id"]}
    await data(http, "POST", path, status=201, json=added)
    await data(http, "PUT", f"{path}/{third['id']}", json={"is_enabled": False})
    tag = await data(http, "POST", f"{BASES}/{base_id}/tags", status=201, json={"name": "Важное", "color": "red"})
    await data(http, "PUT", f"/api/v1/knowledge/{document_id}", json={"tag_ids": [tag["id"]], "description": "о"})
    await app.jobs.idle()
    return base_id, document_id


async def test_everything_is_copied_and_nothing_embedded(
    app: App, http: httpx2.AsyncClient, embedder: Counting
) -> None:
    base_id, document_id = await people_worked(app, http)
    embedder.embedded.clear()
    before = await chunks(http, document_id)
    target = await copied(app, http, base_id)
    assert embedder.embedded == []
    bases = {one["id"]: one for one in await data(http, "GET", BASES)}
    own = {"id", "name", "created_at", "updated_at"}
    assert bases[target]["name"] == "База (2)"
    assert {k: v for k, v in bases[target].items() if k not in own} == {
        k: v for k, v in bases[base_id].items() if k not in own
    }

    old, new = await documents(http, base_id), await documents(http, target)
    assert old.keys() == new.keys() == {"правила.md", "другое.md"}
    for name in old:
        changing = {"id", "knowledge_base_id", "tag_ids"}
        assert {k: v for k, v in old[name].items() if k not in changing} == {
            k: v for k, v in new[name].items() if k not in changing
        }
        for part in ("download", "text"):
            was, now = [await http.get(f"/api/v1/knowledge/{one['id']}/{part}") for one in (old[name], new[name])]
            assert was.status_code == now.status_code == 200
            assert now.content.replace(new[name]["id"].encode(), old[name]["id"].encode()) == was.content

    copy = await chunks(http, new["правила.md"]["id"])
    assert [(c["content"], c["context"], c["is_enabled"], c["is_edited"], c["place"]) for c in copy] == [
        (c["content"], c["context"], c["is_enabled"], c["is_edited"], c["place"]) for c in before
    ]
    assert not {c["id"] for c in copy} & {c["id"] for c in before}
    assert [c["next_chunk_id"] for c in copy] == [*(c["id"] for c in copy[1:]), ""]
    assert [c["pre_chunk_id"] for c in copy] == ["", *(c["id"] for c in copy[:-1])]

    (tag,) = await data(http, "GET", f"{BASES}/{target}/tags")
    assert (tag["name"], tag["color"], new["правила.md"]["tag_ids"]) == ("Важное", "red", [tag["id"]])
    assert tag["id"] not in old["правила.md"]["tag_ids"]
    tagged = await found(http, "оплачивают авансом дело", target, tag_ids=[tag["id"]])
    assert {one["knowledge_id"] for one in tagged} == {new["правила.md"]["id"]}
    for query in ("компенсируют авансом", "оплачивает бухгалтерия", "длится месяц", "питание"):
        ours, theirs = await found(http, query, base_id), await found(http, query, target)
        assert [(one["content"], one["score"]) for one in ours] == [(one["content"], one["score"]) for one in theirs]

    def counted(stats: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in stats.items() if key not in ("changed_at", "storage_bytes")}

    stats = [await data(http, "GET", f"{BASES}/{one}/stats") for one in (base_id, target)]
    assert counted(stats[0]) == counted(stats[1])
    await check_sound(app, http, target)
    await check_sound(app, http, base_id)


async def test_states_of_chunks_are_copied(app: App, http: httpx2.AsyncClient) -> None:
    base_id, document_id = await people_worked(app, http)
    target = await copied(app, http, base_id)
    new_id = copied_id(target, document_id)
    first, *_ = await chunks(http, new_id)
    states = await data(http, "GET", f"/api/v1/chunks/{new_id}/{first['id']}/revisions")
    assert [(one["content"], one["is_current"]) for one in states] == [
        (WHOLE[0], False),
        ("Дорогу компенсируют авансом.", True),
    ]
    shown = await data(http, "GET", f"/api/v1/chunks/by-id/{states[0]['chunk_id']}")
    assert (shown["content"], shown["current_chunk_id"], shown["knowledge_id"]) == (WHOLE[0], first["id"], new_id)
    await data(http, "POST", f"/api/v1/chunks/{new_id}/{first['id']}/revert", json={"revision": 0})
    assert (await contents(http, new_id))[0] == WHOLE[0]
    assert (await contents(http, document_id))[0] == "Дорогу компенсируют авансом."


async def test_a_copy_that_is_read_anew_keeps_vectors_switches_and_corrections(
    app: App, http: httpx2.AsyncClient, embedder: Counting
) -> None:
    base_id, document_id = await people_worked(app, http)
    target = await copied(app, http, base_id)
    new_id = copied_id(target, document_id)
    before = await chunks(http, new_id)
    embedder.embedded.clear()
    await data(http, "POST", f"/api/v1/knowledge/{new_id}/reparse")
    await app.jobs.idle()
    assert [(c["id"], c["content"], c["is_enabled"]) for c in await chunks(http, new_id)] == [
        (c["id"], c["content"], c["is_enabled"]) for c in before
    ]
    assert embedder.embedded == []
    await check_sound(app, http, target)


async def test_each_goes_its_own_way(app: App, http: httpx2.AsyncClient) -> None:
    base_id, document_id = await people_worked(app, http)
    target = await copied(app, http, base_id)
    before = await chunks(http, document_id)
    first, *_ = await chunks(http, copied_id(target, document_id))
    await data(
        http, "PUT", f"/api/v1/chunks/{copied_id(target, document_id)}/{first['id']}", json={"content": "Иначе."}
    )
    await data(http, "DELETE", f"{BASES}/{target}")
    await app.jobs.idle()
    assert await chunks(http, document_id) == before
    assert (await http.get(f"/api/v1/knowledge/{document_id}/download")).content == TEXT.encode()
    await check_sound(app, http, base_id)
    assert {one for _, one in await app._blobs.stored()} == {
        one["id"] for one in (await documents(http, base_id)).values()
    }


async def test_parents_and_their_children(app: App, http: httpx2.AsyncClient) -> None:
    chunking = {"enable_parent_child": True, "parent_chunk_size": 400, "child_chunk_size": 100}
    made = await data(http, "POST", BASES, status=201, json={"name": "Семьи", "chunking_config": chunking})
    text = "# Проезд\n\n" + " ".join(f"Правило номер {n} говорит о проезде." for n in range(20))
    document_id = await upload(http, made["id"], "a.md", text)
    await app.jobs.idle()
    target = await copied(app, http, made["id"])
    copy = await chunks(http, copied_id(target, document_id))
    parents = {one["id"]: one["content"] for one in copy if one["chunk_type"] == "parent_text"}
    children = [one for one in copy if one["parent_chunk_id"]]
    assert parents
    assert children
    assert all(one["content"] in parents[one["parent_chunk_id"]] for one in children)
    assert [one["content"] for one in await chunks(http, document_id)] == [one["content"] for one in copy]


async def test_a_faq(app: App, http: httpx2.AsyncClient, embedder: Counting) -> None:
    made = await data(http, "POST", BASES, status=201, json={"name": "Вопросы", "type": "faq"})
    path = f"{BASES}/{made['id']}/faq"
    for number in range(3):
        entry = {
            "standard_question": f"Как войти в дом {number}?",
            "similar_questions": [f"Где вход {number}?"],
            "negative_questions": [f"Где выход {number}?"],
            "answers": [f"Через дверь {number}."],
            "is_recommended": number == 1,
        }
        await data(http, "POST", f"{path}/entry", status=201, json=entry)
    await data(http, "PUT", f"{path}/entries/fields", json={"ids": ["2"], "is_enabled": False})
    await data(http, "DELETE", f"{path}/entry/3")
    await app.jobs.idle()
    embedder.embedded.clear()
    target = await copied(app, http, made["id"])
    assert embedder.embedded == []
    new_path = f"{BASES}/{target}/faq"
    own = {"id", "knowledge_base_id", "knowledge_id", "created_at", "updated_at"}
    old, new = await data(http, "GET", f"{path}/entries"), await data(http, "GET", f"{new_path}/entries")
    assert [{k: v for k, v in one.items() if k not in own} for one in new] == [
        {k: v for k, v in one.items() if k not in own} for one in old
    ]
    assert not {one["id"] for one in new} & {one["id"] for one in old}
    (best, *_) = await data(http, "POST", f"{new_path}/search", json={"query_text": "Где вход 0?"})
    assert best["id"] == new[0]["id"]
    again = {"standard_question": "где ВХОД 0?", "answers": ["Нет."]}
    assert (await http.post(f"{new_path}/entry", json=again)).status_code == 409
    another = {"standard_question": "Как выйти?", "answers": ["Через окно."]}
    assert (await data(http, "POST", f"{new_path}/entry", status=201, json=another))["seq_id"] == 3
    await app.jobs.idle()
    await check_sound(app, http, target)


class Held:
    """The engine, whose copying of rows waits from a given call on until it is let go, or fails so many times."""

    def __init__(self, engine: Any, *, after: int = 0, failures: int = 0) -> None:
        self._engine, self._left, self._failures = engine, after, failures
        self.entered, self.open = asyncio.Event(), asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    async def copy_base(self, *args: Any, **options: Any) -> None:
        self._left -= 1
        if self._left < 0:
            if self._failures:
                self._failures -= 1
                raise EngineError("The engine is down.")
            self.entered.set()
            await self.open.wait()
        await self._engine.copy_base(*args, **options)


class Reading:
    """The parser, which waits until it is let go."""

    def __init__(self, parser: Any) -> None:
        self._parser = parser
        self.entered, self.open = asyncio.Event(), asyncio.Event()

    async def parse(self, path: str, *, file_name: str) -> Any:
        self.entered.set()
        await self.open.wait()
        return await self._parser.parse(path, file_name=file_name)


def hold(app: App, **options: int) -> Held:
    held = Held(app._engine, **options)
    object.__setattr__(app.jobs._ground, "engine", held)
    return held


async def three_documents(app: App, http: httpx2.AsyncClient) -> tuple[str, list[str]]:
    base_id = (await add_base(app, LOCAL_PRINCIPAL)).base_id
    ids = [await upload(http, base_id, f"{n}.md", f"# Проезд {n}\n\nПроезд {n} возмещают.") for n in range(3)]
    await app.jobs.idle()
    return base_id, ids


async def begun(http: httpx2.AsyncClient, base_id: str, **body: Any) -> tuple[str, str]:
    task = await data(http, "POST", f"{BASES}/copy", status=202, json={"source_id": base_id, **body})
    return task["task_id"], task["target_id"]


async def check_unseen(http: httpx2.AsyncClient, base_id: str, target: str, ids: list[str]) -> None:
    """No list, no search, no route tells of a copy that is not complete, nor of what it holds already."""
    assert [one["id"] for one in await data(http, "GET", BASES)] == [base_id]
    assert {one["knowledge_base_id"] for one in await found(http, "проезд возмещают")} == {base_id}
    hidden = [f"{BASES}/{target}{rest}" for rest in ("", "/stats", "/knowledge", "/tags", "/index")]
    for document_id in ids:
        new_id = copied_id(target, document_id)
        hidden += [f"/api/v1/knowledge/{new_id}", f"/api/v1/knowledge/{new_id}/text", f"/api/v1/chunks/{new_id}"]
    for path in hidden:
        assert (await http.get(path)).status_code == 404, path
    assert (await http.delete(f"{BASES}/{target}")).status_code == 404
    search = {"query": "проезд", "knowledge_base_ids": [target]}
    assert (await http.post("/api/v1/knowledge-search", json=search)).status_code == 404


async def test_nobody_sees_a_copy_before_it_is_complete(app: App, http: httpx2.AsyncClient) -> None:
    base_id, ids = await three_documents(app, http)
    held = hold(app, after=2)
    task_id, target = await begun(http, base_id, name="Копия")
    await held.entered.wait()
    progress = await data(http, "GET", f"{BASES}/copy/progress/{task_id}")
    assert (progress["status"], progress["done"], progress["total"]) == ("processing", 2, 3)
    await check_unseen(http, base_id, target, ids)
    taken = await http.post(BASES, json={"name": "копия"})
    assert (taken.status_code, "data" in taken.json()) == (409, False)
    held.open.set()
    await app.jobs.idle()
    assert len(await documents(http, target)) == 3
    await check_sound(app, http, target)


async def test_a_copy_goes_on_after_a_stop_in_the_middle(tmp_path: Path, embedder: Counting) -> None:
    app = await opened_at(tmp_path, embedder)
    async with client_of(app) as http:
        base_id, ids = await three_documents(app, http)
        held = hold(app, after=1)
        task_id, target = await begun(http, base_id)
        await held.entered.wait()
    await app.close()
    embedder.embedded.clear()
    app = await opened_at(tmp_path, embedder)
    async with client_of(app) as http:
        await app.jobs.idle()
        progress = await data(http, "GET", f"{BASES}/copy/progress/{task_id}")
        assert (progress["status"], progress["done"], progress["total"]) == ("completed", 3, 3)
        assert {copied_id(target, one) for one in ids} == {
            one["id"] for one in (await documents(http, target)).values()
        }
        assert embedder.embedded == []
        await check_sound(app, http, target)
        await check_sound(app, http, base_id)
    await app.close()


async def test_an_engine_that_fails_for_a_while(app: App, http: httpx2.AsyncClient) -> None:
    base_id, _ = await three_documents(app, http)
    held = hold(app, after=1, failures=1)
    held.open.set()
    target = await copied(app, http, base_id)
    assert len(await documents(http, target)) == 3
    await check_sound(app, http, target)


async def test_a_source_that_goes_takes_its_half_copy_along(app: App, http: httpx2.AsyncClient) -> None:
    base_id, _ = await three_documents(app, http)
    held = hold(app, after=1)
    task_id, target = await begun(http, base_id, name="Копия")
    await held.entered.wait()
    await data(http, "DELETE", f"{BASES}/{base_id}")
    held.open.set()
    await app.jobs.idle()
    progress = await data(http, "GET", f"{BASES}/copy/progress/{task_id}")
    assert (progress["status"], progress["error"]) == (
        "failed",
        "The knowledge base that was to be copied was deleted.",
    )
    assert await data(http, "GET", BASES) == []
    assert await app._engine.chunk_ids(scope_of(LOCAL_PRINCIPAL, target), target) == set()
    assert await app._blobs.stored() == []
    async with app._database.read() as stored:
        assert await stored.documents.ids(scope_of(LOCAL_PRINCIPAL, target, base_id)) == []
    assert (await http.post(BASES, json={"name": "Копия"})).status_code == 201


async def test_what_the_source_still_waits_for_is_done_in_the_copy(
    app: App, http: httpx2.AsyncClient, embedder: Counting
) -> None:
    base_id = (await add_base(app, LOCAL_PRINCIPAL)).base_id
    embedder.free.clear()
    document_id = await upload(http, base_id, "правила.md", TEXT)
    seen = app.jobs.changes
    while not await chunks(http, document_id):
        seen = await app.jobs.changed(seen)
    task_id, target = await begun(http, base_id)
    while (await data(http, "GET", f"{BASES}/copy/progress/{task_id}"))["status"] != "completed":
        seen = await app.jobs.changed(seen)
    (copy,) = (await documents(http, target)).values()
    assert (copy["parse_status"], copy["embedded_count"], copy["chunk_count"]) == ("processing", 0, 3)
    embedder.free.set()
    await app.jobs.idle()
    (copy,) = (await documents(http, target)).values()
    assert (copy["parse_status"], copy["embedded_count"]) == ("completed", 3)
    await check_sound(app, http, target)


async def test_a_document_that_is_not_read_yet_is_read_in_the_copy(app: App, http: httpx2.AsyncClient) -> None:
    base_id = (await add_base(app, LOCAL_PRINCIPAL)).base_id
    reading = Reading(app.jobs._ground.parser)
    object.__setattr__(app.jobs._ground, "parser", reading)
    document_id = await upload(http, base_id, "правила.md", TEXT)
    await reading.entered.wait()
    task_id, target = await begun(http, base_id)
    seen = app.jobs.changes
    while (await data(http, "GET", f"{BASES}/copy/progress/{task_id}"))["status"] != "completed":
        seen = await app.jobs.changed(seen)
    (copy,) = (await documents(http, target)).values()
    assert (copy["parse_status"], copy["chunk_count"]) == ("processing", 0)
    reading.open.set()
    await app.jobs.idle()
    assert await contents(http, copied_id(target, document_id)) == WHOLE
    await check_sound(app, http, target)


async def test_an_edit_while_its_document_is_copied(app: App, http: httpx2.AsyncClient) -> None:
    """The copy has the document as it was read; rows that left the engine under it are made anew."""
    base_id = (await add_base(app, LOCAL_PRINCIPAL)).base_id
    document_id = await upload(http, base_id, "правила.md", TEXT)
    await app.jobs.idle()
    held = hold(app)
    _, target = await begun(http, base_id)
    await held.entered.wait()
    first, *_ = await chunks(http, document_id)
    await data(http, "PUT", f"/api/v1/chunks/{document_id}/{first['id']}", json={"content": "Дорогу компенсируют."})
    seen = app.jobs.changes
    while first["id"] in await app._engine.chunk_ids(scope_of(LOCAL_PRINCIPAL, base_id), base_id):
        seen = await app.jobs.changed(seen)
    held.open.set()
    await app.jobs.idle()
    assert await contents(http, copied_id(target, document_id)) == WHOLE
    assert (await found(http, "возмещают по документам", target))[0]["content"] == WHOLE[0]
    await check_sound(app, http, target)


@pytest.mark.parametrize("body", [{}, {"source_id": ""}, {"source_id": "x", "name": " "}, {"source_id": 1}])
async def test_bad_requests(http: httpx2.AsyncClient, body: dict[str, Any]) -> None:
    assert (await http.post(f"{BASES}/copy", json=body)).status_code in (404, 422)


async def test_a_base_or_a_copy_of_another_tenant(app: App, http: httpx2.AsyncClient) -> None:
    theirs = (await add_base(app, STRANGER)).base_id
    answers = [await http.post(f"{BASES}/copy", json={"source_id": one}) for one in (theirs, "absent")]
    assert [answer.status_code for answer in answers] == [404, 404]
    assert answers[0].content == answers[1].content
    task = await app.copies.start(scope_of(STRANGER, theirs), theirs)
    answers = [await http.get(f"{BASES}/copy/progress/{one}") for one in (task.task_id, "absent")]
    assert [answer.status_code for answer in answers] == [404, 404]
    assert answers[0].content == answers[1].content
