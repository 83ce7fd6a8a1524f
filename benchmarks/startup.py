"""How soon Opora is there and what it holds while it waits: ``python -m benchmarks.startup [--clone]``.

``opora --version`` and a cold ``opora search`` as processes of their own, the memory of ``opora serve``, and with
``--clone`` the whole way from a fresh clone with an empty home folder to the first cited answer of ``make run``.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from benchmarks.measuring import table

ROOT = Path(__file__).parents[1]
SAMPLES = ROOT / "samples" / "documents"
OPORA = (sys.executable, "-m", "opora.cli")
QUESTION = "Когда компенсируют дорогу после поездки?"
VERSION_RUNS, SEARCH_RUNS = 7, 3
MIB = 1024 * 1024
PATIENCE = 900
"""Seconds after which a part that does not come is given up."""
_ADDRESS = re.compile(r"Opora is at (http://\S+)")
_SOURCE = re.compile(r"^\[1\] ", re.MULTILINE)
_ASKED = "Ask your own:"


def environment(**values: str) -> dict[str, str]:
    """This process's environment without any setting of Opora's own, and with ``values``."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("OPORA_", "XDG_"))}
    return kept | values


def timed(*command: str, env: Mapping[str, str], runs: int) -> dict[str, float]:
    """Median wall time and user time of a command, in seconds; raises when it fails."""
    walls, users = [], []
    for _ in range(runs):
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime, time.perf_counter()
        done(*command, env=env)
        walls.append(time.perf_counter() - begun)
        users.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
    return {"wall": statistics.median(walls), "user": statistics.median(users)}


def done(*command: str, env: Mapping[str, str], cwd: Path = ROOT) -> None:
    """Run a command to its end; raises with the end of its output when it fails."""
    ended = subprocess.run(command, env=env, cwd=cwd, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if ended.returncode:
        raise RuntimeError(f"{' '.join(command[-3:])} ended with {ended.returncode}:\n{ended.stdout[-3000:]}")


@contextmanager
def running(*command: str, env: Mapping[str, str], cwd: Path = ROOT) -> Iterator[subprocess.Popen[str]]:
    """A process with its standard output as text, stopped together with its children at the end."""
    process = subprocess.Popen(
        command,
        env=env,
        cwd=cwd,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def read_until(process: subprocess.Popen[str], word: str) -> str:
    """The output up to the line that holds ``word``; raises with what came when the process ends before."""
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line)
        if word in line:
            return "".join(lines)
    raise RuntimeError(f"'{word}' never came:\n{''.join(lines[-30:])}")


def post(address: str, body: Mapping[str, Any]) -> bytes:
    request = urllib.request.Request(
        address, json.dumps(body).encode(), {"Content-Type": "application/json"}, method="POST"
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=PATIENCE) as answer:
        content: bytes = answer.read()
    return content


def resident(pid: int) -> float:
    """MiB of a process and its children."""
    process = psutil.Process(pid)
    return sum(one.memory_info().rss for one in (process, *process.children(recursive=True))) / MIB


def version() -> dict[str, float]:
    """Of a bare interpreter too: what the machine itself needs at this moment."""
    bare = timed(sys.executable, "-c", "pass", env=environment(), runs=VERSION_RUNS)
    ours = timed(*OPORA, "--version", env=environment(), runs=VERSION_RUNS)
    return {
        "version_ms": ours["wall"] * 1000,
        "version_user_ms": ours["user"] * 1000,
        "bare_python_ms": bare["wall"] * 1000,
        "version_to_bare_python": ours["wall"] / bare["wall"],
    }


def cold_search(data: Path) -> dict[str, float]:
    taken = timed(*OPORA, "search", QUESTION, env=environment(OPORA_DATA=str(data)), runs=SEARCH_RUNS)
    return {"cold_search_s": taken["wall"], "cold_search_user_s": taken["user"]}


def memory(data: Path) -> dict[str, float]:
    """MiB of the server: just started, with the model loaded by a search, and after a whole question."""
    env = environment(OPORA_DATA=str(data), OPORA_PORT="0", PYTHONUNBUFFERED="1")
    with running(*OPORA, "serve", env=env) as server:
        found = _ADDRESS.search(read_until(server, "Opora is at"))
        assert found is not None
        api = f"{found[1]}/api/v1"
        started = resident(server.pid)
        post(f"{api}/knowledge-search", {"query": QUESTION})
        loaded = resident(server.pid)
        session = json.loads(post(f"{api}/sessions", {}))["data"]["id"]
        answer = post(f"{api}/knowledge-chat/{session}", {"query": QUESTION}).decode()
        if "<kb " not in answer:
            raise RuntimeError(f"the question got no cited answer:\n{answer[-2000:]}")
        asked = resident(server.pid)
    return {"serve_started_mib": started, "serve_with_model_mib": loaded, "serve_after_question_mib": asked}


def clone() -> dict[str, float]:
    """Seconds from a fresh clone in an empty home folder to the cited answer, with the installation apart.

    The installers' caches are this user's own, so that a package that was fetched once is not fetched again.
    """
    caches = Path.home() / ".cache"
    with tempfile.TemporaryDirectory(prefix="opora-clone-") as folder:
        home, project = Path(folder) / "home", Path(folder) / "project"
        home.mkdir()
        env = environment(
            HOME=str(home),
            PIP_CACHE_DIR=os.environ.get("PIP_CACHE_DIR", str(caches / "pip")),
            UV_CACHE_DIR=os.environ.get("UV_CACHE_DIR", str(caches / "uv")),
            OPORA_PORT="0",
            PYTHONUNBUFFERED="1",
        )
        begun = time.perf_counter()
        done("git", "clone", "-q", str(ROOT), str(project), env=env)
        cloned = time.perf_counter()
        python: str = sys._base_executable  # type: ignore[attr-defined]
        done("make", "-s", ".venv/.run", f"PYTHON={python}", env=env, cwd=project)
        installed = time.perf_counter()
        with running("make", "-s", "run", env=env, cwd=project) as made:
            output = read_until(made, _ASKED)
            answered = time.perf_counter()
        if not _SOURCE.search(output):
            raise RuntimeError(f"the answer cites nothing:\n{output}")
    return {
        "clone_s": cloned - begun,
        "install_s": installed - cloned,
        "first_answer_s": answered - installed,
        "clone_to_answer_s": answered - begun,
        "clone_to_answer_without_install_s": answered - begun - (installed - cloned),
    }


def run(*, with_clone: bool = False, only_version: bool = False) -> dict[str, float]:
    """Figures by name; the unit is the name's end."""
    figures = version()
    if only_version:
        return figures
    with tempfile.TemporaryDirectory(prefix="opora-bench-") as folder:
        data = Path(folder) / "data"
        begun = time.perf_counter()
        done(*OPORA, "ingest", str(SAMPLES), env=environment(OPORA_DATA=str(data)))
        figures["first_ingest_of_the_samples_s"] = time.perf_counter() - begun
        figures |= cold_search(data) | memory(data)
    return figures | (clone() if with_clone else {})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clone", action="store_true", help="also from a fresh clone to the first cited answer")
    print(table(run(with_clone=parser.parse_args().clone)))


if __name__ == "__main__":
    main()
