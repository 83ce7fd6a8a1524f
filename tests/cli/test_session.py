"""Settings that do not fit name their variable; failures end in a sentence and a code."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest
import typer

from opora.cli.client import ApiError
from opora.cli.exits import Exit
from opora.cli.failures import log_for_people, reported
from opora.cli.session import load_settings, variable_of
from opora.domain.errors import Busy, InvalidInput
from opora.settings import Settings

from .conftest import Opora


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("OPORA_PORT", "abc"),
        ("OPORA_PORT", "-1"),
        ("OPORA_UPLOAD_LIMIT", "0"),
        ("OPORA_RETRIEVAL", "{not json"),
        ("OPORA_RETRIEVAL", "[]"),
        ("OPORA_LOG_LEVEL", "loud"),
        ("MULTI_STORE_RETRIEVE_TIMEOUT_SEC", "-1"),
    ],
)
@pytest.mark.parametrize("command", [("serve",), ("search", "x"), ("settings",), ("doctor",), ("backup", "b")])
def test_a_setting_that_does_not_fit_is_a_usage_error_that_names_it(
    opora: Opora, variable: str, value: str, command: tuple[str, ...]
) -> None:
    result = opora(*command, **{variable: value})
    assert (result.code, result.out) == (Exit.USAGE, "")
    assert variable in result.err


@pytest.mark.parametrize(
    ("variable", "value", "named"),
    [
        ("OPORA_RETRIEVAL", '{"no_such": 1}', "no_such"),
        ("OPORA_EMBEDDING", "other", "OPORA_EMBEDDING"),
        ("RETRIEVE_DRIVER", "other", "sqlite"),
    ],
)
def test_a_name_that_nothing_has_is_a_usage_error(opora: Opora, variable: str, value: str, named: str) -> None:
    result = opora("search", "x", **{variable: value})
    assert result.code == Exit.USAGE
    assert named in result.err


def test_every_wrong_setting_is_named_at_once(opora: Opora) -> None:
    result = opora("settings", OPORA_PORT="x", OPORA_PARSE_PAGES="y")
    assert "OPORA_PORT" in result.err
    assert "OPORA_PARSE_PAGES" in result.err


def test_an_empty_key_is_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPORA_API_KEY", " ")
    monkeypatch.setenv("OPORA_HOST", "0.0.0.0")
    with pytest.raises(InvalidInput):
        load_settings().check_bind()


def test_variables_are_those_of_the_settings() -> None:
    assert variable_of("port") == "OPORA_PORT"
    assert variable_of("engine") == "RETRIEVE_DRIVER"


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (Busy("It is busy.", hint="Wait."), Exit.UNAVAILABLE, "opora: It is busy.\n       Wait.\n"),
        (InvalidInput("No."), Exit.USAGE, "opora: No.\n"),
        (ApiError("Gone.", status=404, code="not_found"), Exit.FAILED, "opora: Gone.\n"),
        (ApiError("Away.", status=0, code="unavailable"), Exit.UNAVAILABLE, "opora: Away.\n"),
        (KeyboardInterrupt(), Exit.INTERRUPTED, "opora: Interrupted.\n       Go on so.\n"),
        (asyncio.CancelledError(), Exit.TERMINATED, "opora: Terminated.\n       Go on so.\n"),
    ],
)
def test_failures_are_sentences_with_a_code(
    capsys: pytest.CaptureFixture[str], error: BaseException, code: Exit, said: str
) -> None:
    with pytest.raises(typer.Exit) as caught, reported(Settings(), interrupted="Go on so."):
        raise error
    assert caught.value.exit_code == code
    assert capsys.readouterr().err == said


def test_what_nobody_foresaw_is_said_without_a_trace_unless_one_is_asked_for(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    for level in ("INFO", "debug"):
        with pytest.raises(typer.Exit) as caught, reported(Settings(log_level=level)):
            raise ZeroDivisionError("by nothing")
        assert caught.value.exit_code == Exit.FAILED
        said = capsys.readouterr().err
        assert "ZeroDivisionError: by nothing" in said
        assert "OPORA_LOG_LEVEL=DEBUG" in said
        assert bool(caplog.records) == (level == "debug")


@pytest.mark.parametrize("error", [typer.Exit(7), BrokenPipeError()])
def test_what_was_said_already_passes(error: Exception) -> None:
    with pytest.raises(type(error)) as caught, reported(Settings()):
        raise error
    assert caught.value is error


def test_warnings_are_one_line_without_a_trace(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    log_for_people(Settings())
    log = logging.getLogger("opora.test")
    log.info("quiet")
    try:
        raise ValueError("inner")
    except ValueError:
        log.exception("It failed.")
    assert capsys.readouterr().err == "opora: It failed.\n"


def test_a_folder_that_cannot_be_used_is_unavailable(opora: Opora, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    result = opora("search", "x", OPORA_DATA=str(tmp_path / "file"))
    assert result.code == Exit.UNAVAILABLE
    assert "OPORA_DATA" in result.err
