"""The table of commands."""

from __future__ import annotations

from typing import Annotated

import typer

from opora import __version__
from opora.cli import (
    agents,
    ask,
    backup,
    bases,
    doctor,
    documents,
    eval,
    faq,
    ingest,
    mcp,
    pipeline,
    search,
    serve,
    settings,
    worker,
)

app = typer.Typer(
    name="opora",
    help="Ask questions of your own documents and check every citation.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

app.command()(serve.serve)
app.command()(ingest.ingest)
app.command()(search.search)
app.command()(ask.ask)
app.command()(mcp.mcp)
app.command()(worker.worker)
app.add_typer(agents.app)
app.add_typer(bases.app)
app.add_typer(documents.app)
app.add_typer(faq.app)
app.add_typer(eval.app)
app.command()(pipeline.pipeline)
app.command(name="settings")(settings.settings)
app.command()(doctor.doctor)
app.command()(backup.backup)
app.command()(backup.restore)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"opora {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Options that stand before a command."""


def run() -> None:
    """Run the command line."""
    app()
