"""``opora worker``: workers of their own for documents that wait, beside servers on the same database."""

from __future__ import annotations

import signal

import typer

from opora.cli.exits import Exit, fail


def worker() -> None:
    """Work on documents that wait, until stopped. As many as wanted may run."""
    import asyncio

    from opora.bootstrap import can_share
    from opora.cli.failures import log_for_operators, reported
    from opora.cli.session import load_settings
    from opora.domain.roles import Role
    from opora.settings import Settings

    settings = load_settings().model_copy(update={"role": Role.INGESTOR})
    if not can_share(settings):
        raise fail(
            "Workers of their own need a database, an index and a log that processes can share.",
            hint="Set OPORA_DATABASE_URL, RETRIEVE_DRIVER=postgres and STREAM_MANAGER_TYPE=redis; "
            "a server has workers of its own.",
            code=Exit.USAGE,
        )

    async def work(settings: Settings) -> int:
        from opora.bootstrap import App

        loop = asyncio.get_running_loop()
        heard: asyncio.Queue[int] = asyncio.Queue()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, heard.put_nowait, number)
        app = await App.open(settings)
        try:
            typer.echo("A worker is at work  (stop it with Ctrl-C)")
            return await heard.get()
        finally:
            await app.close()

    log_for_operators(settings)
    with reported(settings):
        received = asyncio.run(work(settings))
    if received == signal.SIGINT:
        raise typer.Exit(Exit.INTERRUPTED)
