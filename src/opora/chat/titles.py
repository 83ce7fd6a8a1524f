"""Names sessions: by the chat model where there is one, else by the question itself, shortened."""

from __future__ import annotations

import asyncio
import logging
import re
from dataclasses import replace

from opora.domain.conversation import Role
from opora.domain.errors import InvalidInput, ModelError
from opora.domain.scope import Scope
from opora.pipeline.history import without_thinking
from opora.ports import ChatModel, ChatOptions, Clock, Database
from opora.prompt.build import title_messages
from opora.text.language import detect_language

_log = logging.getLogger(__name__)

TITLE_CHARS = 60
TITLE_SECONDS = 60.0
QUESTION_CHARS = 2_000
"""How much of a question the model is shown."""
FIRST_MESSAGES = 200
_OPTIONS = ChatOptions(temperature=0.3, max_tokens=512)
_LABEL = re.compile(r"^(?:title|заголовок|标题)\s*[:：]\s*", re.IGNORECASE)
_AROUND = " \t\"'`*#_«»“”„‘’《》"


def shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= TITLE_CHARS else line[: TITLE_CHARS - 1].rstrip() + "…"


def cleaned(reply: str) -> str:
    """The title in a model's reply: its first line, without label, quotation marks and full stop."""
    for line in without_thinking(reply).splitlines():
        title = _LABEL.sub("", line.strip(_AROUND)).strip(_AROUND).rstrip(".。").strip(_AROUND)
        if title:
            return shortened(title)
    return ""


class Titles:
    """What a person wrote over a title stays: only the shortened question is replaced unasked."""

    def __init__(self, database: Database, model: ChatModel | None, clock: Clock) -> None:
        self._database = database
        self.model = model
        self._clock = clock

    async def made_from(self, question: str, model: ChatModel | None) -> str:
        """A title for a question; the shortened question when there is no model, or it fails."""
        if model is not None:
            try:
                async with asyncio.timeout(TITLE_SECONDS):
                    title = await _asked(model, question)
            except (ModelError, TimeoutError) as exc:
                _log.warning("A title could not be made: %s", exc)
            else:
                if title:
                    return title
        return shortened(question)

    async def replace(self, scope: Scope, session_id: str, *, old: str, title: str) -> bool:
        """False when the session's title is another by now."""
        async with self._database.begin() as repositories:
            session = await repositories.sessions.get(scope, session_id)
            if session.title != old:
                return False
            await repositories.sessions.update(scope, replace(session, title=title, updated_at=self._clock()))
        return True

    async def generate(self, scope: Scope, session_id: str, question: str = "") -> str:
        """Make a title anew, from the session's first question or the given one, and store it.

        Raises `InvalidInput` when there is no question.
        """
        async with self._database.read() as repositories:
            await repositories.sessions.get(scope, session_id)
            messages = await repositories.messages.recent(scope, session_id, limit=FIRST_MESSAGES)
        asked = [message.content for message in messages if message.role is Role.USER]
        text = question.strip() or next(iter(asked), "")
        if not text:
            raise InvalidInput("There is nothing to make a title from.", hint="Ask a question first.")
        title = await self.made_from(text, self.model)
        async with self._database.begin() as repositories:
            session = await repositories.sessions.get(scope, session_id)
            await repositories.sessions.update(scope, replace(session, title=title, updated_at=self._clock()))
        return title


async def _asked(model: ChatModel, question: str) -> str:
    messages = title_messages(question[:QUESTION_CHARS], language=detect_language(question))
    reply = [delta.content async for delta in model.stream(messages, _OPTIONS)]
    return cleaned("".join(reply))
