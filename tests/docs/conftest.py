"""Reads the commands and tables of the README and the guides, and a server that the commands are run against."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import Any

import httpx2
import pytest
import uvicorn
from typer.testing import CliRunner

from opora.api.app import create_app
from opora.bootstrap import App
from opora.cli.main import app as commands
from opora.settings import Settings

ROOT = Path(__file__).parents[2]
ADDRESS = "http://127.0.0.1:8642"
LEAVE = """# Leave

Up to five days of leave may be carried over to the next year. They are used up by the end of March.

## Sick leave

Report it to your manager before ten o'clock on the first day.
"""
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!-- (.+?) -->\n\Z")
_ASSIGNMENT = re.compile(r"[A-Z][A-Z0-9_]*=")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block, and the comment that stands over it."""

    line: int
    language: str
    text: str
    comment: str

    @property
    def commands(self) -> list[str]:
        """One a line, continued lines joined."""
        joined = self.text.replace("\\\n", " ")
        return [line.strip() for line in joined.splitlines() if line.strip() and not line.lstrip().startswith("#")]


def blocks_of(document: str) -> list[Block]:
    text = (ROOT / document).read_text(encoding="utf-8")
    return [
        Block(
            line=text.count("\n", 0, match.start()) + 1,
            language=match[1],
            text=match[2],
            comment=found[1] if (found := _COMMENT.search(text[: match.start()])) else "",
        )
        for match in _FENCE.finditer(text)
    ]


def rows_of(document: str, heading: str) -> list[list[str]]:
    """The cells of the table under the row of heads that begins so."""
    lines = (ROOT / document).read_text(encoding="utf-8").splitlines()
    begin = next(number for number, line in enumerate(lines) if line.startswith(f"| {heading} |"))
    rows = []
    for line in lines[begin + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


@pytest.fixture
def blocks() -> Callable[[str], list[Block]]:
    return blocks_of


@pytest.fixture
def rows() -> Callable[[str, str], list[list[str]]]:
    return rows_of


@pytest.fixture
def text() -> Callable[[str], str]:
    return lambda document: (ROOT / document).read_text(encoding="utf-8")


@dataclass
class Shell:
    """Runs the commands of a block: ``opora`` by the code of the command line, ``curl`` as the request that it is."""

    http: httpx2.AsyncClient
    environment: dict[str, str]
    variables: dict[str, str] = field(default_factory=dict)

    async def run(self, command: str) -> Any:
        """What the command prints, JSON as objects; fails when the command does."""
        words = shlex.split(Template(command).substitute(self.variables))
        environment = dict(self.environment)
        while words and _ASSIGNMENT.match(words[0]):
            name, _, value = words.pop(0).partition("=")
            environment[name] = value
        match words:
            case ["opora", *arguments]:
                return await asyncio.to_thread(opora, arguments, environment)
            case ["curl", *arguments]:
                return await self.curl(arguments)
        raise AssertionError(f"The tests can't run: {command}")

    async def curl(self, arguments: Sequence[str]) -> Any:
        request, target = request_of(arguments)
        response = await self.http.request(**request)
        assert response.status_code < 400, f"{request['method']} {request['url']}: {response.text}"
        if target:
            Path(target).write_bytes(response.content)
        if response.headers["content-type"].startswith("text/event-stream"):
            return [json.loads(line[5:]) for line in response.text.splitlines() if line.startswith("data:")]
        return response.content if target else response.json()

    def keep(self, name: str, path: str, printed: Any) -> None:
        """Remember a value of an answer as a variable; in a stream, of the first event that has it."""
        if isinstance(printed, list):
            printed = next(event for event in printed if path in event)
        for step in path.split("."):
            printed = printed[int(step) if step.isdigit() else step]
        self.variables[name] = str(printed)


def opora(arguments: Sequence[str], environment: dict[str, str]) -> str:
    done = CliRunner().invoke(commands, list(arguments), env=environment)
    assert done.exit_code == 0, f"opora {shlex.join(arguments)} ended with {done.exit_code}: {done.output}"
    return done.stdout


def request_of(arguments: Sequence[str]) -> tuple[dict[str, Any], str]:
    """The request that curl would send, and the file that it would write."""
    request: dict[str, Any] = {"headers": {}}
    form: dict[str, str] = {}
    files: dict[str, tuple[str, bytes]] = {}
    method = target = ""
    words: Iterator[str] = iter(arguments)
    for word in words:
        match word:
            case "-s" | "-sN":
                pass
            case "-X":
                method = next(words)
            case "-H":
                name, _, value = next(words).partition(":")
                request["headers"][name] = value.strip()
            case "-d":
                request["content"] = next(words)
                json.loads(request["content"])
            case "-F":
                name, _, value = next(words).partition("=")
                if value.startswith("@"):
                    files[name] = (Path(value[1:]).name, Path(value[1:]).read_bytes())
                else:
                    form[name] = value
            case "-o":
                target = next(words)
            case address if address.startswith(f"{ADDRESS}/"):
                request["url"] = address.removeprefix(ADDRESS)
            case other:
                raise AssertionError(f"The tests know no curl option {other}")
    if files:
        request |= {"files": files, "data": form}
    default = "POST" if files or "content" in request else "GET"
    return request | {"method": method or default}, target


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder like a reader's, and nothing of the environment's own settings."""
    for name in ("RETRIEVE_DRIVER", "MULTI_STORE_RETRIEVE_TIMEOUT_SEC", *settings_of_environment()):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "my-documents"
    folder.mkdir()
    (folder / "leave.md").write_text(LEAVE, encoding="utf-8")
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def settings_of_environment() -> list[str]:
    return [name for name in os.environ if name.startswith("OPORA_")]


@pytest.fixture
async def app(place: Path) -> AsyncIterator[App]:
    opened = await App.open(Settings(data=place / "data", embedding="null"))
    yield opened
    await opened.close()


@pytest.fixture
async def shell(app: App) -> AsyncIterator[Shell]:
    """A real server on a loopback port, announced in the data folder as `opora serve` does."""
    listener = socket.create_server(("127.0.0.1", 0))
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    config = uvicorn.Config(
        create_app(app), log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=2
    )
    started = asyncio.Event()

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            started.set()

    server = Server(config)
    server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    await started.wait()
    app.announce(address)
    async with httpx2.AsyncClient(base_url=address, trust_env=False, timeout=20) as http:
        yield Shell(http, {"OPORA_DATA": str(app.settings.data), "OPORA_EMBEDDING": "null"})
    server.should_exit = True
    await serving
    listener.close()
