"""The demonstration of `make run`: load the samples once, ask one question, print the cited answer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from opora.settings import Settings

BASE = "Samples"
QUESTION = "Когда компенсируют дорогу после поездки?"


async def run_demo(address: str, settings: Settings, folder: Path) -> None:
    """Speak to the running server as any client does."""
    from opora.cli.ask import answer_of
    from opora.cli.client import open_client
    from opora.cli.documents import every
    from opora.cli.ingest import Report, sync, watch
    from opora.cli.session import base_named
    from opora.cli.show import show_answer

    async with open_client(address, settings) as client:
        known = {base["name"] for base in await every(client, "/knowledge-bases")}
        report = Report(base_id=await base_named(client, BASE, create=True))
        if BASE not in known:
            typer.echo(f"Loading {folder}/ into the base '{BASE}' ...")
            await sync(client, folder.resolve(), report, keep_gone=True)
            await watch(client, report, quiet=False)
        session = await client.call("POST", "/sessions", json={})
        typer.echo(f"\nQuestion: {QUESTION}\n")
        body = {"query": QUESTION, "knowledge_base_ids": [report.base_id]}
        answer = await answer_of(client, session["id"], body, live=False)
        show_answer(answer, extractive=answer.pop("extractive"))
        typer.echo(f"\nAsk your own: {address}   (stop with Ctrl-C)")
