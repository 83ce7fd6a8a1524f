"""``opora serve``: the HTTP service and the page, on one address, owning the data folder."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Annotated

import typer

from opora.cli.exits import Exit, fail
from opora.domain.roles import Role


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on (OPORA_HOST).")] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port to listen on, 0 for a free one (OPORA_PORT).")
    ] = None,
    role: Annotated[
        Role | None, typer.Option(help="What this process does: all, ingestor or retriever (OPORA_ROLE).")
    ] = None,
    demo: Annotated[
        Path | None,
        typer.Option(exists=True, file_okay=False, help="Load this folder the first time and ask one question."),
    ] = None,
) -> None:
    """Serve the API and the page until stopped."""
    from opora.bootstrap import serving_at
    from opora.cli.failures import log_for_operators, reported
    from opora.cli.server import run_server
    from opora.cli.session import load_settings

    settings = load_settings()
    changes = {name: value for name, value in (("host", host), ("port", port), ("role", role)) if value is not None}
    settings = settings.model_copy(update=changes)
    log_for_operators(settings)
    with reported(settings):
        settings.check_bind()
        address = serving_at(settings)
        if address:
            message = f"Opora serves {settings.data} already, at {address}."
            raise fail(message, hint="Stop it first, or set OPORA_DATA to another folder.", code=Exit.UNAVAILABLE)
        received = run_server(settings, demo)
    if received == signal.SIGINT:
        raise typer.Exit(Exit.INTERRUPTED)
