"""The guide to the terminal names the commands and the exit codes that there are."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer

from opora.cli.exits import Exit
from opora.cli.main import app

from .conftest import Opora, write_files

GUIDE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")


def commands() -> set[str]:
    group = typer.main.get_command(app)
    found = set()
    for name, command in group.commands.items():
        inner = getattr(command, "commands", None)
        found |= {f"opora {name} {sub}" for sub in inner} if inner else {f"opora {name}"}
    return found


def test_every_command_is_in_the_table_and_the_other_way_round() -> None:
    assert set(re.findall(r"^\| `(opora [a-z ]+)` \|", GUIDE, re.MULTILINE)) == commands()


def test_every_exit_code_is_in_the_table_and_the_other_way_round() -> None:
    told = {int(code) for code in re.findall(r"^\| (\d+) \|", GUIDE, re.MULTILINE)}
    assert told - {6} == {int(code) for code in Exit} - {6}
    assert 6 in told


def test_options_that_the_guide_names_exist() -> None:
    group = typer.main.get_command(app)
    known = {"--help"}
    waiting = [group]
    while waiting:
        command = waiting.pop()
        waiting.extend(getattr(command, "commands", {}).values())
        for parameter in command.params:
            known.update((*parameter.opts, *parameter.secondary_opts))
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", GUIDE)) <= known


def test_the_commands_that_the_guide_shows_run(opora: Opora, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(tmp_path / "my-documents", {"leave.md": "# Vacation\n\nThere are thirty days of vacation a year.\n"})
    monkeypatch.chdir(tmp_path)
    shown = "".join(re.findall(r"^```sh\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)).splitlines()
    assert len(shown) >= 7
    for line in shown:
        name, *args = shlex.split(line)
        assert name == "opora"
        result = opora(*args)
        assert (result.code, bool(result.out)) == (Exit.OK, True), (line, result)
