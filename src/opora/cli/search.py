"""``opora search``: the passages that answer best, by meaning, by words or by both."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from opora.cli.client import Client
from opora.cli.exits import Exit


def search(
    query: Annotated[str, typer.Argument(help="What to look for.")],
    base: Annotated[list[str] | None, typer.Option("--base", "-b", help="Only these bases (name or id).")] = None,
    mode: Annotated[str, typer.Option(help="semantic, fulltext or hybrid.")] = "hybrid",
    limit: Annotated[int, typer.Option("--limit", "-n", help="How many results, 1 to 50.")] = 10,
    explain: Annotated[bool, typer.Option(help="Show ranks, scores and why candidates were dropped.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Search without asking: passages with their source, best first."""
    from opora.cli import session
    from opora.cli.show import show_candidates, show_results

    async def command(client: Client) -> dict[str, Any]:
        body: dict[str, Any] = {"query": query, "mode": mode, "match_count": limit, "explain": explain}
        if base:
            body["knowledge_base_ids"] = [await session.base_named(client, name, create=False) for name in base]
        answer = await client.envelope("POST", "/knowledge-search", json=body)
        found = {"results": answer["data"]}
        return found | {key: answer[key] for key in ("candidates", "warnings", "settings") if key in answer}

    found = session.run(command)
    if as_json:
        session.print_json(found)
    else:
        show_results(found["results"])
        if explain:
            show_candidates(found.get("candidates", []))
    if not found["results"]:
        raise typer.Exit(Exit.NOTHING_FOUND)
