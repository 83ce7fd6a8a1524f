"""``opora serve``: the HTTP service and the page, on one address, owning the data folder."""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from opora.cli.exits import Exit, exit_for, fail
from opora.domain.errors import OporaError

if TYPE_CHECKING:
    from opora.settings import Settings


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on (OPORA_HOST).")] = "",
    port: Annotated[int, typer.Option(help="Port to listen on (OPORA_PORT).")] = -1,
    demo: Annotated[Path | None, typer.Option(help="Load this folder the first time and ask one question.")] = None,
) -> None:
    """Serve the API and the page until stopped."""
    from opora.cli.session import load_settings

    settings = load_settings()
    changes = {name: value for name, value in (("host", host), ("port", port)) if value not in ("", -1)}
    settings = settings.model_copy(update=changes)
    logging.basicConfig(
        level=settings.log_level, stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    try:
        settings.check_bind()
        _run(settings, demo)
    except OporaError as exc:
        raise fail(exc.message, hint=exc.hint, code=exit_for(exc.code)) from exc
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


def _run(settings: Settings, demo: Path | None) -> None:
    try:
        import uvloop
    except ImportError:
        asyncio.run(_serve(settings, demo))
    else:
        uvloop.run(_serve(settings, demo))


async def _serve(settings: Settings, demo: Path | None) -> None:
    import uvicorn

    from opora.api.app import create_app
    from opora.bootstrap import App

    listener = _listen(settings)
    address = f"http://{_shown(settings.host)}:{listener.getsockname()[1]}"
    app = await App.open(settings)
    config = uvicorn.Config(
        create_app(app), log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=3
    )
    up = asyncio.Event()

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            up.set()

    server = Server(config)
    try:
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        await up.wait()
        app.announce(address)
        typer.echo(f"Opora is at {address}  (stop it with Ctrl-C)", err=demo is not None)
        if demo is not None:
            await _demo(address, settings, demo)
        await serving
    finally:
        await app.close()


async def _demo(address: str, settings: Settings, folder: Path) -> None:
    from opora.cli.demo import run_demo

    try:
        await run_demo(address, settings, folder)
    except Exception as exc:
        # The demonstration is a courtesy: what it could not do must not take the service down.
        typer.echo(f"The demonstration did not run: {exc}", err=True)


def _listen(settings: Settings) -> socket.socket:
    """Bind before anything is opened, so that a port in use is said at once."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
    except OSError as exc:
        listener.close()
        raise fail(
            f"Port {settings.port} on {settings.host} can't be used: {exc.strerror}.",
            hint="Another Opora may be running; set OPORA_PORT to another port, or 0 for a free one.",
            code=Exit.UNAVAILABLE,
        ) from exc
    return listener


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host
