"""``opora ingest``: take in files and folders; again on the same folder takes up what changed and what is gone."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from opora.cli.client import ApiError, Client
from opora.cli.exits import Exit

UPLOADS_AT_ONCE = 4
POLL_SECONDS = 0.5
DEFAULT_BASE = "Documents"


@dataclass(slots=True)
class Report:
    """What became of each file, by path."""

    base_id: str = ""
    added: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    refused: list[dict[str, str]] = field(default_factory=list)
    failed: list[dict[str, str]] = field(default_factory=list)
    documents: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


def ingest(
    paths: Annotated[list[Path], typer.Argument(help="Files and folders.", exists=True)],
    base: Annotated[str, typer.Option("--base", "-b", help="Name or id; a new name makes a base.")] = DEFAULT_BASE,
    wait: Annotated[bool, typer.Option(help="Wait until every document is ready.")] = True,
    keep_gone: Annotated[bool, typer.Option("--keep-gone", help="Keep documents whose file is gone.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Take documents into a knowledge base."""
    from opora.cli import session

    async def command(client: Client) -> Report:
        report = Report(base_id=await session.base_named(client, base, create=True))
        for path in paths:
            await sync(client, path.resolve(), report, keep_gone=keep_gone)
        # Without a server the work happens here, and would stop with this process.
        if wait or not client.address:
            await watch(client, report, quiet=as_json)
        return report

    report = session.run(command)
    if as_json:
        session.print_json(report.as_dict())
    else:
        _print(report)
    if report.failed or report.refused:
        raise typer.Exit(Exit.PARTLY)


async def sync(client: Client, path: Path, report: Report, *, keep_gone: bool) -> None:
    """Bring one file or folder into the base: new and changed files in, documents whose file is gone out."""
    from opora.cli.documents import every

    listing = f"/knowledge-bases/{report.base_id}/knowledge"
    known = {
        doc["source"]: doc
        for doc in await every(client, listing, {"source_prefix": str(path)})
        if doc["source"] == str(path) or doc["source"].startswith(str(path) + "/")
    }
    limit = asyncio.Semaphore(UPLOADS_AT_ONCE)
    files = list(files_in(path))

    async def one(file: Path) -> None:
        async with limit:
            await _take(client, file, known.get(str(file)), report)

    await asyncio.gather(*(one(file) for file in files))
    if path.is_dir() and not keep_gone:
        here = {str(file) for file in files}
        for source, doc in known.items():
            if source not in here:
                await client.call("DELETE", f"/knowledge/{doc['id']}")
                report.removed.append(source)


def files_in(path: Path) -> Iterator[Path]:
    """The file itself, or all files below the folder in a fixed order, without hidden ones and links that lead out."""
    if path.is_file():
        yield path
        return
    for found in sorted(path.rglob("*")):
        relative = found.relative_to(path)
        hidden = any(part.startswith((".", "~$")) for part in relative.parts)
        if found.is_file() and not hidden and found.resolve().is_relative_to(path):
            yield found


async def _take(client: Client, file: Path, known: dict[str, Any] | None, report: Report) -> None:
    try:
        data = await asyncio.to_thread(file.read_bytes)
    except OSError as exc:
        report.refused.append({"path": str(file), "message": exc.strerror or "The file can't be read."})
        return
    if known and known["file_hash"] == hashlib.sha256(data).hexdigest() and known["parse_status"] != "failed":
        report.unchanged.append(str(file))
        report.documents.append(known["id"])
        return
    try:
        doc = await client.call(
            "POST",
            f"/knowledge-bases/{report.base_id}/knowledge/file",
            files={"file": (file.name, data)},
            data={"source": str(file), "replace": "true"},
        )
    except ApiError as exc:
        if exc.status == 409:
            report.unchanged.append(str(file))
        else:
            report.refused.append({"path": str(file), "message": f"{exc.message} {exc.hint}".strip()})
        return
    (report.replaced if known else report.added).append(str(file))
    report.documents.append(doc["id"])


async def watch(client: Client, report: Report, *, quiet: bool) -> None:
    """Wait until every document has ended, showing how far they are."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    waiting = set(report.documents)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[left]}"))
    with Progress(*columns, console=Console(stderr=True), disable=quiet) as bars:
        bar = bars.add_task("documents", total=len(waiting), left="")
        while waiting:
            left = 0.0
            for document_id in sorted(waiting):
                state = await client.call("GET", f"/knowledge/{document_id}/progress")
                if state["parse_status"] == "failed":
                    doc = await client.call("GET", f"/knowledge/{document_id}")
                    report.failed.append(
                        {
                            "id": document_id,
                            "path": doc.get("source") or doc["file_name"],
                            "reason": doc.get("error_reason", ""),
                            "message": doc.get("error_message", ""),
                        }
                    )
                if state["parse_status"] in ("failed", "completed"):
                    waiting.discard(document_id)
                left = max(left, state.get("seconds_left") or 0.0)
            note = f"vectors in about {left:.0f} s; words are searchable already" if left >= 1 else ""
            bars.update(bar, completed=len(report.documents) - len(waiting), left=note)
            if waiting:
                await asyncio.sleep(POLL_SECONDS)


def _print(report: Report) -> None:
    typer.echo(
        f"{len(report.added)} added, {len(report.replaced)} replaced, {len(report.unchanged)} unchanged, "
        f"{len(report.removed)} removed, {len(report.failed) + len(report.refused)} failed"
    )
    for row in (*report.refused, *report.failed):
        typer.echo(f"  {row['path']}: {row['message']}", err=True)
