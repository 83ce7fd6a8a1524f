"""``opora agents``: list agents and see what they choose."""

from __future__ import annotations

from typing import Annotated, Any

import typer

app = typer.Typer(name="agents", help="List agents, and see what they choose.", no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command(name="list")
def list_agents(as_json: AsJson = False) -> None:
    """All agents, the built-in one first."""
    from opora.cli import session
    from opora.cli.words import say

    found = session.run(lambda client: client.call("GET", "/agents"))
    if as_json:
        session.print_json({"agents": found})
        return
    for agent in found:
        say(f"{agent['id']}  {agent['name']}")


@app.command()
def show(agent: Annotated[str, typer.Argument(help="The agent (name or id).")], as_json: AsJson = False) -> None:
    """What an agent chooses; what is left out is as the tenant has it."""
    from opora.cli import session
    from opora.cli.client import Client
    from opora.cli.words import say

    async def command(client: Client) -> dict[str, Any]:
        agent_id = await session.agent_named(client, agent)
        found: dict[str, Any] = await client.call("GET", f"/agents/{agent_id}")
        return found

    found = session.run(command)
    if as_json:
        session.print_json(found)
        return
    for name, value in found.items():
        if isinstance(value, dict):
            for inner, chosen in value.items():
                say(f"{name + '.' + inner:<40} {chosen}")
        elif value not in ("", None, False):
            say(f"{name:<40} {', '.join(value) if isinstance(value, list) else value}")
