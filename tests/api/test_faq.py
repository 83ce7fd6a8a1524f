"""FAQ entries over HTTP, from an imported file to the streamed answer."""

from __future__ import annotations

import asyncio
import csv
import io
import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import httpx2
import pytest

from opora.bootstrap import App
from opora.bootstrap.models import Models
from opora.domain.scope import LOCAL_PRINCIPAL
from opora.settings import Settings

from .conftest import client_of
from .letters import LetterEmbedder


@pytest.fixture
def embedder() -> LetterEmbedder:
    return LetterEmbedder()


@pytest.fixture
async def app(tmp_path: Path, embedder: LetterEmbedder) -> AsyncIterator[App]:
    opened = await App.open(Settings(data=tmp_path), models=Models(embedder=embedder, chat=None))
    yield opened
    await opened.close()


@pytest.fixture
async def http(app: App) -> AsyncIterator[httpx2.AsyncClient]:
    async with client_of(app) as client:
        yield client


async def faq_base(http: httpx2.AsyncClient, **more: Any) -> str:
    there = (await http.get("/api/v1/knowledge-bases")).json()["total"]
    made = await http.post("/api/v1/knowledge-bases", json={"name": f"Вопросы {there}", "type": "faq", **more})
    assert made.status_code == 201, made.text
    return str(made.json()["data"]["id"])


def of(base: str) -> str:
    return f"/api/v1/knowledge-bases/{base}/faq"


def entry(question: str, *answers: str, **more: Any) -> dict[str, Any]:
    return {"standard_question": question, "answers": list(answers or ["Да."]), **more}


async def add(http: httpx2.AsyncClient, base: str, *args: Any, **more: Any) -> dict[str, Any]:
    made = await http.post(f"{of(base)}/entry", json=entry(*args, **more))
    assert made.status_code == 201, made.text
    data: dict[str, Any] = made.json()["data"]
    return data


async def found(http: httpx2.AsyncClient, base: str, query: str, **more: Any) -> list[dict[str, Any]]:
    answer = await http.post(f"{of(base)}/search", json={"query_text": query, **more})
    assert answer.status_code == 200, answer.text
    data: list[dict[str, Any]] = answer.json()["data"]
    return data


async def imported(app: App, http: httpx2.AsyncClient, base: str, **options: Any) -> dict[str, Any]:
    started = await http.post(f"{of(base)}/entries", **options)
    assert started.status_code == 202, started.text
    await app.jobs.idle()
    told = await http.get(f"/api/v1/faq/import/progress/{started.json()['data']['task_id']}")
    data: dict[str, Any] = told.json()["data"]
    return data


async def asked(http: httpx2.AsyncClient, base: str, query: str, *more: str) -> str:
    session = (await http.post("/api/v1/sessions", json={})).json()["data"]["id"]
    answer = await http.post(
        f"/api/v1/knowledge-chat/{session}",
        json={"query": query, "knowledge_base_ids": [base, *more], "disable_title": True},
    )
    assert answer.status_code == 200, answer.text
    events = [json.loads(line[5:]) for line in answer.text.splitlines() if line.startswith("data:")]
    return "".join(event.get("content", "") for event in events if event.get("response_type") == "answer")


async def tag_of(http: httpx2.AsyncClient, base_id: str, name: str = "Метка") -> str:
    made = await http.post(f"/api/v1/knowledge-bases/{base_id}/tags", json={"name": name})
    return str(made.json()["data"]["id"])


async def test_an_entry_is_kept_found_changed_and_taken_out(
    app: App, http: httpx2.AsyncClient, embedder: LetterEmbedder
) -> None:
    base = await faq_base(http)
    made = await add(http, base, "Как оформить отпуск?", "Подайте заявление.", similar_questions=["Хочу отдохнуть"])
    assert made["seq_id"] == 1
    await app.jobs.idle()
    assert sorted(embedder.embedded) == ["Как оформить отпуск?", "Хочу отдохнуть"]
    hits = await found(http, base, "хочу отдохнуть")
    assert [hit["id"] for hit in hits] == [made["id"]]
    assert hits[0]["score"] == pytest.approx(1.0, abs=1e-5)

    embedder.embedded.clear()
    changed = await http.put(f"{of(base)}/entry/1", json={"similar_questions": ["Где взять выходной?"]})
    assert changed.json()["data"]["standard_question"] == "Как оформить отпуск?"
    assert [hit["score"] for hit in await found(http, base, "хочу отдохнуть") if hit["score"] > 0.9] == []
    await app.jobs.idle()
    assert embedder.embedded == ["Где взять выходной?"]
    assert (await found(http, base, "Где взять выходной"))[0]["score"] == pytest.approx(1.0, abs=1e-5)

    assert (await http.delete(f"{of(base)}/entry/{made['id']}")).status_code == 200
    assert await found(http, base, "Как оформить отпуск?") == []
    await app.jobs.idle()
    assert (await add(http, base, "Новый вопрос"))["seq_id"] == 2


async def test_forms_are_in_no_list_and_the_faq_in_no_list_of_documents(app: App, http: httpx2.AsyncClient) -> None:
    base = await faq_base(http)
    made = await add(http, base, "Один?", similar_questions=["Два?", "Три?"])
    await app.jobs.idle()
    listed = await http.get(f"/api/v1/chunks/{made['knowledge_id']}")
    assert [chunk["chunk_type"] for chunk in listed.json()["data"]] == ["faq"]
    assert listed.json()["total"] == 1
    assert (await http.get(f"/api/v1/knowledge-bases/{base}/knowledge")).json()["total"] == 0
    assert (await http.post(f"/api/v1/knowledge/{made['knowledge_id']}/reparse")).status_code == 422
    scope = await app.access.bases(LOCAL_PRINCIPAL, [base])
    held = await app._engine.chunk_ids(scope, base, with_vector=True)
    assert len(held) == 3
    form = next(iter(held)).replace("#", "%23")
    assert (await http.get(f"/api/v1/chunks/by-id/{form}")).status_code == 404
    hits = await http.post(f"/api/v1/knowledge-bases/{base}/hybrid-search", json={"query_text": "Два?"})
    assert [hit["id"] for hit in hits.json()["data"]] == [made["id"]]


async def test_a_question_belongs_to_one_entry(app: App, http: httpx2.AsyncClient) -> None:
    base = await faq_base(http)
    made = await add(http, base, "Как войти?", similar_questions=["Где вход?"])
    for question in ("как  ВОЙТИ?", " где вход? "):
        again = await http.post(f"{of(base)}/entry", json=entry(question))
        assert again.status_code == 409
        assert again.json()["data"]["id"] == made["id"]
    other = await add(http, base, "Как выйти?")
    taken = await http.put(f"{of(base)}/entry/{other['seq_id']}", json={"similar_questions": ["Где вход?"]})
    assert taken.status_code == 409
    assert taken.json()["data"]["id"] == made["id"]
    assert (await http.put(f"{of(base)}/entry/1", json={"answers": ["Так."]})).status_code == 200
    assert (await add(http, await faq_base(http), "Как войти?"))["seq_id"] == 1


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"standard_question": "  "}, "standard_question"),
        ({"standard_question": "а" * 1001}, "standard_question"),
        ({"answers": []}, "answers"),
        ({"answers": [str(number) for number in range(21)]}, "answers"),
        ({"similar_questions": [str(number) for number in range(101)]}, "similar_questions"),
        ({"negative_questions": ["как ВОЙТИ?"]}, "negative_questions"),
        ({"answer_strategy": "some"}, "answer_strategy"),
    ],
)
async def test_what_does_not_fit_is_named(http: httpx2.AsyncClient, more: dict[str, Any], field: str) -> None:
    base = await faq_base(http)
    refused = await http.post(f"{of(base)}/entry", json={**entry("Как войти?"), **more})
    assert refused.status_code == 422
    assert refused.json()["error"]["details"]["field"] == field


async def test_entries_are_kept_in_faq_bases_only(http: httpx2.AsyncClient) -> None:
    made = await http.post("/api/v1/knowledge-bases", json={"name": "Файлы"})
    base = made.json()["data"]["id"]
    assert (await http.post(f"{of(base)}/entry", json=entry("Как?"))).status_code == 422
    assert (await http.get(f"{of(base)}/entries")).status_code == 422


async def test_answers_are_indexed_where_the_base_says_so(app: App, http: httpx2.AsyncClient) -> None:
    without = await faq_base(http)
    base = await faq_base(http, faq_config={"index_mode": "question_answer"})
    for one in (without, base):
        await add(http, one, "Как войти?", "Через проходную на улице Садовой")
    await app.jobs.idle()
    query = "Через проходную на улице Садовой"
    assert (await found(http, base, query))[0]["score"] == pytest.approx(1.0, abs=1e-5)
    assert all(hit["score"] < 0.5 for hit in await found(http, without, query))


async def test_switches_and_tags_of_many(app: App, http: httpx2.AsyncClient) -> None:
    base = await faq_base(http)
    tag = await tag_of(http, base)
    one, two = await add(http, base, "Первый вопрос?"), await add(http, base, "Второй вопрос?")
    await app.jobs.idle()
    told = await http.put(
        f"{of(base)}/entries/fields", json={"ids": [1, two["id"]], "is_enabled": False, "is_recommended": True}
    )
    assert [(row["is_enabled"], row["is_recommended"]) for row in told.json()["data"]] == [(False, True)] * 2
    assert await found(http, base, "Первый вопрос?") == []
    await http.put(f"{of(base)}/entries/fields", json={"ids": [1, 2], "is_enabled": True})
    await http.put(f"{of(base)}/entries/tags", json={"ids": [2], "tag_ids": [tag]})
    assert {hit["id"] for hit in await found(http, base, "Первый вопрос?")} == {one["id"], two["id"]}
    assert [hit["id"] for hit in await found(http, base, "Первый вопрос?", tag_ids=[tag])] == [two["id"]]
    for query, ids in (
        (f"tag_id={tag}", [2]),
        ("is_enabled=false", []),
        ("is_recommended=true", [1, 2]),
        ("keyword=ВТОРОЙ", [2]),
        ("page_size=1&page=2", [2]),
    ):
        listed = await http.get(f"{of(base)}/entries?{query}")
        assert [row["seq_id"] for row in listed.json()["data"]] == ids, query
    refused = await http.put(f"{of(base)}/entries/fields", json={"ids": [1, 99], "is_enabled": False})
    assert refused.status_code == 404
    assert len((await http.get(f"{of(base)}/entries?is_enabled=true")).json()["data"]) == 2
    await app.jobs.idle()
    assert [hit["id"] for hit in await found(http, base, "Второй вопрос?", tag_ids=[tag])] == [two["id"]]
    gone = await http.request("DELETE", f"{of(base)}/entries", json={"ids": [1, 2]})
    assert gone.json()["data"]["ids"] == [one["id"], two["id"]]
    assert (await http.get(f"{of(base)}/entries")).json()["total"] == 0


def hundred(bad: Sequence[int] = ()) -> list[Any]:
    return [
        entry(f"Вопрос номер {number}?", f"Ответ {number}") if number not in bad else entry("", "Ответ")
        for number in range(1, 101)
    ]


async def test_three_bad_rows_of_a_hundred(app: App, http: httpx2.AsyncClient) -> None:
    base = await faq_base(http)
    rows = hundred([7, 50, 100])
    dry = await http.post(f"{of(base)}/entries", json={"entries": rows, "dry_run": True})
    assert dry.status_code == 200
    assert (dry.json()["data"]["added"], dry.json()["data"]["failed"]) == (97, 3)
    assert (await http.get(f"{of(base)}/entries")).json()["total"] == 0
    task = await imported(app, http, base, json={"entries": rows})
    assert (task["status"], task["total"], task["done"], task["added"]) == ("completed", 100, 100, 97)
    assert [problem["row"] for problem in task["problems"]] == [7, 50, 100]
    assert {problem["field"] for problem in task["problems"]} == {"standard_question"}
    assert (await http.get(f"{of(base)}/entries")).json()["total"] == 97

    refused = await imported(app, http, base, json={"entries": hundred([1]), "mode": "replace"})
    assert refused["status"] == "failed"
    assert [problem["row"] for problem in refused["problems"]] == [1]
    assert (await http.get(f"{of(base)}/entries")).json()["total"] == 97


async def test_a_replacement_keeps_what_stays(app: App, http: httpx2.AsyncClient, embedder: LetterEmbedder) -> None:
    base = await faq_base(http)
    await imported(app, http, base, json={"entries": hundred()})
    kept = (await http.get(f"{of(base)}/entry/5")).json()["data"]["id"]
    embedder.embedded.clear()
    rows = [entry("Вопрос номер 5?", "Иначе"), entry("Совсем другое?")]
    task = await imported(app, http, base, json={"entries": rows, "mode": "replace"})
    assert (task["status"], task["added"]) == ("completed", 2)
    listed = (await http.get(f"{of(base)}/entries")).json()["data"]
    assert [(row["seq_id"], row["answers"]) for row in listed] == [(5, ["Иначе"]), (101, ["Да."])]
    assert listed[0]["id"] == kept
    assert embedder.embedded == ["Совсем другое?"]
    scope = await app.access.bases(LOCAL_PRINCIPAL, [base])
    assert len(await app._engine.chunk_ids(scope, base)) == 2


async def test_repeated_questions_are_refused_by_row(app: App, http: httpx2.AsyncClient) -> None:
    base = await faq_base(http)
    made = await add(http, base, "Есть уже?")
    rows = [entry("Новый?"), entry("новый?"), entry("ЕСТЬ уже?"), "не запись"]
    task = await imported(app, http, base, json={"entries": rows})
    assert (task["added"], task["done"]) == (1, 4)
    assert {problem["row"]: problem["entry_id"] for problem in task["problems"]} == {2: "", 3: made["id"], 4: ""}


@pytest.mark.parametrize(
    "head",
    [
        "Вопрос;Похожие вопросы;Ответ;Включено",
        "question;similar questions;answers;enabled",
        "标准问题;相似问题;答案;是否启用",
    ],
)
async def test_columns_in_three_languages(app: App, http: httpx2.AsyncClient, head: str) -> None:
    base = await faq_base(http)
    text = f"{head}\nКак войти?;Где вход##Куда идти;Через дверь;да\nКак выйти?;;Так же;нет\n"
    data = text.encode("utf-8" if "标" in head else "cp1251")
    task = await imported(app, http, base, files={"file": ("faq.csv", data)})
    assert (task["added"], task["problems"]) == (2, [])
    first, second = (await http.get(f"{of(base)}/entries")).json()["data"]
    assert first["similar_questions"] == ["Где вход", "Куда идти"]
    assert (first["answers"], first["is_enabled"], second["is_enabled"]) == (["Через дверь"], True, False)


async def test_an_export_is_read_again_as_it_was(app: App, http: httpx2.AsyncClient) -> None:
    base = await faq_base(http)
    await add(
        http,
        base,
        "=HYPERLINK(1)",
        "+7 900\nдоб. 1",
        "##",
        similar_questions=["@a", "'=b", "[1]"],
        negative_questions=["-1", 'строка, «кавычки» "и" ;'],
        answer_strategy="random",
        is_enabled=False,
        is_recommended=True,
        tag_ids=[await tag_of(http, base)],
    )
    await add(http, base, '["один"]', "'=1+1")
    await app.jobs.idle()
    before = (await http.get(f"{of(base)}/entries")).json()["data"]
    for kind in ("csv", "json"):
        exported = await http.get(f"{of(base)}/entries/export?format={kind}")
        assert exported.status_code == 200
        if kind == "csv":
            cells = [cell for row in csv.reader(io.StringIO(exported.content.decode("utf-8-sig"))) for cell in row]
            assert not [cell for cell in cells if cell[:1] in ("=", "+", "-", "@", "\t", "\r")]
        other = await faq_base(http)
        task = await imported(app, http, other, files={"file": (f"faq.{kind}", exported.content)})
        assert task["problems"] == []
        after = (await http.get(f"{of(other)}/entries")).json()["data"]
        own = {"id", "knowledge_base_id", "knowledge_id", "tag_ids", "state"}
        names = [name for name in before[0] if name not in own]
        names = [name for name in names if not name.endswith("_at")]
        assert [{n: row[n] for n in names} for row in after] == [{n: row[n] for n in names} for row in before]


async def test_bad_files_are_refused(http: httpx2.AsyncClient) -> None:
    base = await faq_base(http)
    for name, data in (
        ("a.csv", b"x;y\n1;2\n"),
        ("a.json", b"{"),
        ("a.exe", b"abc"),
        ("a.xlsx", b"PK\x03\x04 damaged"),
    ):
        refused = await http.post(f"{of(base)}/entries", files={"file": (name, data)})
        assert refused.status_code == 422, (name, refused.text)
    assert (await http.post(f"{of(base)}/entries", json={"entries": []})).status_code == 422
    assert (await http.post(f"{of(base)}/entries", content=b"{")).status_code == 422


async def test_a_story_of_five_hundred_rows(app: App, http: httpx2.AsyncClient) -> None:
    """Import, ask, correct, ask again, silence, disable, take back: each step shows in search and in the answer."""
    base = await faq_base(http)
    lines = ["Вопрос,Ответ", "Когда возмещают проезд?,После поездки за три дня."]
    lines += [f"Тема {number * 7919} пункт {number}?,Ответ {number}." for number in range(499)]
    task = await imported(app, http, base, files={"file": ("faq.csv", "\n".join(lines).encode())})
    assert (task["status"], task["added"]) == ("completed", 500)
    question = "Когда возмещают проезд?"
    assert "После поездки за три дня." in await asked(http, base, question)

    assert (await http.put(f"{of(base)}/entry/1", json={"answers": ["За пять дней."]})).status_code == 200
    answer = await asked(http, base, question)
    assert "За пять дней." in answer
    assert "три дня" not in answer

    await http.put(f"{of(base)}/entry/1", json={"negative_questions": ["проезд на такси"]})
    assert [hit["seq_id"] for hit in await found(http, base, "  Проезд  на ТАКСИ ") if hit["seq_id"] == 1] == []
    assert "За пять дней." not in await asked(http, base, "Проезд на такси")
    assert "За пять дней." in await asked(http, base, question)

    await http.put(f"{of(base)}/entries/fields", json={"ids": [1], "is_enabled": False})
    assert "За пять дней." not in await asked(http, base, question)
    await http.put(f"{of(base)}/entries/fields", json={"ids": [1], "is_enabled": True})
    await http.put(f"{of(base)}/entry/1", json={"answers": ["После поездки за три дня."], "negative_questions": []})
    assert "После поездки за три дня." in await asked(http, base, question)
    await app.jobs.idle()
    assert "После поездки за три дня." in await asked(http, base, question)


async def test_beside_documents_an_exact_entry_answers_too(app: App, http: httpx2.AsyncClient) -> None:
    base = await faq_base(http)
    await add(http, base, "Когда возмещают проезд?", "За пять дней после поездки.")
    made = await http.post("/api/v1/knowledge-bases", json={"name": "Файлы"})
    other = made.json()["data"]["id"]
    text = {"title": "Проезд", "content": "Расходы на проезд возмещают по отчёту, когда вернётся сотрудник."}
    await http.post(f"/api/v1/knowledge-bases/{other}/knowledge/manual", json=text)
    await app.jobs.idle()
    answer = await asked(http, base, "Когда возмещают проезд?", other)
    assert answer.startswith("> За пять дней после поездки.")
    assert "Q:" not in answer


async def test_one_of_several_answers_is_the_same_for_the_same_question(app: App, http: httpx2.AsyncClient) -> None:
    base = await faq_base(http)
    answers = [f"Ответ {letter}." for letter in "абвгд"]
    await add(http, base, "Что выбрать?", *answers, answer_strategy="random")
    await app.jobs.idle()
    said = {await asked(http, base, "Что выбрать?") for _ in range(3)}
    assert len({next(one for one in answers if one in text) for text in said}) == 1
    assert sum(one in next(iter(said)) for one in answers) == 1


async def test_two_at_once_with_the_same_question(http: httpx2.AsyncClient) -> None:
    base = await faq_base(http)
    codes = await asyncio.gather(*(http.post(f"{of(base)}/entry", json=entry("Кто первый?")) for _ in range(4)))
    assert sorted(answer.status_code for answer in codes) == [201, 409, 409, 409]


async def test_two_edits_at_once_and_the_second_sees_both_versions(http: httpx2.AsyncClient) -> None:
    base = await faq_base(http)
    read = await add(http, base, "Как получить пропуск?", "В отделе кадров.")
    place = f"{of(base)}/entry/{read['id']}"
    first = await http.put(place, json={"answers": ["На проходной."], "state": read["state"]})
    assert first.status_code == 200
    second = await http.put(place, json={"answers": ["В бюро пропусков."], "state": read["state"]})
    assert (second.status_code, second.json()["error"]["code"]) == (409, 1005)
    both = second.json()["data"]
    assert (both["current"]["answers"], both["yours"]["answers"]) == (["На проходной."], ["В бюро пропусков."])
    assert both["current"]["state"] == first.json()["data"]["state"] != read["state"]
    assert (await http.get(place)).json()["data"]["answers"] == ["На проходной."]
    again = await http.put(place, json={"answers": ["В бюро пропусков."], "state": both["current"]["state"]})
    assert again.json()["data"]["answers"] == ["В бюро пропусков."]
    unasked = await http.put(place, json={"is_recommended": True})
    assert unasked.status_code == 200


@pytest.mark.parametrize("field", ["answers", "similar_questions", "negative_questions", "is_enabled", "tag_ids"])
async def test_whatever_is_changed_the_state_is_another_one(http: httpx2.AsyncClient, field: str) -> None:
    base = await faq_base(http)
    before = await add(http, base, "Вопрос?", "Ответ.")
    value = {"is_enabled": False, "tag_ids": [await tag_of(http, base)]}.get(field, ["Другое"])
    changed = await http.put(f"{of(base)}/entry/{before['id']}", json={field: value})
    assert changed.json()["data"]["state"] != before["state"]


TAGGED = "Вопрос;Ответ;Теги\nОдин?;Да.;Кадры##новая\nДва?;Да.;НОВАЯ\nТри?;Да.;\n"


async def test_tags_are_named_in_a_file_and_made_where_they_are_not_there(app: App, http: httpx2.AsyncClient) -> None:
    base = await faq_base(http)
    there = await tag_of(http, base, "кадры")
    tried = await http.post(
        f"{of(base)}/entries", files={"file": ("faq.csv", TAGGED.encode())}, data={"dry_run": "true"}
    )
    assert (tried.json()["data"]["new_tags"], tried.json()["data"]["failed"]) == (["новая"], 0)
    assert len((await http.get(f"/api/v1/knowledge-bases/{base}/tags")).json()["data"]) == 1
    task = await imported(app, http, base, files={"file": ("faq.csv", TAGGED.encode())})
    assert (task["added"], task["problems"]) == (3, [])
    tags = {one["name"]: one["id"] for one in (await http.get(f"/api/v1/knowledge-bases/{base}/tags")).json()["data"]}
    assert tags.keys() == {"кадры", "новая"}
    assert tags["кадры"] == there
    entries = (await http.get(f"{of(base)}/entries")).json()["data"]
    assert {one["standard_question"]: set(one["tag_ids"]) for one in entries} == {
        "Один?": set(tags.values()),
        "Два?": {tags["новая"]},
        "Три?": set(),
    }
    assert [hit["standard_question"] for hit in await found(http, base, "Два?", tag_ids=[there])] == ["Один?"]


async def test_an_export_takes_its_tags_along_to_another_base(app: App, http: httpx2.AsyncClient) -> None:
    base, other = await faq_base(http), await faq_base(http)
    await add(http, base, "Вопрос?", "Ответ.", tag_ids=[await tag_of(http, base, "Склад")])
    for kind in ("csv", "json"):
        exported = await http.get(f"{of(base)}/entries/export?format={kind}")
        await imported(app, http, other, files={"file": (f"faq.{kind}", exported.content)}, data={"mode": "replace"})
        (tag,) = (await http.get(f"/api/v1/knowledge-bases/{other}/tags")).json()["data"]
        (copied,) = (await http.get(f"{of(other)}/entries")).json()["data"]
        assert (tag["name"], copied["tag_ids"]) == ("Склад", [tag["id"]])


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"tag_ids": ["gone"]}, "tag_ids"),
        ({"tags": ["x" * 101]}, "name"),
        ({"tags": [str(n) for n in range(51)]}, "tags"),
    ],
)
@pytest.mark.parametrize("mode", ["append", "replace"])
async def test_a_tag_that_is_gone_or_none_refuses_its_row(
    app: App, http: httpx2.AsyncClient, values: dict[str, Any], field: str, mode: str
) -> None:
    base = await faq_base(http)
    await add(http, base, "Прежний?", "Да.")
    rows = [entry("Хороший?", tags=["метка"]), entry("Плохой?", **values)]
    task = await imported(app, http, base, json={"entries": rows, "mode": mode})
    assert [(one["row"], one["field"]) for one in task["problems"]] == [(2, field)]
    kept = {one["standard_question"] for one in (await http.get(f"{of(base)}/entries")).json()["data"]}
    tags = (await http.get(f"/api/v1/knowledge-bases/{base}/tags")).json()["data"]
    assert kept == ({"Прежний?", "Хороший?"} if mode == "append" else {"Прежний?"})
    assert len(tags) == (1 if mode == "append" else 0)


async def test_files_are_read_in_the_guarded_child(app: App, http: httpx2.AsyncClient) -> None:
    base = await faq_base(http)
    bomb = (Path(__file__).parents[1] / "cases/files/archive/bomb_ratio.docx").read_bytes()
    refused = await http.post(f"{of(base)}/entries", files={"file": ("faq.xlsx", bomb)})
    assert refused.status_code == 422, refused.text
    assert "unpack" in refused.text or "archive" in refused.text
    headless = await http.post(f"{of(base)}/entries", files={"file": ("faq.csv", b"a,b\n1,2\n")})
    assert headless.status_code == 422
    assert "no column of questions" in headless.text
    assert app._parser.pids, "a child was asked"
    assert (await imported(app, http, base, files={"file": ("faq.csv", TAGGED.encode())}))["added"] == 3
