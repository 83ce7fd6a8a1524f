"""``opora settings``: every setting with its value, where it came from and what it is for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from opora.settings import Settings


def settings(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Print every setting, its value, the variable that sets it and whether it is set. Keys are not shown."""
    from opora.cli.session import load_settings, print_json
    from opora.cli.words import say

    rows = rows_of(load_settings())
    if as_json:
        print_json({"settings": rows})
        return
    for row in rows:
        mark = "*" if row["origin"] == "environment" else " "
        say(f"{mark} {row['variable']:<34} {_shown(row['value'])}\n    {row['description']}")
    say("\n* set by the environment")


def rows_of(current: Settings) -> list[dict[str, Any]]:
    from opora.cli.session import variable_of

    values = current.model_dump(mode="json")
    return [
        {
            "name": name,
            "variable": variable_of(name),
            "value": values[name],
            "origin": "environment" if name in current.model_fields_set else "default",
            "description": field.description or "",
        }
        for name, field in type(current).model_fields.items()
    ]


def _shown(value: object) -> str:
    if value in (None, "", [], {}):
        return "-"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
