"""What people do to a document over HTTP: write, edit, replace and stop it, put it into folders, see its steps."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx2
import pytest

from opora.bootstrap import App
from opora.domain.scope import LOCAL_PRINCIPAL

from .conftest import scope_of

FIRST = "# Проезд\n\nРасходы на проезд возмещают по документам.\n\n# Суточные\n\nСуточные платят вперёд."
SECOND = FIRST.replace("платят вперёд", "платят потом")


class Desk:
    def __init__(self, app: App, http: httpx2.AsyncClient, base_id: str) -> None:
        self.app, self.http, self.base_id = app, http, base_id
        self.base = f"/api/v1/knowledge-bases/{base_id}/knowledge"

    async def call(self, method: str, path: str, status: int = 200, **options: Any) -> Any:
        response = await self.http.request(method, f"/api/v1{path}" if path.startswith("/") else path, **options)
        assert response.status_code == status, response.text
        body = response.json()
        return body["data"] if status < 400 else body["error"]

    async def write(self, content: str, title: str = "Правила", **body: Any) -> str:
        made = await self.http.post(f"{self.base}/manual", json={"title": title, "content": content, **body})
        assert made.status_code == 201, made.text
        await self.app.jobs.idle()
        return str(made.json()["data"]["id"])

    async def upload(self, data: bytes, name: str, **form: Any) -> str:
        made = await self.http.post(f"{self.base}/file", files={"file": (name, data)}, data=form)
        assert made.status_code == 201, made.text
        await self.app.jobs.idle()
        return str(made.json()["data"]["id"])

    async def found(self, query: str, **body: Any) -> list[dict[str, Any]]:
        asked = {"query": query, "knowledge_base_ids": [self.base_id], **body}
        results: list[dict[str, Any]] = await self.call("POST", "/knowledge-search", json=asked)
        return results


@pytest.fixture
async def desk(app: App, http: httpx2.AsyncClient) -> Desk:
    base = await app.bases.create(scope_of(LOCAL_PRINCIPAL), name="Стол")
    return Desk(app, http, base.base_id)


async def test_a_text_is_edited_in_place_and_only_what_changed_is_new(desk: Desk) -> None:
    document = await desk.write(FIRST)
    before = {row["content"]: row["id"] for row in await desk.call("GET", f"/chunks/{document}")}
    edited = await desk.call("PUT", f"/knowledge/{document}", json={"content": SECOND, "title": "Новые правила"})
    assert (edited["version"], edited["title"], edited["origin"]) == (2, "Новые правила", "manual")
    await desk.app.jobs.idle()
    after = {row["content"]: row["id"] for row in await desk.call("GET", f"/chunks/{document}")}
    kept = set(before) & set(after)
    assert {text: after[text] for text in kept} == {text: before[text] for text in kept}
    assert kept
    assert len(after) == len(before)
    assert [one["knowledge_id"] for one in await desk.found("суточные потом")][:1] == [document]
    assert "вперёд" not in "".join(one["content"] for one in await desk.found("суточные вперёд"))
    switch = [step for step in await desk.call("GET", f"/knowledge/{document}/spans") if step["name"] == "switch"]
    assert [step["counts"] for step in switch] == [
        {"new": len(before), "kept": 0},
        {"new": len(after) - len(kept), "kept": len(kept)},
    ]


async def test_the_second_of_two_edits_of_one_version_is_a_conflict(desk: Desk) -> None:
    document = await desk.write(FIRST)
    await desk.call("PUT", f"/knowledge/{document}", json={"content": SECOND, "version": 1})
    late = {"content": FIRST + "\n\nЕщё.", "version": 1}
    error = await desk.call("PUT", f"/knowledge/{document}", 409, json=late)
    assert error["details"]["version"] == 2


@pytest.mark.parametrize("content", ["", " \n", "\u200b\u200b\n\ufeff"])
async def test_a_text_of_nothing_that_is_seen_is_refused(desk: Desk, content: str) -> None:
    document = await desk.write(FIRST)
    await desk.call("PUT", f"/knowledge/{document}", 422, json={"content": content})
    made = await desk.http.post(f"{desk.base}/manual", json={"title": "t", "content": content})
    assert made.status_code == 422


async def test_an_upload_that_came_from_a_folder_is_not_edited_as_text(desk: Desk) -> None:
    synced = await desk.upload(FIRST.encode(), "a.md", source="/home/me/a.md")
    error = await desk.call("PUT", f"/knowledge/{synced}", 422, json={"content": SECOND})
    assert error["details"]["field"] == "content"
    loose = await desk.upload(SECOND.encode(), "b.md")
    assert (await desk.call("PUT", f"/knowledge/{loose}", json={"content": SECOND + "!"}))["version"] == 2


async def test_front_matter_of_a_new_version_takes_the_place_of_the_old_and_people_are_not_overruled(
    desk: Desk,
) -> None:
    document = await desk.write("---\nauthor: Анна\n---\nТекст о проезде.")
    said = await desk.call("GET", f"/knowledge/{document}")
    assert said["metadata"]["front_matter"] == {"author": "Анна"}
    metadata = {**said["metadata"], "отдел": "кадры"}
    await desk.call("PUT", f"/knowledge/{document}", json={"metadata": metadata})
    await desk.call("PUT", f"/knowledge/{document}", json={"content": "---\nauthor: Олег\n---\nТекст о проезде."})
    await desk.app.jobs.idle()
    after = (await desk.call("GET", f"/knowledge/{document}"))["metadata"]
    assert (after["front_matter"], after["отдел"]) == ({"author": "Олег"}, "кадры")


async def test_a_file_is_replaced_by_a_newer_one_and_keeps_its_id(desk: Desk) -> None:
    document = await desk.upload(FIRST.encode(), "rules.md")
    replaced = await desk.call("PUT", f"/knowledge/{document}/file", files={"file": ("new.txt", SECOND.encode())})
    assert (replaced["id"], replaced["version"], replaced["file_name"]) == (document, 2, "new.txt")
    await desk.app.jobs.idle()
    assert {one["knowledge_id"] for one in await desk.found("платят потом")} == {document}
    assert (await desk.http.get(f"/api/v1/knowledge/{document}/download")).content == SECOND.encode()


async def test_a_replacement_that_is_refused_leaves_no_file(desk: Desk) -> None:
    await desk.upload(SECOND.encode(), "other.md")
    document = await desk.upload(FIRST.encode(), "rules.md")
    await desk.call("PUT", f"/knowledge/{document}/file", 409, files={"file": ("new.md", SECOND.encode())})
    stored = [path.name for path in (desk.app.settings.data / "blobs").glob(f"*/*/{document}/*")]
    assert sorted(stored) == ["1.original", "1.text"]
    assert (await desk.call("GET", f"/knowledge/{document}"))["version"] == 1


async def test_bytes_of_another_document_that_has_failed_to_be_read_leave_the_old_version(desk: Desk) -> None:
    document = await desk.upload(FIRST.encode(), "rules.md")
    await desk.call("PUT", f"/knowledge/{document}/file", files={"file": ("new.md", b"\x89PNG\r\n\x1a\n" + b"\0" * 40)})
    await desk.app.jobs.idle()
    now = await desk.call("GET", f"/knowledge/{document}")
    assert (now["parse_status"], now["error_message"].endswith("The earlier version stays in search.")) == (
        "failed",
        True,
    )
    assert [one["knowledge_id"] for one in await desk.found("суточные")][:1] == [document]
    failed = [step for step in await desk.call("GET", f"/knowledge/{document}/spans") if step["outcome"] == "failed"]
    assert [(step["name"], step["attempt"]) for step in failed] == [("read", 2)]


async def test_steps_tell_what_was_done_by_attempt(desk: Desk) -> None:
    document = await desk.write(FIRST)
    for _ in range(6):
        await desk.call("POST", f"/knowledge/{document}/reparse")
        await desk.app.jobs.idle()
    steps = await desk.call("GET", f"/knowledge/{document}/spans")
    assert sorted({step["attempt"] for step in steps}) == [3, 4, 5, 6, 7]
    last = [step["name"] for step in steps if step["attempt"] == 7]
    assert last[:4] == ["read", "split", "keywords", "switch"]
    assert all(step["milliseconds"] >= 0 and step["started_at"] for step in steps)
    read = next(step for step in steps if step["name"] == "read")
    assert read["counts"]["bytes"] == len(FIRST.encode())


async def test_reading_is_stopped_and_the_earlier_version_stays(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    document = await desk.write(FIRST)
    reading, never = asyncio.Event(), asyncio.Event()
    parse = desk.app.jobs._ground.parser.parse

    async def held(path: str, *, file_name: str) -> Any:
        reading.set()
        await never.wait()
        return await parse(path, file_name=file_name)

    with monkeypatch.context() as patched:
        patched.setattr(desk.app.jobs._ground.parser, "parse", held)
        await desk.call("PUT", f"/knowledge/{document}", json={"content": SECOND})
        await reading.wait()
        stopped = await desk.call("POST", f"/knowledge/{document}/cancel-parse")
        assert (stopped["parse_status"], stopped["error_reason"]) == ("failed", "cancelled")
        await desk.app.jobs.idle()
    assert [one["knowledge_id"] for one in await desk.found("платят вперёд")][:1] == [document]
    steps = await desk.call("GET", f"/knowledge/{document}/spans")
    assert [step["error"] for step in steps if step["outcome"] == "failed"] == ["Cut off."]
    again = await desk.call("POST", f"/knowledge/{document}/reparse")
    assert again["parse_status"] == "pending"
    await desk.app.jobs.idle()
    assert (await desk.call("GET", f"/knowledge/{document}"))["parse_status"] == "completed"
    assert "потом" in (await desk.found("суточные потом"))[0]["content"]


async def test_what_is_settled_is_not_stopped(desk: Desk) -> None:
    document = await desk.write(FIRST)
    assert (await desk.call("POST", f"/knowledge/{document}/cancel-parse"))["parse_status"] == "completed"


async def test_several_documents_are_seen_read_again_and_deleted_at_once_or_none(desk: Desk) -> None:
    ids = [await desk.write(FIRST, "А"), await desk.write(SECOND, "Б")]
    seen = await desk.call("GET", "/knowledge/batch", params={"ids": ids})
    assert [one["id"] for one in seen] == ids
    rows = await desk.call("POST", "/knowledge/batch-reparse", 202, json={"ids": ids})
    assert [(row["id"], row["error"]) for row in rows] == [(one, "") for one in ids]
    await desk.app.jobs.idle()
    for method, path, options in (
        ("GET", "/knowledge/batch", {"params": {"ids": [ids[0], "absent"]}}),
        ("POST", "/knowledge/batch-delete", {"json": {"ids": [ids[0], "absent"]}}),
        ("POST", "/knowledge/batch-reparse", {"json": {"ids": [ids[0], "absent"]}}),
    ):
        assert (await desk.call(method, path, 404, **options))["details"] == {}
    assert len((await desk.http.get(desk.base)).json()["data"]) == 2
    await desk.call("POST", "/knowledge/batch-delete", json={"ids": ids})
    await desk.app.jobs.idle()
    assert await desk.found("проезд") == []


async def test_documents_are_found_by_name_over_all_bases(desk: Desk) -> None:
    mine = await desk.write(FIRST, "Положение о командировках")
    await desk.write(SECOND, "Отпуска")
    found = await desk.call("GET", "/knowledge/search", params={"keyword": "КОМАНДИР"})
    assert [one["id"] for one in found] == [mine]
    limited = {"keyword": "командир", "knowledge_base_ids": [desk.base_id]}
    assert len(await desk.call("GET", "/knowledge/search", params=limited)) == 1


async def test_folders_list_limit_a_search_and_are_changed(desk: Desk) -> None:
    leave = await desk.upload(FIRST.encode(), "a.md", folder="/Кадры//Отпуска/")
    rest = await desk.upload(SECOND.encode(), "b.md", folder="Кадры-старые")
    top = await desk.write("Проезд в гору по документам.")
    listed = (await desk.http.get(f"{desk.base}/folders")).json()["data"]
    assert {row["folder"]: row["knowledge_count"] for row in listed} == {"": 1, "Кадры/Отпуска": 1, "Кадры-старые": 1}
    inside = (await desk.http.get(desk.base, params={"folder": "Кадры"})).json()["data"]
    assert [one["id"] for one in inside] == [leave]
    assert {one["knowledge_id"] for one in await desk.found("проезд по документам", folder="Кадры")} == {leave}
    await desk.call("POST", "/knowledge/move", 202, json={"knowledge_ids": [rest, top], "folder": "Кадры"})
    found = await desk.found("проезд по документам", folder="Кадры")
    assert {one["knowledge_id"] for one in found} == {leave, rest, top}
    assert await desk.found("проезд", folder="Нет такой") == []
    await desk.call("PUT", f"/knowledge/{leave}", 422, json={"folder": "/".join("x" * 40)})


async def test_the_beginning_is_seen_piece_by_piece(desk: Desk) -> None:
    document = await desk.write(FIRST)
    first = await desk.call("GET", f"/knowledge/{document}/preview", params={"limit": 20})
    text, offset = first["text"], first["next_offset"]
    while offset is not None:
        piece = await desk.call("GET", f"/knowledge/{document}/preview", params={"offset": offset, "limit": 50})
        text, offset = text + piece["text"], piece["next_offset"]
    assert text == (await desk.call("GET", f"/knowledge/{document}/text"))["text"]
    assert first["total_chars"] == len(text)
