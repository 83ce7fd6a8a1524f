"""Runs the HTTP server over an open application until a signal ends it, and closes everything in order."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from opora.cli.exits import Exit, fail

if TYPE_CHECKING:
    import uvicorn
    from fastapi import FastAPI

    from opora.bootstrap import App
    from opora.settings import Settings

BACKLOG = 2048
DRAIN_SECONDS = 3
INSIDE_SECONDS = 300
WILDCARDS = {"0.0.0.0": "127.0.0.1", "": "127.0.0.1", "::": "::1"}


def run_server(settings: Settings, demo: Path | None) -> int:
    """The signal that ended it."""
    try:
        import uvloop
    except ImportError:
        return asyncio.run(_serve(settings, demo))
    return uvloop.run(_serve(settings, demo))


class Stop:
    """Hears SIGINT and SIGTERM from the first moment on: a second one ends at once what the first asked to end."""

    def __init__(self) -> None:
        self.signal = 0
        self._asked = asyncio.Event()
        self._again = asyncio.Event()

    def hear(self, number: int) -> None:
        (self._again if self.signal else self._asked).set()
        self.signal = self.signal or number

    async def asked(self) -> None:
        await self._asked.wait()

    async def asked_again(self) -> None:
        await self._again.wait()

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.hear, number)
        try:
            yield
        finally:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)


async def _serve(settings: Settings, demo: Path | None) -> int:
    from opora.bootstrap import App

    stop = Stop()
    with stop.listening(), contextlib.closing(_listen(settings)) as listener:
        opening = asyncio.create_task(App.open(settings))
        asked = asyncio.create_task(stop.asked())
        await asyncio.wait({opening, asked}, return_when=asyncio.FIRST_COMPLETED)
        if not opening.done():
            opening.cancel()
        try:
            app = await opening
        except asyncio.CancelledError:
            return stop.signal
        finally:
            asked.cancel()
        try:
            await _serve_app(app, listener, stop, demo)
        finally:
            await app.close()
    return stop.signal


async def _serve_app(app: App, listener: socket.socket, stop: Stop, demo: Path | None) -> None:
    async with application(app) as http:
        await _serve_http(app, http, listener, stop, demo)


@contextlib.asynccontextmanager
async def application(app: App) -> AsyncIterator[FastAPI]:
    """The HTTP surface, with the door for assistants where their library is installed."""
    from opora.api.app import create_app

    http = create_app(app)
    try:
        from opora.mcp.http import PATH, McpDoor
    except ImportError:
        yield http
        return
    import httpx2
    from starlette.routing import Route

    from opora.cli.transport import InProcessTransport

    transport = InProcessTransport(http)
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=INSIDE_SECONDS) as inside:
        door = McpDoor(inside, app.access.authenticate)
        http.router.routes.insert(0, Route(PATH, endpoint=door))
        async with door.running():
            yield http


async def _serve_http(app: App, http: FastAPI, listener: socket.socket, stop: Stop, demo: Path | None) -> None:
    import uvicorn

    from opora.bootstrap.collector import settle_collector

    settings = app.settings
    up = asyncio.Event()

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            up.set()

        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            # Signals are heard outside: the server's own way raises them again before the data folder is closed.
            yield

    server = Server(
        uvicorn.Config(http, log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=DRAIN_SECONDS)
    )
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    ending = asyncio.create_task(_end(server, stop))
    await asyncio.wait({serving, asyncio.ensure_future(up.wait())}, return_when=asyncio.FIRST_COMPLETED)
    address = f"http://{_reached_at(settings.host)}:{listener.getsockname()[1]}"
    app.announce(address)
    typer.echo(f"Opora is at {address}  (stop it with Ctrl-C)", err=demo is not None)
    settle_collector()
    showing = asyncio.create_task(_demo(address, settings, demo)) if demo is not None else None
    try:
        await serving
    finally:
        app.announce("")
        for task in (ending, showing):
            if task is not None:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)


async def _end(server: uvicorn.Server, stop: Stop) -> None:
    await stop.asked()
    server.should_exit = True
    await stop.asked_again()
    server.force_exit = True


async def _demo(address: str, settings: Settings, folder: Path) -> None:
    from opora.cli.client import ApiError
    from opora.cli.demo import run_demo

    try:
        await run_demo(address, settings, folder)
    except (ApiError, OSError) as exc:
        # The demonstration is a courtesy: what it could not do must not take the service down.
        typer.echo(f"The demonstration did not run: {exc}", err=True)


def _listen(settings: Settings) -> socket.socket:
    """Bind before anything is opened, so that a port in use is said at once."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
        listener.listen(BACKLOG)
    except OSError as exc:
        listener.close()
        raise fail(
            f"Port {settings.port} on {settings.host} can't be used: {exc.strerror}.",
            hint="Another Opora may be running; set OPORA_PORT to another port, or 0 for a free one.",
            code=Exit.UNAVAILABLE,
        ) from exc
    return listener


def _reached_at(host: str) -> str:
    """Under which name a program on this machine reaches the server."""
    host = WILDCARDS.get(host, host)
    return f"[{host}]" if ":" in host else host
