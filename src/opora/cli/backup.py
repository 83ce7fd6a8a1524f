"""``opora backup`` and ``opora restore``: the whole data folder in one file, consistent while a server runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from opora.cli.exits import Exit, fail


def backup(
    target: Annotated[Path, typer.Argument(help="File to write, such as opora.tar.gz.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Write a backup; the server may go on working."""
    from opora.bootstrap import write_backup
    from opora.cli.failures import log_for_people, reported
    from opora.cli.session import load_settings, print_json
    from opora.cli.words import say

    settings = load_settings()
    log_for_people(settings)
    with reported(settings):
        summary = write_backup(settings, target)
    if as_json:
        print_json(summary)
    else:
        say(f"Wrote {target}: {summary['documents']} documents, {summary['bytes']} bytes.")
    if summary["missing"]:
        say(f"opora: {summary['missing']} documents lack their file in the data folder itself.", to_people=True)


def restore(
    source: Annotated[Path, typer.Argument(help="A file that `opora backup` wrote.", exists=True, dir_okay=False)],
    force: Annotated[bool, typer.Option("--force", help="Put it in place of the data that is there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Put a backup in place; no server may be running on the data folder."""
    from opora.bootstrap import read_backup, serving_at
    from opora.cli.failures import log_for_people, reported
    from opora.cli.session import load_settings, print_json
    from opora.cli.words import say
    from opora.domain.errors import Conflict

    settings = load_settings()
    log_for_people(settings)
    address = serving_at(settings)
    if address:
        message = f"A server works in {settings.data}, at {address}."
        raise fail(message, hint="Stop it, then restore.", code=Exit.UNAVAILABLE)
    with reported(settings):
        try:
            summary = read_backup(settings, source, force=force)
        except Conflict as exc:
            raise fail(exc.message, hint=exc.hint, code=Exit.USAGE) from exc
    if as_json:
        print_json(summary)
    else:
        say(f"Restored {summary['documents']} documents into {settings.data}.")
