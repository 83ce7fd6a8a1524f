"""Where the events of answers are kept is a setting, in the names that users of Redis know."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from opora.bootstrap import App
from opora.bootstrap.streams import make_log, redis_url
from opora.domain.errors import InvalidInput, Unavailable
from opora.domain.stream import ResponseType, StreamEvent
from opora.settings import Settings
from opora.stream.memory import MemoryStreamLog


def settings(monkeypatch: pytest.MonkeyPatch, **variables: str) -> Settings:
    for name in ("STREAM_MANAGER_TYPE", "REDIS_ADDR", "REDIS_PASSWORD", "REDIS_DB", "REDIS_URL", "REDIS_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return Settings()


def made(chosen: Settings) -> Any:
    return make_log(chosen, clock=lambda: datetime(2026, 1, 1, tzinfo=UTC), new_id=lambda: "id")


def test_memory_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(made(settings(monkeypatch)), MemoryStreamLog)


@pytest.mark.parametrize(
    ("variables", "url"),
    [
        ({}, "redis://127.0.0.1:6379/0"),
        ({"REDIS_ADDR": "cache:7000", "REDIS_DB": "3"}, "redis://cache:7000/3"),
        ({"REDIS_ADDR": "rediss://user@cache:7000/2"}, "rediss://user@cache:7000/2"),
        ({"REDIS_URL": "redis://:secret@cache/1", "REDIS_ADDR": "other:1"}, "redis://:secret@cache/1"),
    ],
)
def test_addresses(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], url: str) -> None:
    assert redis_url(settings(monkeypatch, **variables)) == url


@pytest.mark.parametrize("address", ["http://cache:6379", "cache:none"])
def test_what_is_no_address_is_refused(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    with pytest.raises(InvalidInput) as told:
        made(settings(monkeypatch, STREAM_MANAGER_TYPE="redis", REDIS_ADDR=address))
    assert told.value.details["field"] == "redis_addr"


def test_another_kind_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValidationError):
        settings(monkeypatch, STREAM_MANAGER_TYPE="kafka")


def test_passwords_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = settings(monkeypatch, REDIS_PASSWORD="hush", REDIS_URL="redis://:hush@cache/1")
    assert "hush" not in repr(chosen)


def test_a_missing_client_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = settings(monkeypatch, STREAM_MANAGER_TYPE="redis")
    monkeypatch.delitem(sys.modules, "opora.stream.redis", raising=False)
    monkeypatch.setitem(sys.modules, "redis.asyncio", None)
    with pytest.raises(Unavailable) as told:
        made(chosen)
    assert "-e '.[redis]'" in told.value.hint


async def test_the_chosen_server_is_used_and_looked_at(
    monkeypatch: pytest.MonkeyPatch, own_redis: Any, tmp_path: Path
) -> None:
    own_redis.password = "secret"
    own_redis.start()
    chosen = settings(
        monkeypatch,
        STREAM_MANAGER_TYPE="redis",
        REDIS_ADDR=f"127.0.0.1:{own_redis.port}",
        REDIS_PASSWORD="secret",
        REDIS_PREFIX="mine",
        OPORA_DATA=str(tmp_path / "data"),
        OPORA_EMBEDDING="none",
    )
    app = await App.open(chosen)
    try:
        await app.log.append("s", "m", StreamEvent(response_type=ResponseType.AGENT_QUERY))
        assert await app.log.exists("s", "m")
        assert (await app.ready())["ready"]
        own_redis.stop()
        ready = await app.ready()
        (failed,) = [check for check in ready["checks"] if not check["ok"]]
        assert (ready["ready"], failed["name"]) == (False, "log of answers")
        assert "Redis" in failed["detail"]
    finally:
        await app.close()
