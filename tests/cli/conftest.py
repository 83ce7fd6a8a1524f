"""The command line on data folders of its own: inside the process, or beside a real server."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from opora.cli.main import app

QUESTION = "Когда возмещают проезд?"
FILES = {
    "travel.md": "# Командировки\n\nРасходы на проезд и дорогу возмещают после возвращения из поездки.\n",
    "prices.csv": "Деталь,Цена\nФильтр,350\nРемень,1200\nДатчик,4700\n",
    "leave.txt": "Employees may carry over ten days of annual leave to the next year.\n",
}


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Opora = Callable[..., Result]


def environment(folder: Path, changes: Mapping[str, str]) -> dict[str, str]:
    """Nothing of the machine's own settings, and the smallest models."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("OPORA_", "RETRIEVE_"))}
    return inherited | {"OPORA_DATA": str(folder), "OPORA_EMBEDDING": "none", "NO_COLOR": "1"} | dict(changes)


def invoke(folder: Path, *args: str, **changes: str) -> Result:
    """A command inside this process."""
    settings = environment(folder, changes)
    gone = {name: None for name in os.environ if name not in settings}
    result = CliRunner().invoke(app, list(args), env={**gone, **settings})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Result(result.exit_code, result.stdout, result.stderr)


def spawn(folder: Path, *args: str, **changes: str) -> subprocess.Popen[str]:
    """A command in a process, and a process group, of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "opora.cli", *args],
        env=environment(folder, changes),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@contextmanager
def serving(folder: Path, *args: str, **changes: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server on a free port, and its address."""
    with spawn(folder, "serve", "--port", "0", *args, **changes) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("Opora is at "), line + (process.stderr.read() if process.stderr else "")
            yield process, line.split()[3]
        finally:
            process.kill()


@pytest.fixture(autouse=True)
def _logging_as_it_was() -> Iterator[None]:
    """Commands set up logging for their process; here that is everybody's."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture
def opora(tmp_path: Path) -> Opora:
    """Commands on an empty data folder."""

    def run(*args: str, **changes: str) -> Result:
        return invoke(tmp_path / "data", *args, **changes)

    return run


def write_files(folder: Path, files: Mapping[str, str] = FILES) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def files(tmp_path: Path) -> Path:
    return write_files(tmp_path / "files")


@pytest.fixture(scope="session")
def loaded_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with documents that nobody changes."""
    place = tmp_path_factory.mktemp("loaded")
    result = invoke(place / "data", "ingest", str(write_files(place / "files")))
    assert result.code == 0, result.err
    return place / "data"


@pytest.fixture
def loaded(loaded_folder: Path) -> Opora:
    def run(*args: str, **changes: str) -> Result:
        return invoke(loaded_folder, *args, **changes)

    return run
