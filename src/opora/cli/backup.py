"""``opora backup`` and ``opora restore``: the whole data folder in one file, consistent while a server runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from opora.cli.exits import Exit, exit_for, fail
from opora.domain.errors import OporaError


def backup(
    target: Annotated[Path, typer.Argument(help="File to write, such as opora.tar.gz.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Write a backup; the server may go on working."""
    from opora.bootstrap import write_backup
    from opora.cli.session import load_settings, print_json

    try:
        summary = write_backup(load_settings(), target)
    except OporaError as exc:
        raise fail(exc.message, hint=exc.hint, code=exit_for(exc.code)) from exc
    if as_json:
        print_json(summary)
    else:
        typer.echo(f"Wrote {target}: {summary['documents']} documents, {summary['bytes']} bytes.")


def restore(
    source: Annotated[Path, typer.Argument(help="A file that `opora backup` wrote.", exists=True, dir_okay=False)],
    force: Annotated[bool, typer.Option("--force", help="Put it in place of the data that is there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Put a backup in place; no server may be running on the data folder."""
    from opora.bootstrap import read_backup
    from opora.cli.session import load_settings, print_json

    settings = load_settings()
    try:
        summary = read_backup(settings, source, force=force)
    except OporaError as exc:
        code = Exit.USAGE if exc.code == "conflict" else exit_for(exc.code)
        raise fail(exc.message, hint=exc.hint, code=code) from exc
    if as_json:
        print_json(summary)
    else:
        typer.echo(f"Restored {summary['documents']} documents into {settings.data}.")
