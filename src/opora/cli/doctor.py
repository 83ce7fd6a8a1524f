"""``opora doctor``: is everything there that this installation needs, and does it work?"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer

from opora.cli.client import ApiError, Client
from opora.cli.exits import Exit
from opora.domain.errors import OporaError

LOW_DISK_BYTES = 1 << 30
MEND_SECONDS = 60.0
POLL_SECONDS = 1.0


def doctor(
    mend: Annotated[bool, typer.Option("--mend", help="Have differences of the search index mended.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check the machine, the data folder, the stores and the models; each problem with a hint."""
    import asyncio

    from opora.cli.failures import log_for_people, reported
    from opora.cli.session import load_settings, print_json, with_client
    from opora.cli.words import say

    settings = load_settings()
    log_for_people(settings)
    checks = [_python(), _folder(settings.data), _disk(settings.data)]
    with reported(settings):
        try:
            checks += asyncio.run(with_client(settings, lambda client: _inside(client, mend=mend)))
        except (ApiError, OporaError) as exc:
            checks.append(_check("service", False, exc.message, exc.hint))
    well = all(check["ok"] for check in checks)
    if as_json:
        print_json({"checks": checks, "ok": well})
    else:
        for check in checks:
            say(f"{'ok ' if check['ok'] else 'BAD'}  {check['name']:<18} {check['detail']}")
            if check.get("hint"):
                say(f"     {check['hint']}")
    if not well:
        raise typer.Exit(Exit.FAILED)


async def _inside(client: Client, *, mend: bool) -> list[dict[str, Any]]:
    info = await client.call("GET", "/system/info")
    service = _check("service", True, client.address or "not running; opened in this process")
    return [service, *info["checks"], await _index(client, mend=mend)]


async def _index(client: Client, *, mend: bool) -> dict[str, Any]:
    """Whether the search index holds of each base what the database says."""
    bases = await client.every("/knowledge-bases")
    wrong = [told for base in bases if (told := await _difference(client, base, mend=mend))]
    hint = "opora doctor --mend writes again what is missing, and takes out what belongs to nothing."
    return _check(
        "search index", not wrong, "; ".join(wrong) or f"{len(bases)} knowledge bases are as they should", hint
    )


async def _difference(client: Client, base: dict[str, Any], *, mend: bool) -> str:
    """What is wrong, in words; '' for nothing, and while documents are taken in: then differences come and go."""
    path = f"/knowledge-bases/{base['id']}"
    found = await client.call("GET", f"{path}/index")
    if mend and not found["is_sound"]:
        await client.call("POST", f"{path}/index")
        found = await _mended(client, path)
    statuses = (await client.call("GET", f"{path}/stats"))["documents_by_status"]
    if found["is_sound"] or statuses["pending"] or statuses["processing"]:
        return ""
    counts = ", ".join(f"{found[name]} {name}" for name in ("missing", "stray", "vectorless") if found[name])
    return f"'{base['name']}': {counts}"


async def _mended(client: Client, path: str) -> dict[str, Any]:
    """The comparison once a worker has been there, or after as long as one may take."""
    import asyncio

    await client.settle(seconds=MEND_SECONDS)
    for _ in range(int(MEND_SECONDS / POLL_SECONDS)):
        found: dict[str, Any] = await client.call("GET", f"{path}/index")
        if found["is_sound"]:
            break
        await asyncio.sleep(POLL_SECONDS)
    return found


def _check(name: str, ok: bool, detail: str, hint: str = "") -> dict[str, Any]:
    return {"name": name, "ok": ok, "detail": detail, "hint": "" if ok else hint}


def _python() -> dict[str, Any]:
    return _check("python", sys.version_info >= (3, 11), sys.version.split()[0], "Opora needs Python 3.11 or newer.")


def _folder(path: Path) -> dict[str, Any]:
    hint = "Set OPORA_DATA to a folder you may write to."
    try:
        with tempfile.TemporaryFile(dir=_existing(path)):
            return _check("data folder", True, str(path))
    except OSError as exc:
        return _check("data folder", False, f"{path}: {exc.strerror}", hint)


def _disk(path: Path) -> dict[str, Any]:
    free = shutil.disk_usage(_existing(path)).free
    hint = "Less than 1 GiB is free: documents and their vectors need room."
    return _check("disk", free > LOW_DISK_BYTES, f"{free / (1 << 30):.1f} GiB free", hint)


def _existing(path: Path) -> Path:
    return next(folder for folder in (path, *path.absolute().parents) if folder.exists())
