"""``opora documents``: list, show and delete documents."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from opora.cli.client import Client

app = typer.Typer(name="documents", help="List, show and delete documents.", no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command(name="list")
def list_documents(
    base: Annotated[list[str] | None, typer.Option("--base", "-b", help="Only these bases (name or id).")] = None,
    status: Annotated[str, typer.Option(help="Only pending, processing, completed or failed ones.")] = "",
    as_json: AsJson = False,
) -> None:
    """All documents with their status."""
    from opora.cli import session

    async def command(client: Client) -> list[dict[str, Any]]:
        if base:
            ids = [await session.base_named(client, name, create=False) for name in base]
        else:
            ids = [b["id"] for b in await every(client, "/knowledge-bases")]
        params = {"parse_status": status} if status else {}
        return [doc for base_id in ids for doc in await every(client, f"/knowledge-bases/{base_id}/knowledge", params)]

    found = session.run(command)
    if as_json:
        session.print_json({"documents": found})
        return
    for doc in found:
        typer.echo(f"{doc['id']}  {doc['parse_status']:<10} {doc.get('chunk_count', 0):>5} chunks  {doc['file_name']}")
        if doc.get("error_message"):
            typer.echo(f"    {doc['error_message']}")


@app.command()
def show(
    document_id: Annotated[str, typer.Argument(help="Id of the document.")],
    text: Annotated[bool, typer.Option("--text", help="Print its text as well.")] = False,
    as_json: AsJson = False,
) -> None:
    """One document: status, size, version and, if wanted, its text."""
    from opora.cli import session

    async def command(client: Client) -> dict[str, Any]:
        found: dict[str, Any] = await client.call("GET", f"/knowledge/{document_id}")
        if text:
            found["text"] = (await client.call("GET", f"/knowledge/{document_id}/text"))["text"]
        return found

    found = session.run(command)
    if as_json:
        session.print_json(found)
        return
    body = found.pop("text", "")
    for name, value in found.items():
        if value not in ("", None, [], {}):
            typer.echo(f"{name:<18} {value}")
    if body:
        typer.echo(f"\n{body}")


@app.command()
def delete(
    document_ids: Annotated[list[str], typer.Argument(help="Ids of the documents.")],
    as_json: AsJson = False,
) -> None:
    """Delete documents: they are hidden at once and then removed from every store."""
    from opora.cli import session

    async def command(client: Client) -> None:
        for document_id in document_ids:
            await client.call("DELETE", f"/knowledge/{document_id}")

    session.run(command)
    if as_json:
        session.print_json({"deleted": document_ids})
    else:
        typer.echo(f"Deleted: {len(document_ids)}")


async def every(client: Client, path: str, params: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    """All pages of a list."""
    found: list[dict[str, Any]] = []
    page = 1
    while True:
        listed = await client.envelope("GET", path, params={**(params or {}), "page": page, "page_size": 100})
        found.extend(listed["data"])
        if not listed["data"] or len(found) >= listed["total"]:
            return found
        page += 1
