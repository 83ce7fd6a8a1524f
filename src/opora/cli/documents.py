"""``opora documents``: list, show and delete documents."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any
from urllib.parse import quote

import typer

from opora.cli.client import ApiError, Client
from opora.cli.exits import Exit

app = typer.Typer(name="documents", help="List, show and delete documents.", no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
SETTLE_SECONDS = 30.0


class Status(StrEnum):
    PENDING = "pending"
    PROCESSING = "processing"
    COMPLETED = "completed"
    FAILED = "failed"


@app.command(name="list")
def list_documents(
    base: Annotated[list[str] | None, typer.Option("--base", "-b", help="Only these bases (name or id).")] = None,
    status: Annotated[Status | None, typer.Option(help="Only those that stand so.")] = None,
    as_json: AsJson = False,
) -> None:
    """All documents with their base and status."""
    from opora.cli import session
    from opora.cli.words import cell, say

    async def command(client: Client) -> tuple[list[dict[str, Any]], dict[str, str]]:
        names = {row["id"]: row["name"] for row in await client.every("/knowledge-bases")}
        params = {"status": status.value} if status else {}
        found: list[dict[str, Any]] = []
        for base_id in await session.bases_named(client, base) or names:
            found += await client.every(f"/knowledge-bases/{base_id}/knowledge", params)
        return found, names

    found, names = session.run(command)
    if as_json:
        session.print_json({"documents": found})
        return
    for doc in found:
        base_name = cell(names.get(doc["knowledge_base_id"], ""), 16)
        say(f"{doc['id']}  {doc['parse_status']:<10} {doc['chunk_count']:>5} chunks  {base_name}  {doc['file_name']}")
        if doc.get("error_message"):
            say(f"    {doc['error_message']}")
    if not found:
        say("opora: There are no documents here.", to_people=True)


@app.command()
def show(
    document_id: Annotated[str, typer.Argument(help="Id of the document.")],
    text: Annotated[bool, typer.Option("--text", help="Print its text as well.")] = False,
    steps: Annotated[bool, typer.Option("--steps", help="Print what its processing did as well.")] = False,
    as_json: AsJson = False,
) -> None:
    """One document: status, size, version and, if wanted, its text."""
    from opora.cli import session
    from opora.cli.words import say

    async def command(client: Client) -> dict[str, Any]:
        found = await _one(client, "GET", document_id)
        if text:
            try:
                found["text"] = (await client.call("GET", f"/knowledge/{found['id']}/text"))["text"]
            except ApiError as exc:
                if exc.status != 404:
                    raise
                reason = found["error_message"] or "It has not been read yet."
                raise ApiError(f"The document has no text. {reason}", status=404, code=exc.code) from exc
        if steps:
            found["steps"] = await client.call("GET", f"/knowledge/{found['id']}/spans")
        return found

    found = session.run(command)
    if as_json:
        session.print_json(found)
        return
    body, done = found.pop("text", None), found.pop("steps", [])
    for name, value in found.items():
        if value not in ("", None, [], {}):
            say(f"{name:<18} {value}")
    for step in done:
        counts = ", ".join(f"{name} {count:,}" for name, count in step["counts"].items())
        say(f"{step['attempt']:>3}. {step['name']:<14} {step['milliseconds']:>10,.1f} ms  {step['error'] or counts}")
    if body is not None:
        say(f"\n{body}")


@app.command()
def delete(
    document_ids: Annotated[list[str], typer.Argument(help="Ids of the documents.")],
    as_json: AsJson = False,
) -> None:
    """Delete documents: they are hidden at once and then removed from every store."""
    from opora.cli import session
    from opora.cli.words import say

    async def command(client: Client) -> tuple[list[str], list[str]]:
        deleted: list[str] = []
        missing: list[str] = []
        for document_id in dict.fromkeys(document_ids):
            try:
                await _one(client, "DELETE", document_id)
            except ApiError as exc:
                if exc.status != 404:
                    raise
                missing.append(document_id)
            else:
                deleted.append(document_id)
        await client.settle(seconds=SETTLE_SECONDS)
        return deleted, missing

    deleted, missing = session.run(command)
    if as_json:
        session.print_json({"deleted": deleted, "missing": missing})
    elif deleted:
        say(f"Deleted: {len(deleted)}")
    for document_id in missing:
        say(f"opora: There is no document '{document_id}'.", to_people=True)
    if missing:
        raise typer.Exit(Exit.PARTLY if deleted else Exit.FAILED)


async def _one(client: Client, method: str, document_id: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = await client.call(method, f"/knowledge/{quote(document_id, safe='')}")
    except ApiError as exc:
        if exc.status != 404:
            raise
        hint = "`opora documents list` shows the ids."
        raise ApiError(f"There is no document '{document_id}'.", status=404, code=exc.code, hint=hint) from exc
    return found
