"""Asks one question in a process of its own and holds the answer in the middle, until it is stopped or killed.

Without the address of a Redis the log is in its memory.
"""

from __future__ import annotations

import asyncio
import json
import sys

from opora.bootstrap import App, Models
from opora.domain.scope import LOCAL_PRINCIPAL
from opora.models.scripted import ScriptedChat
from opora.settings import Settings


async def main(data: str, url: str, prefix: str, free: str = "2") -> None:
    held = asyncio.Event()
    said = 0

    async def hold() -> None:
        nonlocal said
        said += 1
        if said > int(free):
            held.set()
            await asyncio.Event().wait()

    settings = Settings.model_validate(
        {
            "data": data,
            "embedding": "none",
            "STREAM_MANAGER_TYPE": "redis" if url else "memory",
            "REDIS_URL": url or None,
            "REDIS_PREFIX": prefix,
            "retrieval": {"enable_rewrite": False},
        }
    )
    model = ScriptedChat(["Раз ", "два ", "три"], before_each=hold)
    app = await App.open(settings, models=Models(embedder=None, chat=model))
    tenant = await app.access.tenant(LOCAL_PRINCIPAL)
    session = await app.sessions.create(tenant, title="Разговор")
    asked = await app.chat.ask(tenant, session.session_id, "Посчитай")
    await held.wait()
    print(json.dumps([session.session_id, asked.assistant_message_id]), flush=True)
    async for _ in app.chat.follow(tenant, session.session_id, asked.assistant_message_id):
        pass
    await app.close()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
