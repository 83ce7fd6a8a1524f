"""Bases are listed, counted, duplicated, copied and deleted from the terminal; names find them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from opora.cli.exits import Exit
from opora.domain.scope import LOCAL_PRINCIPAL, BaseRef, Scope
from opora.engines.sqlite import SqliteEngine
from opora.jobs import mend
from opora.ports import Page
from opora.store.database import SqlDatabase

from .conftest import Opora


@pytest.fixture
def filled(opora: Opora, files: Path) -> Opora:
    """Commands on a folder with documents, for this test alone."""
    assert opora("ingest", str(files)).code == Exit.OK
    return opora


def test_a_base_is_counted_copied_and_deleted(filled: Opora) -> None:
    (base,) = filled("bases", "list", "--json").json["bases"]
    assert base["name"] in filled("bases", "list").out
    counted = filled("bases", "stats", base["name"], "--json").json
    assert (counted["id"], counted["documents"]) == (base["id"], counted["documents_by_status"]["completed"])
    assert "completed" in filled("bases", "stats", base["id"]).out

    empty = filled("bases", "duplicate", base["name"], "--json").json
    assert empty["name"] == f"{base['name']} (2)"
    copied = filled("bases", "copy", base["name"], "--name", "Копия", "--json").json
    assert (copied["status"], copied["done"]) == ("completed", counted["documents"])
    same = ("documents", "chunks", "file_bytes")
    copy = filled("bases", "stats", "копия", "--json").json
    assert {name: copy[name] for name in same} == {name: counted[name] for name in same}
    assert filled("search", "проезд", "--base", "Копия").out == filled("search", "проезд", "--base", base["name"]).out

    taken = filled("bases", "copy", base["name"], "--name", "КОПИЯ")
    assert (taken.code, taken.out) == (Exit.FAILED, "")
    assert "already" in taken.err
    assert filled("bases", "delete", "Копия", "--json").json == {"deleted": copied["target_id"]}
    assert {one["name"] for one in filled("bases", "list", "--json").json["bases"]} == {base["name"], empty["name"]}
    assert filled("bases", "stats", "Копия").code == Exit.FAILED


def test_a_name_in_other_letters_is_the_same_base(opora: Opora, files: Path) -> None:
    for name in ("Учёт", "УЧЕТ", "учет"):
        assert opora("ingest", str(files), "--base", name).code == Exit.OK
    assert [one["name"] for one in opora("bases", "list", "--json").json["bases"]] == ["Учёт"]


def test_two_bases_of_one_name_from_earlier_versions_are_told_apart_by_their_ids(
    opora: Opora, files: Path, tmp_path: Path
) -> None:
    opora("ingest", str(files), "--base", "Правила")
    asyncio.run(add_twin(tmp_path / "data"))
    for command in (("ingest", str(files)), ("search", "проезд"), ("faq", "import", str(files / "prices.csv"))):
        told = opora(*command, "--base", "Правила")
        assert (told.code, told.out) == (Exit.USAGE, ""), command
        assert "2 knowledge bases are called 'Правила'" in told.err
        assert "twin" in told.err
    assert len(opora("bases", "list", "--json").json["bases"]) == 2
    assert opora("bases", "stats", "twin", "--json").json["documents"] == 0


async def add_twin(data: Path) -> None:
    database = await SqlDatabase(f"sqlite+aiosqlite:///{data}/opora.db").open()
    async with database.begin() as stored:
        (base,) = (await stored.bases.browse(LOCAL_PRINCIPAL.tenant_id, Page())).items
        await stored.bases.add(replace(base, base_id="twin"))
    await database.close()


def test_doctor_finds_and_mends_what_the_index_lost(
    filled: Opora, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mend, "QUIET_SECONDS", 0)
    (base,) = filled("bases", "list", "--json").json["bases"]
    before = filled("search", "проезд").out
    asyncio.run(lose_rows(tmp_path / "data", base["id"]))
    report = filled("doctor", "--json")
    (index,) = [check for check in report.json["checks"] if check["name"] == "search index"]
    assert (report.code, index["ok"]) == (Exit.FAILED, False)
    assert "missing" in index["detail"]
    assert "--mend" in index["hint"]
    assert filled("doctor", "--mend").code == Exit.OK
    assert filled("doctor").code == Exit.OK
    assert filled("search", "проезд").out == before


async def lose_rows(data: Path, base_id: str) -> None:
    engine = SqliteEngine(data / "index.db")
    ref = BaseRef(base_id=base_id, tenant_id=LOCAL_PRINCIPAL.tenant_id)
    scope = Scope(principal=LOCAL_PRINCIPAL, bases=(ref,))
    await engine.delete_chunks(scope, base_id, await engine.chunk_ids(scope, base_id))
    await engine.close()


def test_an_empty_question_is_refused_before_a_session_is_made(filled: Opora, tmp_path: Path) -> None:
    for question in ("", "  \n", "\u200b"):
        refused = filled("ask", question)
        assert (refused.code, refused.out) == (Exit.USAGE, "")
        assert "The question is empty." in refused.err
    assert asyncio.run(sessions(tmp_path / "data")) == 0


async def sessions(data: Path) -> int:
    database = await SqlDatabase(f"sqlite+aiosqlite:///{data}/opora.db").open()
    async with database.read() as stored:
        found = await stored.sessions.browse(Scope(principal=LOCAL_PRINCIPAL), Page())
    await database.close()
    return found.total
