"""``opora faq``: take entries of a FAQ base from a file, and write them to one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from opora.cli.client import ApiError, Client
from opora.cli.exits import Exit
from opora.domain.faq_import import ImportMode

app = typer.Typer(name="faq", help="Import and export the entries of FAQ bases.", no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
POLL_SECONDS = 0.3
SETTLE_SECONDS = 600.0
DEFAULT_BASE = "FAQ"
Base = Annotated[str, typer.Option("--base", "-b", help="The FAQ base (name or id); a new name makes one.")]


@app.command(name="import")
def import_entries(
    file: Annotated[Path, typer.Argument(help="A CSV, XLSX or JSON file.", exists=True, dir_okay=False)],
    base: Base = DEFAULT_BASE,
    mode: Annotated[ImportMode, typer.Option(help="Beside the entries that are there, or in their place.")] = (
        ImportMode.APPEND
    ),
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would happen.")] = False,
    as_json: AsJson = False,
) -> None:
    """Take entries in; each row that is refused is named with its number."""
    from opora.cli import session
    from opora.cli.words import say

    async def command(client: Client) -> dict[str, Any]:
        path = f"/knowledge-bases/{await _base(client, base)}/faq/entries"
        form = {"mode": mode.value, "dry_run": str(dry_run).lower()}
        task = await client.call("POST", path, data=form, files={"file": (file.name, file.read_bytes())})
        return task if dry_run else await _finished(client, task)

    task = session.run(command)
    if as_json:
        session.print_json(task)
    else:
        say(f"{task['added']} of {task['total']} entries {'fit' if dry_run else 'taken in'}, {task['failed']} refused")
        for problem in task["problems"]:
            say(f"  row {problem['row']}: {problem['message']}", to_people=True)
        if task["error"]:
            say(f"opora: {task['error']}", to_people=True)
    if task["failed"]:
        raise typer.Exit(Exit.PARTLY)


@app.command(name="export")
def export_entries(
    file: Annotated[Path, typer.Argument(help="The file to write: .csv or .json.", dir_okay=False)],
    base: Base = DEFAULT_BASE,
) -> None:
    """Write all entries to a file that an import takes."""
    from opora.cli import session
    from opora.cli.words import say

    kind = file.suffix.lower().removeprefix(".")
    if kind not in ("csv", "json"):
        raise typer.BadParameter("The file's name ends with .csv or .json.")

    async def command(client: Client) -> bytes:
        (base_id,) = await session.bases_named(client, [base])
        return await client.download(f"/knowledge-bases/{base_id}/faq/entries/export", {"format": kind})

    file.write_bytes(session.run(command))
    say(f"The entries are in {file}.")


async def _base(client: Client, name: str) -> str:
    from opora.cli import session

    try:
        (base_id,) = await session.bases_named(client, [name])
    except ApiError as exc:
        if exc.status != session.NOT_FOUND:
            raise
        made = await client.call("POST", "/knowledge-bases", json={"name": name, "type": "faq"})
        base_id = str(made["id"])
    return base_id


async def _finished(client: Client, task: dict[str, Any]) -> dict[str, Any]:
    """The import when it is done; inside this process, its vectors too."""
    import asyncio

    await client.settle(seconds=SETTLE_SECONDS)
    while task["status"] in ("pending", "processing"):
        task = await client.call("GET", f"/faq/import/progress/{task['task_id']}")
        if task["status"] in ("pending", "processing"):
            await asyncio.sleep(POLL_SECONDS)
    return task
