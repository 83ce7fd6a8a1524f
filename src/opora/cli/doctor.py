"""``opora doctor``: is everything there that this installation needs, and does it work?"""

from __future__ import annotations

import os
import shutil
import sys
from typing import Annotated, Any

import typer

from opora.cli.client import Client
from opora.cli.exits import Exit

LOW_DISK_BYTES = 1 << 30


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Check the machine, the data folder, the stores and the models; each problem with a hint."""
    from opora.cli.session import load_settings, print_json, run

    settings = load_settings()
    checks = [_python(), _folder(settings.data), _disk(settings.data)]

    async def command(client: Client) -> list[dict[str, Any]]:
        info = await client.call("GET", "/system/info")
        return [_check("service", True, client.address or "not running; opened in this process"), *info["checks"]]

    if all(check["ok"] for check in checks):
        checks += run(command, settings=settings)
    if as_json:
        print_json({"checks": checks, "ok": all(check["ok"] for check in checks)})
    else:
        for check in checks:
            typer.echo(f"{'ok ' if check['ok'] else 'BAD'}  {check['name']:<18} {check['detail']}")
            if check.get("hint"):
                typer.echo(f"     {check['hint']}")
    if not all(check["ok"] for check in checks):
        raise typer.Exit(Exit.FAILED)


def _check(name: str, ok: bool, detail: str, hint: str = "") -> dict[str, Any]:
    return {"name": name, "ok": ok, "detail": detail, "hint": "" if ok else hint}


def _python() -> dict[str, Any]:
    return _check("python", sys.version_info >= (3, 11), sys.version.split()[0], "Opora needs Python 3.11 or newer.")


def _folder(path: Any) -> dict[str, Any]:
    existing = next(folder for folder in (path, *path.parents) if folder.exists())
    return _check(
        "data folder", os.access(existing, os.W_OK), str(path), "Set OPORA_DATA to a folder you may write to."
    )


def _disk(path: Any) -> dict[str, Any]:
    existing = next(folder for folder in (path, *path.parents) if folder.exists())
    free = shutil.disk_usage(existing).free
    return _check("disk", free > LOW_DISK_BYTES, f"{free / (1 << 30):.1f} GiB free", "Less than 1 GiB is free.")
