"""``opora mcp``: the documents for an assistant that starts this command and speaks with it over standard streams."""

from __future__ import annotations

from opora.cli.exits import Exit, fail


def mcp() -> None:
    """Serve an assistant over standard input and output (Model Context Protocol)."""
    from opora.cli import session
    from opora.cli.client import Client

    try:
        from mcp.server.stdio import stdio_server

        from opora.mcp.server import make_server
    except ImportError as exc:
        raise fail(
            "The library of the Model Context Protocol is not installed.",
            hint="Install it: pip install -e '.[mcp]' in Opora's folder, inside .venv.",
            code=Exit.UNAVAILABLE,
        ) from exc

    async def command(client: Client) -> None:
        service = client.service()
        server = make_server(lambda context: service)
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    session.run(command)
