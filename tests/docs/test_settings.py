"""The settings of the guide are those of the code, with their defaults, and the other way round."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

from opora.domain.settings import RetrievalSettings
from opora.settings import Settings

ROOT = Path(__file__).parents[2]
GUIDE = "docs/settings.md"
VARIABLES = {
    str(field.validation_alias or f"OPORA_{name}".upper()): name for name, field in Settings.model_fields.items()
}
_NAMES = re.compile(r"\bOPORA_[A-Z_]*[A-Z]\b")


def named(rows: list[list[str]]) -> dict[str, str]:
    """The second cell by the name in the first."""
    names = [row[0].strip("`") for row in rows]
    assert len(names) == len(set(names))
    return {name: row[1] for name, row in zip(names, rows, strict=True)}


def test_every_variable_is_told_with_its_default(rows: Any) -> None:
    told = named(rows(GUIDE, "variable"))
    assert list(told) == list(VARIABLES)
    defaults = Settings.model_construct()
    for variable, name in VARIABLES.items():
        value = getattr(defaults, name)
        if name == "data":
            assert "application data" in told[variable]
        elif value in ("", None):
            assert told[variable] == "not set"
        elif value == ():
            assert told[variable] == "none"
        else:
            assert told[variable] == f"`{value}`", variable


def test_every_retrieval_setting_is_told_with_its_default(rows: Any) -> None:
    told = named(rows(GUIDE, "name"))
    assert list(told) == [field.name for field in fields(RetrievalSettings)]
    for name, shown in told.items():
        value = getattr(RetrievalSettings(), name)
        assert shown == ("not set" if value in ("", None) else f"`{value}`"), name


def test_no_variable_is_named_that_nobody_reads(text: Callable[[str], str]) -> None:
    """In code and guides. Code may begin a name (``OPORA_CHAT``) that is finished elsewhere."""
    known = set(VARIABLES) | set(for_work_on_opora(text(GUIDE)))
    places = [*ROOT.glob("src/opora/**/*.py"), *ROOT.glob("docs/**/*.md"), ROOT / "Makefile", *ROOT.glob(".ci/*")]
    for path in (*places, ROOT / "README.md", ROOT / "CONTRIBUTING.md"):
        for name in _NAMES.findall(path.read_text(encoding="utf-8")):
            assert any(one == name or one.startswith(f"{name}_") for one in known), f"{path.name} names {name}"


def test_the_variables_for_work_on_opora_are_read_somewhere(text: Callable[[str], str]) -> None:
    read = text("Makefile") + text("tests/web/conftest.py") + text("tests/servers/redis.py")
    variables = for_work_on_opora(text(GUIDE))
    assert variables
    for name in variables:
        assert name in read, name


def for_work_on_opora(guide: str) -> list[str]:
    section = guide.partition("## For work on Opora itself")[2]
    return re.findall(r"^\| `([A-Z_]+)` \|", section, re.MULTILINE)
