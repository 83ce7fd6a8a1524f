"""``opora ask``: one question, one answer with its sources."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from opora.cli.client import ApiError, Client
from opora.cli.exits import Exit

if TYPE_CHECKING:
    from opora.cli.answer import Answer


def ask(
    question: Annotated[str, typer.Argument(help="What you want to know.")],
    base: Annotated[list[str] | None, typer.Option("--base", "-b", help="Only these bases (name or id).")] = None,
    session_id: Annotated[str, typer.Option("--session", help="Go on in this session.")] = "",
    agent: Annotated[str, typer.Option("--agent", help="Ask this agent (name or id).")] = "",
    explain: Annotated[
        bool, typer.Option("--explain", help="Show every candidate's way through the stages, and every setting.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Ask a question of the documents; the answer names its sources."""
    from opora.cli import session
    from opora.cli.answer import Printer, answer_of, citations_of
    from opora.cli.explain import show_candidates, show_settings
    from opora.cli.show import show_answer, show_end, show_sources
    from opora.text.query import clean_query

    printer = Printer() if sys.stdout.isatty() and not as_json else None

    async def command(client: Client) -> tuple[Answer, dict[str, Any], list[dict[str, Any]]]:
        # Refused here already: a session that nothing is asked in would be left behind.
        body: dict[str, Any] = {"query": clean_query(question), "explain": explain}
        body["knowledge_base_ids"] = await session.bases_named(client, base)
        if agent:
            body["agent_id"] = await session.agent_named(client, agent)
        answer = await answer_of(client, await _session(client, session_id), body, printer=printer)
        trace = await client.call("GET", f"/messages/{answer.message_id}/trace") if explain else {}
        return answer, trace, [] if as_json else await citations_of(client, answer)

    answer, trace, citations = session.run(command)
    if as_json:
        session.print_json(answer.as_dict() | ({"trace": trace} if explain else {}))
    else:
        if printer is None:
            show_answer(answer.as_dict(), extractive=answer.extractive)
        else:
            show_end(answer.as_dict())
        show_sources(answer.as_dict(), citations)
        if explain:
            show_candidates(trace.get("candidates", []))
            show_settings(trace.get("settings", {}))
    if answer.finish == "nothing_found":
        raise typer.Exit(Exit.NOTHING_FOUND)
    if answer.finish == "error":
        raise typer.Exit(Exit.FAILED)


async def _session(client: Client, session_id: str) -> str:
    """The session to ask in: the one that was named, or a new one."""
    if not session_id:
        return str((await client.call("POST", "/sessions", json={}))["id"])
    from urllib.parse import quote

    try:
        return str((await client.call("GET", f"/sessions/{quote(session_id, safe='')}"))["id"])
    except ApiError as exc:
        if exc.status != 404:
            raise
        hint = "Without --session a new one is begun; `opora ask --json` prints its id."
        raise ApiError(f"There is no session '{session_id}'.", status=404, code=exc.code, hint=hint) from exc
