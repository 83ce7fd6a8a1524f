"""Agents are listed and shown in the terminal, and a question is asked of one by its name or id."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

from opora.bootstrap import App
from opora.cli.exits import Exit
from opora.domain.scope import LOCAL_PRINCIPAL, Scope
from opora.settings import Settings

from .conftest import QUESTION, Opora


async def make_agent(folder: Path, name: str) -> str:
    """Agents are made over HTTP; this is the use case behind it."""
    app = await App.open(Settings(data=folder, embedding="none"))
    admin = Scope(principal=replace(LOCAL_PRINCIPAL, is_admin=True))
    made = await app.agents.create(admin, name=name, settings={"rerank_top_k": 1})
    await app.close()
    return made.agent_id


def test_an_agent_is_listed_shown_and_asked(opora: Opora, files: Path, tmp_path: Path) -> None:
    assert opora("ingest", str(files)).code == Exit.OK
    agent_id = asyncio.run(make_agent(tmp_path / "data", "Юрист"))
    assert [one["name"] for one in opora("agents", "list", "--json").json["agents"]][1:] == ["Юрист"]
    assert agent_id in opora("agents", "list").out
    assert "rerank_top_k" in opora("agents", "show", "юрист").out
    assert opora("agents", "show", agent_id, "--json").json["settings"] == {"rerank_top_k": 1}

    for named in ("Юрист", agent_id):
        asked = opora("ask", QUESTION, "--agent", named, "--explain", "--json").json
        assert asked["trace"]["settings"]["rerank_top_k"]["value"] == 1
        assert asked["trace"]["settings"]["rerank_top_k"]["origin"] == "agent"


def test_an_agent_that_is_not_there_is_named_with_those_that_are(loaded: Opora) -> None:
    for command in (("agents", "show"), ("ask", QUESTION, "--agent")):
        told = loaded(*command, "Никто")
        assert (told.code, told.out) == (Exit.FAILED, "")
        assert "There is no agent 'Никто'" in told.err
