"""A real Neo4j for the tests that need one: its jars from Maven, its own process, folder and port."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

JAVA = Path(__file__).parent / "java"
_RESOLVE = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:build-classpath"
_OPTIONS = ("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_OPENS = ("java.base/java.nio=ALL-UNNAMED", "java.base/sun.nio.ch=ALL-UNNAMED", "java.base/java.lang=ALL-UNNAMED")


class Neo4jServer:
    """`stop` and `start` as often as wanted, on one port and one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._classpath = _classpath(folder)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self.uri = f"bolt://127.0.0.1:{self._port}"

    def start(self) -> None:
        """Returns when it takes connections."""
        data = self._folder / "neo4j"
        data.mkdir(exist_ok=True)
        opens = [f"--add-opens={one}" for one in _OPENS]
        command = ["java", *_OPTIONS, *opens, "-cp", self._classpath, str(JAVA / "Neo4jServer.java")]
        with (self._folder / "neo4j.log").open("a") as log:
            self._process = subprocess.Popen(
                [*command, str(data), str(self._port)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("ready "):
                return
        raise RuntimeError((self._folder / "neo4j.log").read_text()[-2_000:])

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()


def _classpath(folder: Path) -> str:
    out = folder / "classpath"
    command = ["mvn", "-q", "-B", "-f", str(JAVA / "neo4j.xml"), _RESOLVE, f"-Dmdep.outputFile={out}"]
    subprocess.run(command, check=True, capture_output=True)
    return out.read_text().strip()


@pytest.fixture(scope="session")
def neo4j_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neo4jServer]:
    if not (shutil.which("java") and shutil.which("mvn")):
        if os.environ.get("OPORA_REQUIRE_SERVERS") == "1":
            pytest.fail("There is no Java, or no Maven.")
        pytest.skip("There is no Java, or no Maven.")
    server = Neo4jServer(tmp_path_factory.mktemp("neo4j"))
    server.start()
    yield server
    server.stop()
