"""``opora search``: the passages that answer best, by meaning, by words or by both."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from opora.cli.client import Client
from opora.cli.exits import Exit
from opora.domain.search import DOOR_MATCH_COUNT, MAX_DOOR_MATCH_COUNT, SearchMode

NO_DOCUMENTS = "There are no documents yet. Load some first: opora ingest FOLDER"
NO_MATCH = "Nothing found. Try other words, or fewer."


def search(
    query: Annotated[str, typer.Argument(help="What to look for.")],
    base: Annotated[list[str] | None, typer.Option("--base", "-b", help="Only these bases (name or id).")] = None,
    mode: Annotated[SearchMode, typer.Option(help="By meaning, by words, or by both.")] = SearchMode.HYBRID,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=MAX_DOOR_MATCH_COUNT, help="How many results.")
    ] = DOOR_MATCH_COUNT,
    explain: Annotated[bool, typer.Option("--explain", help="Show ranks, scores and why candidates dropped.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Search without asking: passages with their source, best first."""
    from opora.cli import session
    from opora.cli.explain import show_candidates
    from opora.cli.show import show_results
    from opora.cli.words import say

    async def command(client: Client) -> tuple[dict[str, Any], str]:
        body: dict[str, Any] = {"query": query, "mode": mode.value, "match_count": limit, "explain": explain}
        body["knowledge_base_ids"] = await session.bases_named(client, base)
        answer = await client.envelope("POST", "/knowledge-search", json=body)
        found = {"results": answer["data"]}
        found |= {key: answer[key] for key in ("candidates", "warnings") if key in answer}
        return found, "" if found["results"] else await why_nothing(client)

    found, reason = session.run(command)
    if as_json:
        session.print_json(found)
    else:
        show_results(found["results"])
        if explain:
            show_candidates(found.get("candidates", []))
    for warning in [] if as_json or reason == NO_DOCUMENTS else found.get("warnings", []):
        say(f"opora: {warning}", to_people=True)
    if not found["results"]:
        say(f"opora: {reason}", to_people=True)
        raise typer.Exit(Exit.NOTHING_FOUND)


async def why_nothing(client: Client) -> str:
    """Nothing to find, or nothing that fits?"""
    for base in await client.every("/knowledge-bases"):
        path = f"/knowledge-bases/{base['id']}/knowledge"
        if (await client.envelope("GET", path, params={"page_size": 1}))["total"]:
            return NO_MATCH
    return NO_DOCUMENTS
