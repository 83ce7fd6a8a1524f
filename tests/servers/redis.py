"""A real Redis for the tests that need one: its own process, a free port of the loopback, nothing kept elsewhere."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

REQUIRED = "OPORA_REQUIRE_SERVERS"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@dataclass
class RedisServer:
    """Started and stopped at will; what it held is gone after a stop, unless it was ``durable``."""

    program: str
    folder: Path
    port: int
    durable: bool = False
    password: str = ""
    process: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Returns when it takes connections."""
        options = ["--bind", "127.0.0.1", "--port", str(self.port), "--dir", str(self.folder), "--save", ""]
        options += ["--appendonly", "yes" if self.durable else "no", "--appendfsync", "always"]
        options += ["--requirepass", self.password] if self.password else []
        self.process = subprocess.Popen([self.program, *options], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        said = []
        for line in self.process.stdout:
            said.append(line)
            if "eady to accept connections" in line:
                return
        raise AssertionError(f"Redis did not start: {''.join(said)}")

    def stop(self) -> None:
        if self.process is None:
            return
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()
        self.process = None


@pytest.fixture(scope="session")
def redis_program() -> str:
    program = shutil.which("redis-server")
    if program is None:
        if os.environ.get(REQUIRED) == "1":
            pytest.fail(f"{REQUIRED}=1, and there is no redis-server")
        pytest.skip("there is no redis-server")
    return program


@pytest.fixture(scope="session")
def redis_server(redis_program: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """One for the whole run; tests keep apart by prefix."""
    server = RedisServer(redis_program, tmp_path_factory.mktemp("redis"), free_port())
    server.start()
    yield server
    server.stop()


@pytest.fixture
def own_redis(redis_program: str, tmp_path: Path) -> Iterator[RedisServer]:
    """One that a test may stop and start; not started yet."""
    server = RedisServer(redis_program, tmp_path, free_port())
    yield server
    server.stop()
