"""Search, questions, documents and checks on a data folder that this process opens itself."""

from __future__ import annotations

import json
import shutil
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from opora.bootstrap import plugin_order
from opora.cli import doctor
from opora.cli.exits import Exit
from opora.domain.settings import RetrievalSettings
from opora.settings import Settings
from opora.store.owner import FolderOwner

from .conftest import QUESTION, Opora, write_files

RESULT_FIELDS = {
    *("id", "content", "knowledge_id", "knowledge_title", "knowledge_filename", "chunk_index", "chunk_type"),
    *("parent_chunk_id", "sub_chunk_id", "score", "match_type", "metadata", "image_info", "knowledge_base_id"),
    "knowledge_source",
}


@pytest.mark.parametrize("mode", ["fulltext", "hybrid"])
def test_search_prints_results_with_the_documented_fields(loaded: Opora, mode: str) -> None:
    result = loaded("search", "carry over leave", "--mode", mode, "--json")
    assert (result.code, result.err) == (Exit.OK, "")
    assert result.json["results"][0]["knowledge_filename"] == "leave.txt"
    assert set(result.json["results"][0]) >= RESULT_FIELDS


def test_search_by_meaning_needs_a_model(loaded: Opora) -> None:
    result = loaded("search", "carry over leave", "--mode", "semantic", "--json")
    assert (result.code, result.out) == (Exit.UNAVAILABLE, "")
    assert "embedding model" in result.err


def test_what_went_wrong_on_the_way_is_said_beside_the_results(loaded: Opora) -> None:
    assert "opora: " in loaded("search", "carry over leave").err
    assert loaded("search", "carry over leave", "--json").json["warnings"]
    assert loaded("search", "carry over leave", "--mode", "fulltext").err == ""


@pytest.mark.parametrize("limit", [1, 50])
def test_the_limit_holds(loaded: Opora, limit: int) -> None:
    found = loaded("search", "the to из", "--limit", str(limit), "--json").json["results"]
    assert len(found) <= limit


def test_results_for_people_name_their_place(loaded: Opora) -> None:
    result = loaded("search", "Датчик")
    assert result.code == Exit.OK
    assert "prices.csv" in result.out
    assert "1. " in result.out


def test_search_explains_where_candidates_went(loaded: Opora) -> None:
    result = loaded("search", "Датчик ремень фильтр leave", "--limit", "1", "--explain")
    assert "Candidates" in result.out
    assert "found" in result.out
    in_words = ("search", "Датчик", "--mode", "fulltext", "--json")
    assert set(loaded(*in_words).json) == {"results"}
    assert set(loaded(*in_words, "--explain").json) == {"results", "candidates"}


@pytest.mark.parametrize("args", [("search", "x"), ("search", "x", "--json")])
def test_without_documents_search_says_how_to_load_some(opora: Opora, args: tuple[str, ...]) -> None:
    result = opora(*args)
    assert result.code == Exit.NOTHING_FOUND
    assert "opora ingest" in result.err
    assert result.out == "" or json.loads(result.out)["results"] == []


def test_nothing_found_among_documents_is_said_otherwise(loaded: Opora) -> None:
    result = loaded("search", "zzzzqqq")
    assert (result.code, result.out) == (Exit.NOTHING_FOUND, "")
    assert "Nothing found" in result.err
    assert "ingest" not in result.err


def test_a_base_that_is_not_there_is_told_with_those_that_are(loaded: Opora) -> None:
    for command in (("search", "x"), ("ask", "x"), ("documents", "list")):
        result = loaded(*command, "-b", "Nowhere")
        assert (result.code, result.out) == (Exit.FAILED, "")
        assert "Nowhere" in result.err
        assert "Documents" in result.err


def test_an_answer_has_the_documented_fields(loaded: Opora) -> None:
    result = loaded("ask", QUESTION, "--json")
    assert (result.code, result.err) == (Exit.OK, "")
    assert list(result.json) == ["answer", "references", "session_id", "message_id", "finish"]
    assert result.json["finish"] == "complete"
    assert "после возвращения" in result.json["answer"]
    assert set(result.json["references"][0]) >= RESULT_FIELDS


@pytest.mark.parametrize(
    ("question", "source"),
    [
        (QUESTION, "[1] travel.md, Командировки"),
        ("How many days of annual leave may be carried over?", "[1] leave.txt"),
        ("Сколько стоит датчик, цена?", "[1] prices.csv, row 4"),
    ],
)
def test_an_answer_for_people_names_its_sources(loaded: Opora, question: str, source: str) -> None:
    result = loaded("ask", question)
    assert (result.code, result.err) == (Exit.OK, "")
    assert result.out.startswith("Quotes from the documents")
    assert "<kb" not in result.out
    assert source in result.out.splitlines()


def test_a_session_goes_on(loaded: Opora) -> None:
    first = loaded("ask", QUESTION, "--json").json
    second = loaded("ask", "Сколько стоит ремень?", "--session", first["session_id"], "--json").json
    assert second["session_id"] == first["session_id"]
    assert second["message_id"] != first["message_id"]


@pytest.mark.parametrize("name", ["nope", "../sessions", "a/b", "%2e"])
def test_a_session_that_is_not_there_is_a_clear_error(loaded: Opora, name: str) -> None:
    result = loaded("ask", "x", "--session", name)
    assert (result.code, result.out) == (Exit.FAILED, "")
    assert f"no session '{name}'" in result.err


def test_nothing_found_has_its_own_exit_code(loaded: Opora) -> None:
    result = loaded("ask", "zzzzqqq", "--json")
    assert (result.code, result.json["finish"]) == (Exit.NOTHING_FOUND, "nothing_found")
    assert loaded("ask", "zzzzqqq").code == Exit.NOTHING_FOUND


def test_without_documents_and_model_there_is_nothing_to_answer_from(opora: Opora) -> None:
    result = opora("ask", "x", "--json")
    assert (result.code, result.json["finish"]) == (Exit.FAILED, "error")
    assert "opora ingest" in result.json["error"]
    assert "opora ingest" in opora("ask", "x").err


def test_an_answer_explains_candidates_and_settings(loaded: Opora) -> None:
    result = loaded("ask", QUESTION, "--explain")
    assert "Candidates" in result.out
    assert "Settings in force" in result.out
    shown = {
        line.split()[0]: line.split()[-1] for line in result.out.partition("Settings in force")[2].splitlines()[1:]
    }
    trace = loaded("ask", QUESTION, "--explain", "--json").json["trace"]
    assert set(trace["settings"]) == {field.name for field in fields(RetrievalSettings)} == set(shown)
    assert shown == {name: entry["origin"] for name, entry in trace["settings"].items()}
    marks = trace["candidates"][0]["marks"]
    assert {"stage", "rank", "score", "kind"} <= set(marks[0])


def test_an_explained_setting_names_the_environment(loaded: Opora) -> None:
    result = loaded("ask", QUESTION, "--explain", "--json", OPORA_RETRIEVAL='{"rerank_top_k": 3}')
    assert result.json["trace"]["settings"]["rerank_top_k"]["value"] == 3
    assert result.json["trace"]["settings"]["rerank_top_k"]["origin"] != "default"


def test_documents_are_listed_by_status_and_base(loaded: Opora) -> None:
    every = loaded("documents", "list", "--json").json["documents"]
    assert {doc["file_name"] for doc in every} == {"travel.md", "prices.csv", "leave.txt"}
    assert loaded("documents", "list", "--status", "failed", "--json").json == {"documents": []}
    assert loaded("documents", "list", "-b", "Documents", "--json").json["documents"] == every
    lines = loaded("documents", "list", "--status", "completed").out.splitlines()
    assert sorted(line.split()[0] for line in lines) == sorted(doc["id"] for doc in every)


def test_a_document_is_shown_with_its_text(loaded: Opora) -> None:
    one = next(
        doc for doc in loaded("documents", "list", "--json").json["documents"] if doc["file_name"] == "leave.txt"
    )
    assert loaded("documents", "show", one["id"], "--json").json == one
    shown = loaded("documents", "show", one["id"], "--text")
    assert "carry over ten days" in shown.out
    assert "parse_status" in shown.out


def test_documents_that_are_not_there_are_told(opora: Opora, files: Path) -> None:
    for command in (("show", "nope"), ("delete", "nope"), ("show", "../bases")):
        result = opora("documents", *command)
        assert (result.code, result.out) == (Exit.FAILED, "")
        assert command[1] in result.err
    kept, gone, *_ = opora("ingest", str(files), "--json").json["documents"]
    partly = opora("documents", "delete", gone, "nope", gone, "--json")
    assert (partly.code, partly.json) == (Exit.PARTLY, {"deleted": [gone], "missing": ["nope"]})
    left = [doc["id"] for doc in opora("documents", "list", "--json").json["documents"]]
    assert gone not in left
    assert kept in left


def test_a_document_without_text_says_why(opora: Opora, tmp_path: Path) -> None:
    folder = write_files(tmp_path / "files", {"empty.txt": ""})
    failed = opora("ingest", str(folder), "--json").json["failed"][0]
    result = opora("documents", "show", failed["id"], "--text")
    assert result.code == Exit.FAILED
    assert failed["message"] in result.err


def test_what_documents_hold_cannot_steer_the_terminal(opora: Opora, tmp_path: Path) -> None:
    write_files(tmp_path / "files", {"evil\x1b[2J.txt": "Evil words \u202e and \x9b31m more"})
    opora("ingest", str(tmp_path / "files"))
    for command in (("search", "evil words"), ("ask", "evil words"), ("documents", "list")):
        result = opora(*command)
        assert not {"\x1b", "\x9b", "\u202e"} & set(result.out)


def test_the_pipeline_is_shown_as_it_is_registered(opora: Opora) -> None:
    assert opora("pipeline", "--json").json == {"events": plugin_order()}
    lines = opora("pipeline").out.splitlines()
    assert [line.split()[1] for line in lines] == [step["event"] for step in plugin_order()]


def test_every_setting_is_shown_and_no_key(opora: Opora, tmp_path: Path) -> None:
    changes = {"OPORA_API_KEY": "hush-hush", "OPORA_CHAT_KEY": "hush-too", "OPORA_RETRIEVAL": '{"rrf_k": 10}'}
    rows = {row["name"]: row for row in opora("settings", "--json", **changes).json["settings"]}
    assert set(rows) == set(Settings.model_fields)
    assert rows["data"] == {**rows["data"], "value": str(tmp_path / "data"), "origin": "environment"}
    assert rows["port"] == {**rows["port"], "variable": "OPORA_PORT", "value": 8642, "origin": "default"}
    assert rows["engine"]["variable"] == "RETRIEVE_DRIVER"
    assert rows["retrieval"]["value"] == {"rrf_k": 10}
    assert rows["embedding_key"]["value"] is None
    for form in ((), ("--json",)):
        shown = opora("settings", *form, **changes).out
        assert "hush" not in shown
        assert "OPORA_CHAT_KEY" in shown


def test_doctor_finds_everything_well(loaded: Opora) -> None:
    report = loaded("doctor", "--json")
    assert (report.code, report.json["ok"]) == (Exit.OK, True)
    names = [check["name"] for check in report.json["checks"]]
    assert names[:4] == ["python", "data folder", "disk", "service"]
    assert "BAD" not in loaded("doctor").out


def test_doctor_says_what_is_wrong_and_how_to_mend_it(
    opora: Opora, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("x")
    monkeypatch.setattr(doctor, "LOW_DISK_BYTES", 1 << 80)
    report = opora("doctor", "--json", OPORA_DATA=str(tmp_path / "file" / "data"))
    assert (report.code, report.json["ok"]) == (Exit.FAILED, False)
    bad = {check["name"]: check["hint"] for check in report.json["checks"] if not check["ok"]}
    assert set(bad) == {"data folder", "disk", "service"}
    assert all(bad.values())


def test_a_folder_that_another_process_holds_is_busy(opora: Opora, files: Path, tmp_path: Path) -> None:
    owner = FolderOwner.take(tmp_path / "data")
    try:
        for command in (("search", "x"), ("ask", "x"), ("ingest", str(files)), ("documents", "list"), ("serve",)):
            result = opora(*command, OPORA_PORT="0")
            assert (result.code, result.out) == (Exit.UNAVAILABLE, "")
            assert "Another process is working in" in result.err
        report = opora("doctor", "--json")
        assert report.code == Exit.FAILED
        assert not report.json["ok"]
    finally:
        owner.release()
    assert opora("documents", "list").code == Exit.OK


def test_a_backup_is_restored_by_the_terminal(loaded_folder: Path, loaded: Opora, opora: Opora, tmp_path: Path) -> None:
    target = tmp_path / "b.tar.gz"
    wrote = loaded("backup", str(target), "--json")
    assert (wrote.code, wrote.json["documents"]) == (Exit.OK, 3)
    assert "3 documents" in loaded("backup", str(target)).out
    assert opora("restore", str(target), "--json").json["documents"] == 3
    refused = opora("restore", str(target))
    assert (refused.code, refused.out) == (Exit.USAGE, "")
    assert "--force" in refused.err
    assert "Restored 3 documents" in opora("restore", str(target), "--force").out
    damaged = tmp_path / "damaged.tar.gz"
    damaged.write_bytes(target.read_bytes()[:-100])
    assert opora("restore", str(damaged), "--force").code == Exit.USAGE
    assert opora("search", "Датчик", "--json").json == loaded("search", "Датчик", "--json").json


def test_nothing_to_back_up_is_a_clear_error(opora: Opora, tmp_path: Path) -> None:
    result = opora("backup", str(tmp_path / "b.tar.gz"))
    assert (result.code, result.out) == (Exit.FAILED, "")
    assert "OPORA_DATA" in result.err


@pytest.mark.parametrize("index", [True, False], ids=["with its index", "without"])
def test_a_restored_folder_is_searched_at_once(
    opora: Opora, files: Path, tmp_path: Path, index: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the index no vector is made again; without it all of them are."""
    from opora.models.null import NullEmbedder

    made: list[Any] = []
    embed = NullEmbedder.embed_passages

    async def counted(self: Any, texts: Any) -> Any:
        made.extend(text for text in texts if text != "probe")
        return await embed(self, texts)

    monkeypatch.setattr(NullEmbedder, "embed_passages", counted)
    null = {"OPORA_EMBEDDING": "null"}
    opora("ingest", str(files), **null)
    vectors = len(made)
    assert vectors
    before = opora("search", QUESTION, "--json", **null).json
    opora("backup", str(tmp_path / "b.tar.gz"), **null)
    shutil.rmtree(tmp_path / "data")
    opora("restore", str(tmp_path / "b.tar.gz"), **null)
    if not index:
        (tmp_path / "data" / "index.db").unlink()
        opora("ingest", str(files), **null)
    assert opora("search", QUESTION, "--json", **null).json == before
    assert len(made) == vectors * (1 if index else 2)
