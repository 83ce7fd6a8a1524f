"""``opora ingest``: take in files and folders; again on the same folder takes up what changed and what is gone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from opora.cli.client import Client
from opora.cli.exits import Exit

if TYPE_CHECKING:
    from opora.cli.sync import Report

DEFAULT_BASE = "Documents"
SETTLE_SECONDS = 30.0
INTERRUPTED = "What was taken in stays, and is read on at the next start; the same command takes up the rest."
ALONE = "No server is running that would go on with the work, so --no-wait waits until it is done."


def ingest(
    paths: Annotated[list[Path], typer.Argument(help="Files and folders.", exists=True)],
    base: Annotated[str, typer.Option("--base", "-b", help="Name or id; a new name makes a base.")] = DEFAULT_BASE,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Wait until every document is ready, or leave that to the server.")
    ] = True,
    keep_gone: Annotated[bool, typer.Option("--keep-gone", help="Keep documents whose file is gone.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Take documents into a knowledge base; the same folder again takes up what changed and what is gone."""
    from opora.cli import session
    from opora.cli.words import say

    async def command(client: Client) -> tuple[Report, bool]:
        alone = not client.address
        if not wait and alone:
            say(f"opora: {ALONE}", to_people=True)
        report = await take(
            client, await session.base_for(client, base), paths, keep_gone=keep_gone, wait=wait or alone
        )
        await client.settle(seconds=SETTLE_SECONDS)
        return report, wait or alone

    report, waited = session.run(command, interrupted=INTERRUPTED)
    if as_json:
        session.print_json(report.as_dict())
    else:
        _print(report, waited=waited)
    if report.failed or report.refused:
        raise typer.Exit(Exit.PARTLY)


async def take(client: Client, base_id: str, paths: list[Path], *, keep_gone: bool, wait: bool) -> Report:
    """Bring the paths into the base and, if wanted, wait until all is ready."""
    import asyncio

    from opora.cli.listing import files_of
    from opora.cli.sync import Report, Sync
    from opora.cli.watch import bars, watch

    report = Report(base_id=base_id)
    listings = [await asyncio.to_thread(files_of, path.resolve()) for path in dict.fromkeys(paths)]
    total, done = sum(len(listing.files) for listing in listings), 0
    with bars() as shown:
        sending = shown.add("sending", total)

        def one_more() -> None:
            nonlocal done
            done = min(done + 1, total)
            sending(done)

        sync = Sync(client, report, keep_gone=keep_gone, done=one_more)
        for listing in listings:
            await sync.run(listing)
        if wait:
            await watch(client, report, shown.add("reading", len(report.documents)))
    return report


def _print(report: Report, *, waited: bool) -> None:
    from opora.cli.words import say

    say(
        f"{len(report.added)} added, {len(report.replaced)} replaced, {len(report.unchanged)} unchanged, "
        f"{len(report.removed)} removed, {len(report.failed) + len(report.refused)} failed"
    )
    for row in report.duplicates:
        say(f"  {row['path']}: holds the same as {row['same_as']}, which is in the base already", to_people=True)
    for row in (*report.refused, *report.failed):
        say(f"  {row['path']}: {row['message']}", to_people=True)
    if not waited and report.documents:
        say("The server goes on reading them; `opora documents list` shows how far it is.", to_people=True)
    if not any(report.as_dict()[name] for name in ("documents", "duplicates", "refused", "removed")):
        say("There are no files to take in.", to_people=True)
