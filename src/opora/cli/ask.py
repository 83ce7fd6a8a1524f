"""``opora ask``: one question, one answer with its sources."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from opora.cli.client import ApiError, Client
from opora.cli.exits import Exit


def ask(
    question: Annotated[str, typer.Argument(help="What you want to know.")],
    base: Annotated[list[str] | None, typer.Option("--base", "-b", help="Only these bases (name or id).")] = None,
    session_id: Annotated[str, typer.Option("--session", help="Go on in this session.")] = "",
    explain: Annotated[
        bool, typer.Option(help="Show every candidate's way through the stages, and every setting in force.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Ask a question of the documents; the answer names its sources."""
    from opora.cli import session
    from opora.cli.show import show_answer, show_candidates, show_settings

    async def command(client: Client) -> dict[str, Any]:
        where = session_id or (await client.call("POST", "/sessions", json={}))["id"]
        body: dict[str, Any] = {"query": question, "explain": explain}
        if base:
            body["knowledge_base_ids"] = [await session.base_named(client, name, create=False) for name in base]
        answer = await answer_of(client, where, body, live=not as_json and sys.stderr.isatty())
        if explain:
            answer["trace"] = await client.call("GET", f"/messages/{answer['message_id']}/trace")
        return answer

    answer = session.run(command)
    extractive = answer.pop("extractive")
    if as_json:
        session.print_json(answer)
    else:
        show_answer(answer, extractive=extractive)
        if explain:
            show_candidates(answer["trace"].get("candidates", []))
            show_settings(answer["trace"].get("settings", {}))
    if answer["finish"] == "nothing_found":
        raise typer.Exit(Exit.NOTHING_FOUND)
    if answer["finish"] == "error":
        raise typer.Exit(Exit.FAILED)


async def answer_of(client: Client, session_id: str, body: dict[str, Any], *, live: bool) -> dict[str, Any]:
    """Follow the stream to its terminal event and fold it."""
    answer: dict[str, Any] = {
        "answer": "",
        "references": [],
        "session_id": session_id,
        "message_id": "",
        "finish": "error",
        "extractive": False,
    }
    async for event in client.events(f"/knowledge-chat/{session_id}", body):
        data = event.get("data") or {}
        match event["response_type"]:
            case "agent_query":
                answer["message_id"] = event.get("assistant_message_id") or data.get("assistant_message_id", "")
            case "references":
                answer["references"] = event.get("knowledge_references", [])
            case "answer":
                answer["answer"] += event.get("content", "")
                answer["extractive"] = answer["extractive"] or bool(data.get("extractive"))
                if live:
                    typer.echo(".", nl=False, err=True)
            case "error":
                answer["error"] = event.get("content", "")
            case "complete":
                answer["finish"] = data.get("finish", "complete")
    if live:
        typer.echo("\r", nl=False, err=True)
    if not answer["message_id"]:
        raise ApiError("The service sent no answer.", status=502)
    return answer
