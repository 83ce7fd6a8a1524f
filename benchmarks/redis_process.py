"""A Redis of a benchmark's own, where the program is installed: on a free port, keeping nothing."""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def redis_process() -> Iterator[str]:
    """Its address; '' when there is no such program here."""
    program = shutil.which("redis-server")
    if program is None:
        yield ""
        return
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="opora-redis-") as folder:
        options = ["--bind", "127.0.0.1", "--port", str(port), "--save", "", "--dir", folder]
        process = subprocess.Popen([program, *options], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        try:
            for line in process.stdout:
                if "eady to accept connections" in line:
                    break
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            process.kill()
            process.communicate()
