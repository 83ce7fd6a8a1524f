"""A browser, and a small server that serves the page with its policy and answers with what a test scripts."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from playwright.sync_api import Browser, Page, expect, sync_playwright
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from opora.api.middleware.headers import SecurityHeadersMiddleware

STATIC = Path(__file__).parents[2] / "src" / "opora" / "api" / "static"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE_MS = 20_000
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@dataclass
class FakeApi:
    """The state that the fake routes read, and the script of the next answers: events, or a name to wait for."""

    bases: list[dict[str, Any]] = field(default_factory=lambda: [{"id": "kb-1", "name": "Правила"}])
    agents: list[dict[str, Any]] = field(default_factory=list)
    documents: list[dict[str, Any]] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    chunks: dict[str, dict[str, Any]] = field(default_factory=dict)
    sessions: list[dict[str, Any]] = field(default_factory=list)
    messages: list[dict[str, Any]] = field(default_factory=list)
    script: list[dict[str, Any] | str] = field(default_factory=list)
    page_png: bytes = b""
    key: str = ""
    refuse: tuple[int, str] = (0, "")
    break_after: int | None = None
    """Cut the first connection of an answer after so many events, once."""
    resumed_from: list[str] = field(default_factory=list)
    calls: list[tuple[str, str, Any]] = field(default_factory=list)
    log: list[dict[str, Any]] = field(default_factory=list)
    passed: set[str] = field(default_factory=set)
    loop: asyncio.AbstractEventLoop | None = None
    grown: asyncio.Condition = field(default_factory=asyncio.Condition)
    runs: list[asyncio.Task[None]] = field(default_factory=list)

    def let(self, name: str) -> None:
        """Let the script go on behind the name it waits for."""

        async def mark() -> None:
            async with self.grown:
                self.passed.add(name)
                self.grown.notify_all()

        assert self.loop is not None
        asyncio.run_coroutine_threadsafe(mark(), self.loop).result(5)

    def calls_to(self, method: str, part: str) -> list[Any]:
        return [body for verb, path, body in self.calls if verb == method and part in path]

    async def run(self, answer: dict[str, Any]) -> None:
        """Append the script to the log; the stored message ends as the log says."""
        for step in list(self.script):
            async with self.grown:
                if isinstance(step, str):
                    await self.grown.wait_for(lambda step=step: step in self.passed or "stop" in self.passed)
                if "stop" in self.passed:
                    self.log += [
                        {"response_type": "stop"},
                        {"response_type": "complete", "data": {"finish": "stopped"}},
                    ]
                elif isinstance(step, dict):
                    self.log.append(step)
                self.grown.notify_all()
                if "stop" in self.passed:
                    break
        ended = self.log[-1]["data"]
        content = "".join(event.get("content", "") for event in self.log if event["response_type"] == "answer")
        answer.update(content=content, is_completed=True, finish=ended["finish"])

    async def frames(self, start: int, cut: int | None) -> AsyncIterator[bytes]:
        at = start
        while True:
            async with self.grown:
                await self.grown.wait_for(lambda at=at: at < len(self.log))
                event = self.log[at]
            if cut is not None and at >= cut:
                return
            body = json.dumps({"id": "r", "content": "", "done": False, **event}, ensure_ascii=False)
            yield f"id: {at}\nevent: message\ndata: {body}\n\n".encode()
            at += 1
            if event["response_type"] == "complete":
                return


def data(value: Any, **more: Any) -> JSONResponse:
    return JSONResponse({"success": True, "data": value, **more})


def problem(status: int, message: str) -> JSONResponse:
    return JSONResponse({"success": False, "error": {"code": 1000, "message": message}}, status_code=status)


async def answer_call(request: Request) -> Response:
    api: FakeApi = request.app.state.api
    path, method = request.path_params["path"], request.method
    is_json = request.headers.get("content-type") == "application/json"
    body = await request.json() if is_json else await request.body()
    api.calls.append((method, path, body))
    if api.key and request.headers.get("authorization") != f"Bearer {api.key}":
        return problem(401, "A key is needed.")
    parts = path.split("/")
    match method, parts:
        case "GET", ["agents"]:
            return data([{"id": "builtin", "name": "Quick", "is_builtin": True}, *api.agents])
        case "GET", ["knowledge-bases"]:
            return data(api.bases, total=len(api.bases))
        case "GET", ["knowledge-bases", _, "knowledge"]:
            return data(api.documents, total=len(api.documents))
        case "POST", ["knowledge-bases", _, "knowledge", "file"]:
            if api.refuse[0]:
                return problem(*api.refuse)
            form_name = body.split(b'filename="')[1].split(b'"')[0].decode()
            api.documents.append(document(f"d-{len(api.documents) + 1}", form_name, parse_status="pending"))
            return data(api.documents[-1])
        case "DELETE", ["knowledge", wanted]:
            api.documents = [row for row in api.documents if row["id"] != wanted]
            return data({})
        case "GET", ["knowledge", wanted, "progress"]:
            return found([row["progress"] for row in api.documents if row["id"] == wanted and "progress" in row])
        case "GET", ["knowledge", wanted, "text"]:
            return data({"text": api.texts.get(wanted, "")})
        case "GET", ["knowledge", _, "pages", _]:
            return Response(api.page_png, media_type="image/png")
        case "GET", ["knowledge", wanted]:
            return found([row for row in api.documents if row["id"] == wanted])
        case "GET", ["chunks", "by-id", wanted]:
            return found([api.chunks[wanted]] if wanted in api.chunks else [])
        case "GET", ["sessions", "continue-stream", _]:
            last = request.headers.get("last-event-id", "")
            api.resumed_from.append(last)
            return StreamingResponse(api.frames(int(last) + 1 if last else 0, None), media_type="text/event-stream")
        case "GET", ["sessions"]:
            return data(api.sessions, total=len(api.sessions))
        case "POST", ["sessions"]:
            api.sessions.insert(0, {"id": f"s-{len(api.sessions) + 1}", "title": ""})
            return data(api.sessions[0])
        case "POST", ["sessions", _, "stop"]:
            await stop(api)
            return data({})
        case "GET", ["messages", session, "load"]:
            return data([message for message in api.messages if message["session_id"] == session])
        case "GET", ["messages", _, "images", image]:
            return Response(api.page_png, media_type="image/png") if image == "i-1" else found([])
        case "POST", ["knowledge-chat", session]:
            return await ask(api, session, body["query"])
    return problem(404, f"There is nothing at {path}.")


async def stop(api: FakeApi) -> None:
    async with api.grown:
        api.passed.add("stop")
        api.grown.notify_all()


async def ask(api: FakeApi, session: str, query: str) -> Response:
    number = len(api.messages)
    shared = {"session_id": session, "request_id": f"r-{number}", "created_at": f"2025-01-01T00:00:{number:02}Z"}
    api.messages.append({"id": f"m-{number}", "role": "user", "content": query, "is_completed": True, **shared})
    answer = {"id": f"m-{number + 1}", "role": "assistant", "content": "", "is_completed": False, **shared}
    api.messages.append(answer)
    for row in api.sessions:
        row["title"] = row["title"] or query
    ids = {"session_id": session, "assistant_message_id": answer["id"]}
    api.log = [{"response_type": "agent_query", **ids, "data": ids}]
    api.passed.clear()
    api.runs.append(asyncio.create_task(api.run(answer)))
    cut, api.break_after = api.break_after, None
    return StreamingResponse(api.frames(0, cut), media_type="text/event-stream")


def found(rows: list[dict[str, Any]]) -> Response:
    return data(rows[0]) if rows else problem(404, "There is nothing here under this id.")


def document(document_id: str, name: str, **more: Any) -> dict[str, Any]:
    known = {"id": document_id, "title": name, "file_name": name, "file_type": "md", "parse_status": "completed"}
    return {**known, "chunk_count": 4, "embedded_count": 4, "error_message": "", **more}


@pytest.fixture(scope="session")
def chromium() -> str:
    """The browser that is installed. `OPORA_REQUIRE_BROWSER=1` turns its absence into a failure."""
    for name in (os.environ.get("OPORA_CHROMIUM", ""), *NAMES):
        if name and (path := shutil.which(name)):
            return path
    if os.environ.get("OPORA_REQUIRE_BROWSER") == "1":
        pytest.fail("OPORA_REQUIRE_BROWSER is 1, and no Chromium was found (apt-get install chromium).")
    pytest.skip("The page's tests need Chromium (apt-get install chromium, or OPORA_CHROMIUM=/path).")


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Browser]:
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def api() -> FakeApi:
    return FakeApi()


@pytest.fixture
def address(api: FakeApi) -> Iterator[str]:
    """Where the page is served, with the real policy headers around it."""
    app = Starlette(
        routes=[
            Route("/", lambda _: FileResponse(STATIC / "index.html")),
            Mount("/static", StaticFiles(directory=STATIC)),
            Route("/api/v1/{path:path}", answer_call, methods=["GET", "POST", "PUT", "DELETE"]),
        ],
        middleware=[Middleware(SecurityHeadersMiddleware)],
    )
    app.state.api = api
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_level="error", ws="none", lifespan="off", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    started = threading.Event()

    async def serve() -> None:
        api.loop = asyncio.get_running_loop()
        started.set()
        await server.serve(sockets=[listener])
        for run in api.runs:
            run.cancel()

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    assert started.wait(10)
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    thread.join()


@pytest.fixture
def page(browser: Browser, address: str, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A fresh Russian page; at its end nothing was asked of another host and no script or policy error was seen."""
    options = {"locale": "ru-RU", "viewport": {"width": 1280, "height": 800}, **getattr(request, "param", {})}
    context = browser.new_context(base_url=address, **options)
    context.set_default_timeout(PATIENCE_MS)
    troubles: list[str] = []
    page = context.new_page()
    context.on("weberror", lambda error: troubles.append(f"error: {error.error}"))
    context.on("console", lambda line: troubles.append(line.text) if "Content Security" in line.text else None)
    context.on(
        "request",
        lambda call: (
            None if call.url.startswith((address, "blob:", "data:")) else troubles.append(f"asked: {call.url}")
        ),
    )
    yield page
    context.close()
    assert troubles == []
