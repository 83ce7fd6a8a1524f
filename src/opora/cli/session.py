"""Runs a command's coroutine with a connection to the service, and holds what many commands do with it."""

from __future__ import annotations

import asyncio
import json
import signal
import threading
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from opora.cli.client import ApiError, Client, connect
from opora.cli.exits import Exit, fail
from opora.cli.failures import log_for_people, reported
from opora.settings import Settings
from opora.text.fold import fold

T = TypeVar("T")
NOT_FOUND = 404
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")


def load_settings() -> Settings:
    """The settings in force; a value that does not fit is a usage error that names the variable."""
    from pydantic import ValidationError
    from pydantic_settings import SettingsError

    try:
        settings = Settings()
    except ValidationError as exc:
        lines = [f"{_variable(str(error['loc'][0]))}: {_sentence(error['msg'])}" for error in exc.errors()]
        raise fail("\n       ".join(lines), code=Exit.USAGE) from exc
    except SettingsError as exc:
        # Only settings that are JSON get here; the message names the field in quotes.
        name = str(exc).partition('"')[2].partition('"')[0]
        raise fail(f"{_variable(name)}: This is not JSON: {exc.__cause__}.", code=Exit.USAGE) from exc
    if settings.log_level.upper() not in LOG_LEVELS:
        raise fail(f"OPORA_LOG_LEVEL: Input should be one of {', '.join(LOG_LEVELS)}.", code=Exit.USAGE)
    if settings.api_key is not None and not settings.api_key.get_secret_value().strip():
        # An empty variable is no key: it must not open an address to other machines.
        settings = settings.model_copy(update={"api_key": None})
    return settings


def variable_of(name: str) -> str:
    """The environment variable that sets a field of the settings."""
    return str(Settings.model_fields[name].validation_alias or f"OPORA_{name}".upper())


def run(command: Callable[[Client], Awaitable[T]], *, interrupted: str = "") -> T:
    """Run ``command`` with an open connection and give back what it returns; failures end the process."""
    settings = load_settings()
    log_for_people(settings)
    with reported(settings, interrupted=interrupted):
        result = asyncio.run(with_client(settings, command))
    return result  # noqa: RET504 - types can't tell that what is reported is always raised


async def with_client(settings: Settings, command: Callable[[Client], Awaitable[T]]) -> T:
    """SIGTERM breaks the command off as Ctrl-C does: what it opened is closed."""
    task = asyncio.current_task()
    if task is not None and threading.current_thread() is threading.main_thread():
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    async with connect(settings) as client:
        return await command(client)


def print_json(value: Any) -> None:
    """One JSON document on standard output, in the letters it is written in."""
    import typer

    typer.echo(json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8", "replace"))


async def bases_named(client: Client, names: list[str] | None) -> list[str]:
    """The ids of the bases with these names or ids; `ApiError` for one that is not there."""
    if not names:
        return []
    bases = await client.every("/knowledge-bases")
    return [_id_of(name, bases) for name in names]


async def base_for(client: Client, name: str) -> str:
    """The id of the base with this name or id; a new name makes a base."""
    bases = await client.every("/knowledge-bases")
    try:
        return _id_of(name, bases)
    except ApiError as exc:
        if exc.status != NOT_FOUND:
            raise
        made = await client.call("POST", "/knowledge-bases", json={"name": name})
        return str(made["id"])


async def agent_named(client: Client, name: str) -> str:
    """The id of the agent with this name or id; `ApiError` for one that is not there."""
    return _id_of(name, await client.call("GET", "/agents"), "agent")


def _id_of(name: str, ones: list[dict[str, Any]], kind: str = "knowledge base") -> str:
    """Ids come first, so that no name can hide another; then the very name, then names that differ in case only."""
    matches = (
        lambda one: one["id"] == name,
        lambda one: one["name"] == name,
        lambda one: fold(one["name"]) == fold(name.strip()),
    )
    for match in matches:
        found = [str(one["id"]) for one in ones if match(one)]
        if len(found) > 1:
            hint = f"Name one by its id: {', '.join(found)}."
            raise ApiError(f"{len(found)} {kind}s are called '{name}'.", status=422, code="invalid_input", hint=hint)
        if found:
            return found[0]
    known = ", ".join(sorted(one["name"] for one in ones))
    hint = f"There are: {known}." if known else "Load documents first: opora ingest FOLDER"
    raise ApiError(f"There is no {kind} '{name}'.", status=NOT_FOUND, code="not_found", hint=hint)


def _variable(place: str) -> str:
    """From a field's name, or from the alias that stands in its place."""
    return variable_of(place) if place in Settings.model_fields else place.upper()


def _sentence(message: str) -> str:
    return message.removeprefix("Value error, ")
