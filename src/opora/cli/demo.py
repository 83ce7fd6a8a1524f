"""The demonstration of `make run`: load the samples once, ask one question, print the cited answer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opora.settings import Settings

BASE = "Samples"
QUESTION = "Когда компенсируют дорогу после поездки?"


async def run_demo(address: str, settings: Settings, folder: Path) -> None:
    """Speak to the running server as any client does."""
    from opora.cli.answer import answer_of, citations_of
    from opora.cli.client import open_client
    from opora.cli.ingest import take
    from opora.cli.session import base_for
    from opora.cli.show import show_answer, show_sources
    from opora.cli.words import say

    async with open_client(address, settings) as client:
        known = {base["name"] for base in await client.every("/knowledge-bases")}
        base_id = await base_for(client, BASE)
        if BASE not in known:
            say(f"Loading {folder}/ into the base '{BASE}' ...")
            await take(client, base_id, [folder], keep_gone=True, wait=True)
        session = await client.call("POST", "/sessions", json={})
        say(f"\nQuestion: {QUESTION}\n")
        answer = await answer_of(client, session["id"], {"query": QUESTION, "knowledge_base_ids": [base_id]})
        show_answer(answer.as_dict(), extractive=answer.extractive)
        show_sources(answer.as_dict(), await citations_of(client, answer))
        say(f"\nAsk your own: {address}   (stop with Ctrl-C)")
