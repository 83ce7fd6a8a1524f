"""An installation whose database is PostgreSQL: from an upload to an answer, over a restart, for one server alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from opora.bootstrap import App, Models, write_backup
from opora.bootstrap.sharing import is_shared, make_search_engine
from opora.domain.bases import CopyStatus
from opora.domain.conversation import Finish
from opora.domain.errors import Busy, Conflict, InvalidInput
from opora.domain.scope import LOCAL_PRINCIPAL, Scope
from opora.domain.search import SearchMode, SearchRequest
from opora.engines.postgres import schema
from opora.models.null import NullEmbedder
from opora.models.scripted import ScriptedChat
from opora.settings import Settings
from opora.store import postgres

TEXT = "# Командировки\n\nРасходы на проезд возмещают по документам после возвращения.\n"
QUESTION = "Как возмещают расходы на проезд?"


def settings(folder: Path, url: str) -> Settings:
    return Settings(data=folder, embedding="none", database_url=url)


async def opened(folder: Path, url: str, chat: ScriptedChat | None = None) -> App:
    return await App.open(settings(folder, url), models=Models(embedder=None, chat=chat))


async def asked(app: App, session_id: str) -> Any:
    scope = await app.access.bases(LOCAL_PRINCIPAL)
    asked = await app.chat.ask(scope, session_id, QUESTION)
    async for _ in app.chat.follow(scope, session_id, asked.assistant_message_id):
        pass
    return await app.sessions.message(scope, asked.assistant_message_id)


async def test_documents_and_conversations_are_there_after_a_restart(tmp_path: Path, postgres_url: str) -> None:
    app = await opened(tmp_path, postgres_url)
    tenant = await app.access.tenant(LOCAL_PRINCIPAL)
    base = await app.bases.create(tenant, name="Правила")
    scope = await app.access.bases(LOCAL_PRINCIPAL, [base.base_id])
    document = await app.documents.add_text(scope, base.base_id, title="Правила", content=TEXT)
    await app.documents.wait(scope, [document.document_id], timeout=60)
    session = await app.sessions.create(tenant)
    first = await asked(app, session.session_id)
    await app.close()
    app = await opened(tmp_path, postgres_url)
    second = await asked(app, session.session_id)
    history = await app.sessions.messages(tenant, session.session_id, limit=10)
    assert [message.content for message in history if message.role == "assistant"] == [first.content, second.content]
    for message in (first, second):
        assert message.finish is Finish.COMPLETE
        assert "по документам" in message.content
        assert [citation.support for citation in message.citations] == ["supported"]
    health = {check["name"]: check for check in (await app.ready())["checks"]}
    assert health["database"]["ok"]
    assert "postgresql" in health["database"]["detail"]
    assert not (tmp_path / "opora.db").exists()
    await app.close()


async def test_a_new_folder_is_filled_from_the_database(tmp_path: Path, postgres_url: str) -> None:
    app = await opened(tmp_path / "a", postgres_url)
    tenant = await app.access.tenant(LOCAL_PRINCIPAL)
    base = await app.bases.create(tenant, name="Правила")
    scope = await app.access.bases(LOCAL_PRINCIPAL, [base.base_id])
    document = await app.documents.add_text(scope, base.base_id, title="Правила", content=TEXT)
    await app.documents.wait(scope, [document.document_id], timeout=60)
    await app.close()
    app = await opened(tmp_path / "b", postgres_url)
    await app.jobs.idle()
    session = await app.sessions.create(tenant)
    assert "по документам" in (await asked(app, session.session_id)).content
    await app.close()


async def test_a_second_server_is_kept_out_until_the_first_one_ends(tmp_path: Path, postgres_url: str) -> None:
    app = await opened(tmp_path / "a", postgres_url)
    with pytest.raises(Busy, match="Another server"):
        await opened(tmp_path / "b", postgres_url)
    await app.close()
    await (await opened(tmp_path / "b", postgres_url)).close()


def test_a_backup_of_the_folder_alone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as told:
        write_backup(settings(tmp_path, "postgresql://a:hidden-word@b/c"), tmp_path / "x.tar.gz")
    assert "pg_dump" in told.value.hint
    assert "hidden-word" not in str(settings(tmp_path, "postgresql://a:hidden-word@b/c"))


def test_no_two_advisory_locks_have_one_number() -> None:
    """The store and the engine know nothing of each other, and a database has one space of numbers."""
    locks = (postgres.WRITERS, postgres.OWNER, postgres.STARTING, schema.SETUP_LOCK)
    assert len(set(locks)) == len(locks)


def test_searching_in_postgresql_without_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as told:
        make_search_engine(Settings.model_validate({"data": tmp_path, "RETRIEVE_DRIVER": "postgres"}))
    assert "OPORA_DATABASE_URL" in told.value.hint


@pytest.mark.parametrize(
    ("engine", "log", "shared"),
    [
        ("postgres", "redis", True),
        ("postgres", "memory", False),
        ("sqlite", "redis", False),
        ("sqlite", "memory", False),
    ],
)
def test_servers_share_only_where_nothing_is_in_one_process(engine: str, log: str, shared: bool) -> None:
    values = {"RETRIEVE_DRIVER": engine, "STREAM_MANAGER_TYPE": log, "database_url": "postgresql://a@b/c"}
    assert is_shared(Settings.model_validate(values)) is shared


async def test_an_engine_that_is_come_back_to_learns_what_it_missed(tmp_path: Path, postgres_url: str) -> None:
    bases: list[str] = []
    documents: list[str] = []
    for number, engine in enumerate(("sqlite", "postgres", "sqlite", "postgres")):
        chosen = {"data": tmp_path, "embedding": "none", "database_url": postgres_url, "RETRIEVE_DRIVER": engine}
        app = await App.open(Settings.model_validate(chosen), models=Models(embedder=NullEmbedder(), chat=None))
        await app.jobs.idle()
        if not bases:
            tenant = await app.access.tenant(LOCAL_PRINCIPAL)
            bases.append((await app.bases.create(tenant, name="Правила")).base_id)
        scope = await app.access.bases(LOCAL_PRINCIPAL, bases)
        assert await found(app, scope) == documents, engine
        if documents:
            await app.documents.delete(scope, documents.pop())
        added = await app.documents.add_text(scope, bases[0], title="Правила", content=f"{TEXT}\n{number}")
        documents.append(added.document_id)
        await app.jobs.idle()
        assert await found(app, scope) == documents, engine
        await app.close()


async def found(app: App, scope: Scope) -> list[str]:
    """Documents found by each arm alone and by both, of an index that holds nothing else."""
    by_mode = []
    for mode in SearchMode:
        request = SearchRequest(query=QUESTION, mode=mode, vector_threshold=0.0)
        results = (await app.search.search(scope, request)).results
        by_mode.append(list(dict.fromkeys(result.document_id for result in results)))
    assert by_mode == by_mode[:1] * len(by_mode)
    hits = await app._engine.search_keyword(scope, QUESTION, top_k=50)
    assert {hit.document_id for hit in hits} == set(by_mode[0])
    return by_mode[0]


async def test_bases_are_copied_counted_and_kept_apart_by_name(tmp_path: Path, postgres_url: str) -> None:
    app = await App.open(settings(tmp_path, postgres_url), models=Models(embedder=NullEmbedder(8), chat=None))
    tenant = await app.access.tenant(LOCAL_PRINCIPAL)
    base = await app.bases.create(tenant, name="Правила")
    scope = await app.access.bases(LOCAL_PRINCIPAL, [base.base_id], include_disabled=True)
    document = await app.documents.add_text(scope, base.base_id, title="Правила", content=TEXT)
    await app.documents.wait(scope, [document.document_id], timeout=60)
    await app.jobs.idle()
    with pytest.raises(Conflict):
        await app.bases.create(tenant, name="ПРАВИЛА")
    task = await app.copies.start(scope, base.base_id)
    await app.jobs.idle()
    assert (await app.copies.get(tenant, task.task_id)).status is CopyStatus.COMPLETED
    copy = await app.access.bases(LOCAL_PRINCIPAL, [task.target_id], include_disabled=True)
    counted = [
        await app.index.statistics(one, base_id) for one, base_id in ((scope, base.base_id), (copy, task.target_id))
    ]
    assert (counted[0].documents, counted[0].chunks, counted[0].embedded) == ({"completed": 1}, 1, 1)
    assert counted[1] == replace(counted[0], changed_at=counted[1].changed_at)
    assert (await app.index.compare(copy, task.target_id)).is_sound
    await app.bases.delete(scope, base.base_id)
    await app.jobs.idle()
    assert (await app.index.compare(copy, task.target_id)).is_sound
    await app.close()
