"""Documents go in by file or text, are listed and read, and their names never are anything but names."""

import re
import unicodedata
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import unquote

import httpx2
import pytest
import pytest_asyncio

from opora.bootstrap import App
from opora.domain.scope import LOCAL_PRINCIPAL

from .conftest import add_base, client_of, scope_of

pytestmark = pytest.mark.asyncio(loop_scope="module")

UNICODE_NAME = "отчёт №5 — «Ёлка» 报告.txt"
NAMES: list[str] = [
    "../../etc/cron.d/x.txt",
    "..\\..\\win.txt",
    "/abs/path.txt",
    "C:\\x\\y.txt",
    "%2e%2e%2fenc.txt",
    "a/../b.txt",
    "nul\0byte.txt",
    "",
    ".",
    "..",
    ".htaccess",
    "CON.txt",
    'имя с "кавычкой" и ; точкой.txt',
    "перенос\nстроки.txt",
    "перенос\r\nSet-Cookie: a=b.txt",
    "invoice\u202efdp.exe.txt",
    "ж" * 300 + ".txt",
    "file.TXT",
    "noext",
    "report.pdf.exe",
    UNICODE_NAME,
]


@pytest.fixture
def app(shared_app: App) -> App:
    return shared_app


@pytest_asyncio.fixture(loop_scope="module")
async def http(app: App) -> AsyncIterator[httpx2.AsyncClient]:
    async with client_of(app) as client:
        yield client


@pytest_asyncio.fixture(loop_scope="module")
async def base_id(app: App) -> str:
    return (await add_base(app, LOCAL_PRINCIPAL)).base_id


def raw_form(name: bytes, data: bytes) -> tuple[bytes, dict[str, str]]:
    """A form as a careless client writes it, with the name as it is."""
    body = b'--edge\r\nContent-Disposition: form-data; name="file"; filename="' + name + b'"\r\n\r\n' + data
    return body + b"\r\n--edge--\r\n", {"Content-Type": "multipart/form-data; boundary=edge"}


async def upload(http: httpx2.AsyncClient, base_id: str, name: str, data: bytes, **fields: str) -> httpx2.Response:
    path = f"/api/v1/knowledge-bases/{base_id}/knowledge/file"
    return await http.post(path, files={"file": (name, data)}, data=fields)


def header_name(response: httpx2.Response) -> str:
    match = re.search(r"filename\*=UTF-8''([^;]+)$", response.headers["content-disposition"])
    assert match
    return unquote(match[1])


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
@pytest.mark.parametrize("raw", [False, True])
async def test_names_are_cleaned_or_refused_and_never_a_path(
    app: App, http: httpx2.AsyncClient, base_id: str, name: str, raw: bool
) -> None:
    if raw:
        body, headers = raw_form(name.encode(), b"content of a file")
        response = await http.post(f"/api/v1/knowledge-bases/{base_id}/knowledge/file", content=body, headers=headers)
    else:
        response = await upload(http, base_id, name, b"content of a file")
    if response.status_code != 201:
        assert response.status_code in (400, 422), response.text
        assert raw or response.json()["error"]["details"]["field"] == "file"
        return
    document = response.json()["data"]
    shown = document["file_name"]
    assert shown.strip(". ")
    assert not re.search(r"[/\\\x00-\x1f\u202a-\u202e]", shown)
    assert len(shown.encode()) <= 255
    download = await http.get(f"/api/v1/knowledge/{document['id']}/download")
    assert download.content == b"content of a file"
    assert header_name(download) == shown
    assert "set-cookie" not in download.headers
    folder = app.settings.data.resolve()
    stored = [path for path in folder.rglob("*") if path.is_file() and path.read_bytes() == b"content of a file"]
    assert stored
    for path in stored:
        assert path.resolve().is_relative_to(folder)
        assert "txt" not in path.name


async def test_a_unicode_name_is_shown_searched_and_downloaded(
    app: App, http: httpx2.AsyncClient, base_id: str
) -> None:
    document = (await upload(http, base_id, UNICODE_NAME, "Ёлка растёт.".encode())).json()["data"]
    assert document["file_name"] == UNICODE_NAME
    listed = (await http.get(f"/api/v1/knowledge-bases/{base_id}/knowledge", params={"keyword": "Ёлка"})).json()
    assert [row["file_name"] for row in listed["data"]] == [UNICODE_NAME]
    download = await http.get(f"/api/v1/knowledge/{document['id']}/download")
    assert header_name(download) == UNICODE_NAME
    assert download.headers["content-type"] == "application/octet-stream"
    assert "sandbox" in download.headers["content-security-policy"]


async def test_quotes_in_a_name_survive_the_form(http: httpx2.AsyncClient, base_id: str) -> None:
    """Browsers write a quotation mark of a form's file name as %22."""
    body, headers = raw_form("с %22кавычкой%22.txt".encode(), b"text")
    response = await http.post(f"/api/v1/knowledge-bases/{base_id}/knowledge/file", content=body, headers=headers)
    assert response.json()["data"]["file_name"] == 'с "кавычкой".txt'


async def test_long_names_are_cut_between_letters_and_keep_the_extension(
    http: httpx2.AsyncClient, base_id: str
) -> None:
    name = (await upload(http, base_id, "ж" * 300 + ".txt", b"text")).json()["data"]["file_name"]
    assert name.endswith("ж.txt")
    assert set(name.removesuffix(".txt")) == {"ж"}


async def test_composed_and_decomposed_forms_are_one_name(http: httpx2.AsyncClient, base_id: str) -> None:
    names = {
        (await upload(http, base_id, unicodedata.normalize(form, "Отчёт.txt"), form.encode())).json()["data"][
            "file_name"
        ]
        for form in ("NFC", "NFD")
    }
    assert names == {"Отчёт.txt"}


async def test_two_files_of_one_name_do_not_overwrite_each_other(http: httpx2.AsyncClient, base_id: str) -> None:
    first, second = [(await upload(http, base_id, "a.txt", data)).json()["data"] for data in (b"one", b"two")]
    assert first["id"] != second["id"]
    for document, data in ((first, b"one"), (second, b"two")):
        assert (await http.get(f"/api/v1/knowledge/{document['id']}/download")).content == data


async def test_the_same_bytes_again_are_answered_with_the_document_that_is_there(
    http: httpx2.AsyncClient, base_id: str
) -> None:
    first = (await upload(http, base_id, "a.txt", b"same")).json()["data"]
    again = await upload(http, base_id, "b.txt", b"same")
    assert again.status_code == 409
    assert again.json()["success"] is False
    assert again.json()["error"]["code"] == 1005
    assert again.json()["error"]["details"]["document_id"] == first["id"]
    assert again.json()["data"]["id"] == first["id"]
    assert (await http.get(f"/api/v1/knowledge-bases/{base_id}/knowledge")).json()["total"] == 1


async def test_replacing_by_source_keeps_the_id(http: httpx2.AsyncClient, base_id: str) -> None:
    fields = {"source": "/docs/a.txt", "replace": "true"}
    first = (await upload(http, base_id, "a.txt", b"one", **fields)).json()["data"]
    same = (await upload(http, base_id, "a.txt", b"one", **fields)).json()["data"]
    other = (await upload(http, base_id, "a.txt", b"two", **fields)).json()["data"]
    assert (same["id"], same["version"]) == (first["id"], 1)
    assert (other["id"], other["version"]) == (first["id"], 2)


async def test_form_fields_and_their_refusals(http: httpx2.AsyncClient, base_id: str) -> None:
    given = {"title": "Приказ", "source": "s3://x", "metadata": '{"year": 2025}'}
    document = (await upload(http, base_id, "a.txt", b"one", **given)).json()["data"]
    assert (document["title"], document["source"], document["metadata"]["year"]) == ("Приказ", "s3://x", 2025)
    for field, value in (("metadata", "[1]"), ("metadata", "{"), ("replace", "maybe"), ("title", "x" * 300)):
        response = await upload(http, base_id, "a.txt", b"two", **{field: value})
        assert response.status_code == 422
        assert response.json()["error"]["details"]["field"] == field


@pytest.mark.parametrize(
    "value", ["NaN", "1e999", '"\\ud800"', "[" * 20_000 + "]" * 20_000], ids=["nan", "inf", "half", "deep"]
)
async def test_metadata_that_json_can_t_carry_is_refused(http: httpx2.AsyncClient, base_id: str, value: str) -> None:
    metadata = f'{{"a": {value}}}'
    by_form = await upload(http, base_id, "a.txt", b"one", metadata=metadata)
    body = f'{{"title": "T", "content": "one", "metadata": {metadata}}}'
    path = f"/api/v1/knowledge-bases/{base_id}/knowledge/manual"
    by_text = await http.post(path, content=body, headers={"Content-Type": "application/json"})
    assert (by_form.status_code, by_form.json()["error"]["details"]["field"]) == (422, "metadata")
    assert by_text.status_code in (400, 422)


@pytest.mark.parametrize("content", [b"", b"no form at all"])
async def test_a_form_without_a_file(http: httpx2.AsyncClient, base_id: str, content: bytes) -> None:
    response = await http.post(f"/api/v1/knowledge-bases/{base_id}/knowledge/file", content=content)
    assert response.status_code == 422
    assert response.json()["error"]["details"]["field"] == "file"


@pytest.mark.parametrize("size", [200_001, 600_000])
async def test_a_file_over_the_limit(http: httpx2.AsyncClient, base_id: str, size: int) -> None:
    response = await upload(http, base_id, "a.txt", b"x" * size)
    assert response.status_code == 413
    assert (await http.get(f"/api/v1/knowledge-bases/{base_id}/knowledge")).json()["total"] == 0


async def test_a_text_goes_in_and_is_read(app: App, http: httpx2.AsyncClient, base_id: str) -> None:
    body = {"title": "Правила", "content": "# Проезд\n\nВозмещают после возвращения."}
    response = await http.post(f"/api/v1/knowledge-bases/{base_id}/knowledge/manual", json=body)
    assert response.status_code == 201
    document_id = response.json()["data"]["id"]
    scope = await app.access.document(LOCAL_PRINCIPAL, document_id)
    await app.documents.wait(scope, [document_id], timeout=30)
    progress = (await http.get(f"/api/v1/knowledge/{document_id}/progress")).json()["data"]
    assert (progress["id"], progress["parse_status"], progress["seconds_left"]) == (document_id, "completed", 0.0)
    text = (await http.get(f"/api/v1/knowledge/{document_id}/text")).json()["data"]["text"]
    assert "Возмещают после возвращения." in text
    chunks = (await http.get(f"/api/v1/chunks/{document_id}")).json()
    assert chunks["total"] == len(chunks["data"]) > 0
    chunk = chunks["data"][0]
    state = {"revision": 0, "is_current": True, "current_chunk_id": chunk["id"]}
    assert (await http.get(f"/api/v1/chunks/by-id/{chunk['id']}")).json()["data"] == chunk | state
    place = chunk["place"]
    assert text[place["start"] : place["end"]].strip() in chunk["content"] or chunk["content"] in text
    assert (await http.get(f"/api/v1/knowledge/{document_id}/pages/1")).status_code == 422
    assert (await http.get(f"/api/v1/knowledge/{document_id}/pages/0")).status_code == 422


async def test_a_chunk_is_switched_off_and_on(app: App, http: httpx2.AsyncClient, base_id: str) -> None:
    body = {"title": "Правила", "content": "Проезд возмещают."}
    document_id = (await http.post(f"/api/v1/knowledge-bases/{base_id}/knowledge/manual", json=body)).json()["data"][
        "id"
    ]
    scope = await app.access.document(LOCAL_PRINCIPAL, document_id)
    await app.documents.wait(scope, [document_id], timeout=30)
    chunk_id = (await http.get(f"/api/v1/chunks/{document_id}")).json()["data"][0]["id"]
    for enabled, found in ((False, 0), (True, 1)):
        path = f"/api/v1/chunks/{document_id}/{chunk_id}"
        assert (await http.put(path, json={"is_enabled": enabled})).json()["data"]["is_enabled"] is enabled
        results = (
            await http.post("/api/v1/knowledge-search", json={"query": "проезд", "knowledge_base_ids": [base_id]})
        ).json()["data"]
        assert len(results) == found


async def test_lists_are_paged_and_filtered(http: httpx2.AsyncClient, base_id: str) -> None:
    for number in range(5):
        await upload(http, base_id, f"file-{number}.txt", f"text {number}".encode(), source=f"/a/{number % 2}/{number}")
    path = f"/api/v1/knowledge-bases/{base_id}/knowledge"

    async def names(**params: Any) -> tuple[list[str], int]:
        listed = (await http.get(path, params=params)).json()
        assert listed["success"] is True
        return sorted(row["file_name"] for row in listed["data"]), listed["total"]

    everything, total = await names()
    assert (len(everything), total) == (5, 5)
    pages = [(await names(page=page, page_size=2))[0] for page in (1, 2, 3, 4)]
    assert sorted(name for page in pages for name in page) == everything
    assert await names(keyword="file-3") == (["file-3.txt"], 1)
    assert (await names(source="/a/1/"))[0] == ["file-1.txt", "file-3.txt"]
    for params, field in (
        ({"page": 0}, "page"),
        ({"page_size": 0}, "page_size"),
        ({"page_size": 101}, "page_size"),
        ({"page": "x"}, "page"),
        ({"status": "odd"}, "status"),
    ):
        response = await http.get(path, params=params)
        assert response.status_code == 422
        assert response.json()["error"]["details"]["field"] == field


async def test_a_deleted_document_is_gone_at_once(http: httpx2.AsyncClient, base_id: str) -> None:
    document_id = (await upload(http, base_id, "a.txt", b"one")).json()["data"]["id"]
    assert (await http.delete(f"/api/v1/knowledge/{document_id}")).json() == {
        "success": True,
        "data": {"id": document_id},
    }
    assert (await http.get(f"/api/v1/knowledge/{document_id}")).status_code == 404
    assert (await http.delete(f"/api/v1/knowledge/{document_id}")).status_code == 404
    assert (await http.get(f"/api/v1/knowledge-bases/{base_id}/knowledge")).json()["total"] == 0


async def test_an_answer_that_cites_a_deleted_document_still_opens(
    app: App, http: httpx2.AsyncClient, base_id: str
) -> None:
    body = {"title": "Проезд", "content": "Расходы на проезд возмещают после возвращения из командировки."}
    path = f"/api/v1/knowledge-bases/{base_id}/knowledge/manual"
    document_id = (await http.post(path, json=body)).json()["data"]["id"]
    await app.documents.wait(scope_of(LOCAL_PRINCIPAL, base_id), [document_id], timeout=30)
    session_id = (await http.post("/api/v1/sessions", json={})).json()["data"]["id"]
    asked = {"query": "Когда возмещают проезд?", "knowledge_base_ids": [base_id]}
    assert (await http.post(f"/api/v1/knowledge-chat/{session_id}", json=asked)).status_code == 200
    history = f"/api/v1/messages/{session_id}/load"
    answer = (await http.get(history)).json()["data"][-1]
    (cited,) = (await http.get(f"/api/v1/messages/{answer['id']}/citations")).json()["data"]
    assert cited["knowledge_id"] == document_id
    await http.delete(f"/api/v1/knowledge/{document_id}")
    assert (await http.get(history)).json()["data"][-1] == answer
    (kept,) = (await http.get(f"/api/v1/messages/{answer['id']}/citations")).json()["data"]
    assert (kept["content"], kept["support"]) == (cited["content"], cited["support"])
    assert (await http.get(f"/api/v1/chunks/by-id/{cited['chunk_id']}")).status_code == 404, "shown as removed"
    asked["query"] = "А когда ещё возмещают проезд?"
    again = await http.post(f"/api/v1/knowledge-chat/{session_id}", json=asked)
    assert "из командировки" not in again.text, "the last answer's references do not bring it back"


async def test_a_document_is_read_again_from_its_stored_bytes(app: App, http: httpx2.AsyncClient, base_id: str) -> None:
    document = (await upload(http, base_id, "again.txt", "Читай меня ещё раз.".encode())).json()["data"]
    scope = scope_of(LOCAL_PRINCIPAL, base_id)
    await app.documents.wait(scope, [document["id"]], timeout=60)
    again = await http.post(f"/api/v1/knowledge/{document['id']}/reparse")
    assert again.json()["data"]["parse_status"] == "pending"
    [read] = await app.documents.wait(scope, [document["id"]], timeout=60)
    assert (read.parse_status.value, read.chunk_count) == ("completed", 1)
