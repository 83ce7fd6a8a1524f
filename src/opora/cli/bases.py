"""``opora bases``: list, count, copy and delete knowledge bases."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from opora.cli.client import ApiError, Client

app = typer.Typer(name="bases", help="List, count, copy and delete knowledge bases.", no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Base = Annotated[str, typer.Argument(help="The base (name or id).")]
NewName = Annotated[str, typer.Option("--name", help="Its name; left out, that of the base with a number.")]
SETTLE_SECONDS = 600.0
POLL_SECONDS = 0.3


@app.command(name="list")
def list_bases(as_json: AsJson = False) -> None:
    """All bases, pinned ones first."""
    from opora.cli import session
    from opora.cli.words import cell, say

    found = session.run(lambda client: client.every("/knowledge-bases"))
    if as_json:
        session.print_json({"bases": found})
        return
    for base in found:
        pinned = "pinned" if base["is_pinned"] else ""
        say(f"{base['id']}  {base['type']:<8}  {cell(pinned, 6)}  {base['name']}")
    if not found:
        say("opora: There are no knowledge bases here.", to_people=True)


@app.command()
def stats(base: Base, as_json: AsJson = False) -> None:
    """How much a base holds, and when it was last changed."""
    from opora.cli import session
    from opora.cli.words import say

    async def command(client: Client) -> dict[str, Any]:
        (base_id,) = await session.bases_named(client, [base])
        found: dict[str, Any] = await client.call("GET", f"/knowledge-bases/{base_id}/stats")
        return {"id": base_id, **found}

    found = session.run(command)
    if as_json:
        session.print_json(found)
        return
    for name, value in found.items():
        shown = ", ".join(f"{count} {status}" for status, count in value.items()) if isinstance(value, dict) else value
        say(f"{name:<20} {shown}")


@app.command()
def duplicate(base: Base, name: NewName = "", as_json: AsJson = False) -> None:
    """Make an empty base with the same settings."""
    from opora.cli import session
    from opora.cli.words import say

    async def command(client: Client) -> dict[str, Any]:
        (base_id,) = await session.bases_named(client, [base])
        made: dict[str, Any] = await client.call("POST", f"/knowledge-bases/{base_id}/duplicate", json=_named(name))
        return made

    made = session.run(command)
    if as_json:
        session.print_json(made)
    else:
        say(f"{made['id']}  {made['name']}")


@app.command()
def copy(base: Base, name: NewName = "", as_json: AsJson = False) -> None:
    """Copy a base with all it holds, and wait until the copy is complete. Nothing is embedded anew."""
    from opora.cli import session
    from opora.cli.words import say

    async def command(client: Client) -> dict[str, Any]:
        (base_id,) = await session.bases_named(client, [base])
        task = await client.call("POST", "/knowledge-bases/copy", json={"source_id": base_id, **_named(name)})
        return await _finished(client, task)

    task = session.run(command, interrupted="The server goes on copying; so does the next command on the folder.")
    if as_json:
        session.print_json(task)
    else:
        say(f"{task['target_id']}  {task['done']} documents copied")


@app.command()
def delete(base: Base, as_json: AsJson = False) -> None:
    """Delete a base with its documents: it is hidden at once and then removed from every store."""
    from opora.cli import session
    from opora.cli.words import say

    async def command(client: Client) -> str:
        (base_id,) = await session.bases_named(client, [base])
        await client.call("DELETE", f"/knowledge-bases/{base_id}")
        await client.settle(seconds=SETTLE_SECONDS)
        return base_id

    base_id = session.run(command)
    if as_json:
        session.print_json({"deleted": base_id})
    else:
        say(f"Deleted: {base_id}")


def _named(name: str) -> dict[str, str]:
    return {"name": name} if name else {}


async def _finished(client: Client, task: dict[str, Any]) -> dict[str, Any]:
    import asyncio

    await client.settle(seconds=SETTLE_SECONDS)
    path = f"/knowledge-bases/copy/progress/{task['task_id']}"
    while task["status"] in ("pending", "processing"):
        task = await client.call("GET", path)
        if task["status"] in ("pending", "processing"):
            await asyncio.sleep(POLL_SECONDS)
    if task["error"]:
        raise ApiError(task["error"], status=409, code="conflict")
    return task
