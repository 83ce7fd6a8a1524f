"""Runs a command's coroutine with a connection, and turns every kind of failure into a message and an exit code."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import typer

from opora.cli.client import ApiError, Client, connect
from opora.cli.exits import Exit, exit_for, fail
from opora.domain.errors import OporaError
from opora.settings import Settings

T = TypeVar("T")


def load_settings() -> Settings:
    """The settings in force; a value that does not fit is a usage error that names the variable."""
    from pydantic import ValidationError

    try:
        return Settings()
    except ValidationError as exc:
        first = exc.errors()[0]
        name = "_".join(str(part) for part in first["loc"]).upper()
        variable = name if name.startswith(("RETRIEVE", "MULTI")) else f"OPORA_{name}"
        raise fail(f"{variable}: {first['msg']}", code=Exit.USAGE) from exc


def run(command: Callable[[Client], Awaitable[T]], *, settings: Settings | None = None) -> T:
    """Run ``command`` with an open connection and give back what it returns."""

    async def inside(settings: Settings) -> T:
        async with connect(settings) as client:
            return await command(client)

    settings = settings or load_settings()
    try:
        return asyncio.run(inside(settings))
    except ApiError as exc:
        raise fail(exc.message, hint=exc.hint, code=exit_for(exc.code)) from exc
    except OporaError as exc:
        raise fail(exc.message, hint=exc.hint, code=exit_for(exc.code)) from exc
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


def print_json(value: Any) -> None:
    """One JSON document on standard output, in the letters it is written in."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2))


async def base_named(client: Client, name: str, *, create: bool) -> str:
    """The id of the base with this name or id; made anew where ``create`` says so, else `ApiError`."""
    page, seen = 1, 0
    while True:
        listed = await client.envelope("GET", "/knowledge-bases", params={"page": page, "page_size": 100})
        for base in listed["data"]:
            if name in (base["id"], base["name"]):
                return str(base["id"])
        seen += len(listed["data"])
        if seen >= listed["total"] or not listed["data"]:
            break
        page += 1
    if not create:
        raise ApiError(f"There is no knowledge base '{name}'.", status=404, code="not_found")
    made = await client.call("POST", "/knowledge-bases", json={"name": name})
    return str(made["id"])
