"""What a model thinks goes through the decoder of citations as its answer does: no mark and no alias is ever shown."""

from __future__ import annotations

import re
from pathlib import Path

from opora.bootstrap import App, Models
from opora.domain.scope import LOCAL_PRINCIPAL
from opora.domain.stream import ResponseType
from opora.models.scripted import ScriptedChat
from opora.ports import ChatDelta
from opora.settings import Settings

THOUGHT = 'Смотрю a < b<ref id="c1"/> и <ref id="c99"/>дальше<ref id="c'


async def test_marks_in_thoughts_become_tags_or_vanish(tmp_path: Path) -> None:
    model = ScriptedChat([*(ChatDelta(thinking=char) for char in THOUGHT), "После возвращения."])
    app = await App.open(Settings(data=tmp_path, embedding="none"), models=Models(embedder=None, chat=model))
    try:
        tenant = await app.access.tenant(LOCAL_PRINCIPAL)
        base = await app.bases.create(tenant, name="Правила")
        scope = await app.access.bases(LOCAL_PRINCIPAL, [base.base_id])
        text = "Расходы на проезд возмещают после возвращения."
        document = await app.documents.add_text(scope, base.base_id, title="Проезд", content=text)
        await app.documents.wait(scope, [document.document_id], timeout=30)
        session = await app.sessions.create(tenant, title="Проезд")
        asked = await app.chat.ask(
            scope, session.session_id, "Когда возмещают проезд?", overrides={"enable_rewrite": False}
        )
        followed = app.chat.follow(scope, session.session_id, asked.assistant_message_id)
        events = [event async for _, event in followed]
        message = await app.sessions.message(scope, asked.assistant_message_id)
    finally:
        await app.close()
    thoughts = [event.content for event in events if event.response_type is ResponseType.THINKING]
    assert all("<ref" not in thought for thought in thoughts)
    whole = re.sub(r"<kb [^<>]*/>", "<kb/>", "".join(thoughts))
    assert whole == "Смотрю a < b<kb/> и дальше"
    assert message.content == "После возвращения."
