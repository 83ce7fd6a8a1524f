"""Plugins of other packages: found by entry point, put where they ask to stand, shown, and never lost unseen."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from opora.bootstrap import App, Models, plugin_order
from opora.bootstrap.outside import outside_plugins
from opora.domain.errors import InvalidInput
from opora.domain.scope import LOCAL_PRINCIPAL
from opora.models.scripted import ScriptedChat
from opora.settings import Settings

CODE = '''
from dataclasses import replace

from opora.pipeline.events import EventType


class Shout:
    """Asks in capitals."""

    name = "shout"
    events = frozenset({EventType.CHAT_COMPLETION_STREAM})
    before = "chat_completion_stream"

    def __init__(self, services):
        self.services = services

    async def on_event(self, event, draft, run, call_next):
        return await call_next(replace(draft, user_content=draft.question.text.upper()))


class Late:
    name = "late"
    events = frozenset({EventType.CHUNK_RERANK})
    after = "rerank"

    def __init__(self, services):
        pass

    async def on_event(self, event, draft, run, call_next):
        return await call_next(draft)


class Taken(Late):
    name = "rerank"


class Lost(Late):
    name = "lost"
    after = "no_such_plugin"


class Nothing:
    name = "nothing"
'''


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Install a package with the given entry points, as pip would leave it on the path."""

    def install(*entries: str) -> None:
        folder = tmp_path / "site"
        info = folder / "loud_plugins-1.0.dist-info"
        info.mkdir(parents=True)
        (folder / "loud_plugins.py").write_text(CODE, encoding="utf-8")
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: loud-plugins\nVersion: 1.0\n", encoding="utf-8")
        lines = "\n".join(f"p{number} = {entry}" for number, entry in enumerate(entries))
        (info / "entry_points.txt").write_text(f"[opora.plugins]\n{lines}\n", encoding="utf-8")
        monkeypatch.syspath_prepend(str(folder))
        monkeypatch.delitem(sys.modules, "loud_plugins", raising=False)

    return install


def plugins_of(event: str) -> list[str]:
    return next(step["plugins"] for step in plugin_order() if step["event"] == event)


def test_without_any_the_order_is_our_own() -> None:
    assert outside_plugins() == []
    assert all("from" not in step for step in plugin_order())
    assert plugins_of("chunk_rerank") == ["rerank", "wiki_boost", "memory_affinity"]


def test_they_stand_where_they_ask_to_and_are_told_with_their_package(package) -> None:
    package("loud_plugins:Shout", "loud_plugins:Late")
    assert plugins_of("chat_completion_stream") == ["shout", "chat_completion_stream"]
    assert plugins_of("chunk_rerank") == ["rerank", "late", "wiki_boost", "memory_affinity"]
    step = next(one for one in plugin_order() if one["event"] == "chunk_rerank")
    assert step["from"] == {"late": "loud-plugins"}


async def test_they_take_part_in_an_answer(package, tmp_path: Path) -> None:
    package("loud_plugins:Shout")
    model = ScriptedChat(["Да"])
    app = await App.open(Settings(data=tmp_path / "d", embedding="none"), models=Models(embedder=None, chat=model))
    scope = await app.access.tenant(LOCAL_PRINCIPAL)
    session = await app.sessions.create(scope, title="т")
    asked = await app.chat.ask(scope, session.session_id, "тихо")
    async for _ in app.chat.follow(scope, session.session_id, asked.assistant_message_id):
        pass
    await app.close()
    assert model.asked[-1][-1].content == "ТИХО"


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("loud_plugins:Nothing", "is no plugin"),
        ("loud_plugins:CODE", "can't be loaded"),
        ("no_such_module:Shout", "can't be loaded"),
        ("loud_plugins:Taken", "a name that is taken"),
        ("loud_plugins:Lost", "wants to stand by 'no_such_plugin'"),
    ],
)
def test_one_that_does_not_fit_is_named_and_not_passed_over(package, entry: str, words: str) -> None:
    package(entry)
    with pytest.raises(InvalidInput, match=words) as refused:
        outside_plugins()
    assert "loud-plugins" in refused.value.message
