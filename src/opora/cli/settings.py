"""``opora settings``: every setting with its value, where it came from and what it is for."""

from __future__ import annotations

from typing import Annotated, Any

import typer


def settings(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Print every setting, its value, the variable that sets it and whether it is set."""
    from opora.cli.session import load_settings, print_json

    rows = _rows(load_settings())
    if as_json:
        print_json({"settings": rows})
        return
    for row in rows:
        mark = "*" if row["origin"] == "environment" else " "
        typer.echo(f"{mark} {row['variable']:<36} {row['value']}\n    {row['description']}")
    typer.echo("\n* set by the environment")


def _rows(current: Any) -> list[dict[str, Any]]:
    rows = []
    for name, field in type(current).model_fields.items():
        variable = str(field.validation_alias or f"OPORA_{name}".upper())
        value = getattr(current, name)
        rows.append(
            {
                "name": name,
                "variable": variable,
                "value": value if isinstance(value, int | float | str) or value is None else str(value),
                "origin": "environment" if name in current.model_fields_set else "default",
                "description": field.description or "",
            }
        )
    return rows
