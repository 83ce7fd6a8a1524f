"""Asks, follows and stops: every question runs as a task of its own, and readers only follow its log."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import Any

from opora.chat.answering import Answering
from opora.chat.choosing import Chooser, Named
from opora.chat.citations import CitationChecker
from opora.chat.layers import LayeredSettings
from opora.chat.logs import Logs
from opora.chat.orchestrator import Orchestrator
from opora.chat.pictures import with_images
from opora.chat.rounds import Rounds
from opora.chat.titles import Titles
from opora.domain.conversation import NOTHING_BESIDE, Beside, Finish, Message
from opora.domain.errors import NotFound, OporaError
from opora.domain.pictures import Picture
from opora.domain.question import Question
from opora.domain.scope import Scope
from opora.domain.stream import ResponseType, StreamEvent
from opora.pipeline.run import Run
from opora.ports import Clock, Database, NewId, StreamLog
from opora.text.language import detect_language
from opora.text.query import clean_query


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The ids of a question that has been taken on."""

    session_id: str
    request_id: str
    user_message_id: str
    assistant_message_id: str


class Chat:
    """The conversation of people with their documents."""

    def __init__(
        self,
        *,
        database: Database,
        log: StreamLog,
        orchestrator: Orchestrator,
        checker: CitationChecker,
        titles: Titles,
        layers: LayeredSettings,
        chooser: Chooser,
        clock: Clock,
        new_id: NewId,
        answer_seconds: float,
    ) -> None:
        self._database = database
        self._log = log
        self._logs = Logs(database, log, clock)
        self._rounds = Rounds(database, clock)
        self._answering = Answering(
            log=log,
            rounds=self._rounds,
            orchestrator=orchestrator,
            checker=checker,
            titles=titles,
            seconds=answer_seconds,
        )
        self._chooser = chooser
        self._layers = layers
        self._clock = clock
        self._new_id = new_id

    async def start(self) -> None:
        """Flag the answers of a process that died."""
        await self._logs.start()

    async def ask(
        self,
        scope: Scope,
        session_id: str,
        query: str,
        *,
        overrides: Mapping[str, Any] | None = None,
        request_id: str | None = None,
        explain: bool = False,
        beside: Beside = NOTHING_BESIDE,
        pictures: Sequence[Picture] = (),
        request: Mapping[str, Any] | None = None,
        instead_of: Message | None = None,
        names_session: bool = True,
        model_id: str = "",
        understand_model_id: str = "",
        vision_model_id: str = "",
        agent_id: str = "",
        warnings: Sequence[str] = (),
    ) -> Asked:
        """Take a question on and return at once; the answer is followed by `follow`.

        ``request`` is what a client chose, kept so that it can be chosen again; ``instead_of`` is an earlier question
        of the session, which is removed with all that followed it. ``names_session`` gives a title to a session that
        has none. ``model_id``, ``understand_model_id`` and ``vision_model_id`` choose models of the registry for this
        question, ``agent_id`` the agent that chooses what the caller leaves open. ``pictures`` come with it, and may
        stand for it. ``warnings`` are told in the answer's trace.
        Raises `InvalidInput` for a query that is empty or too long, `NotFound` for a session of somebody else.
        """
        text = clean_query(query) if query.strip() or not pictures else ""
        asked = Asked(
            session_id=session_id,
            request_id=request_id or self._new_id(),
            user_message_id=self._new_id(),
            assistant_message_id=self._new_id(),
        )
        layers = await self._layers.of(scope, agent_id)
        named = Named(chat=model_id, understand=understand_model_id, vision=vision_model_id)
        equipped = await self._chooser.equip(scope, named, layers, overrides or {})
        question = Question(
            text=text,
            scope=scope,
            session_id=session_id,
            request_id=asked.request_id,
            user_message_id=asked.user_message_id,
            assistant_message_id=asked.assistant_message_id,
            asked_at=self._clock(),
            settings=equipped.settings,
            language=detect_language(text),
            has_chat_model=equipped.has_chat_model,
            explain=explain,
            prompts=layers.prompts,
            beside=with_images(beside, pictures),
            pictures=tuple(pictures),
            warnings=tuple(warnings),
        )
        if instead_of is not None:
            await self.stop_sessions(scope, [session_id])
        round_ = await self._rounds.open(question, request=request, instead_of=instead_of, names_session=names_session)
        try:
            await self._log.append(session_id, asked.assistant_message_id, _agent_query(question))
        except OporaError as exc:
            await self._rounds.store(round_, Run(), finish=Finish.ERROR, error=exc.message)
            raise
        await self._answering.launch(round_, equipped.models)
        return asked

    async def stop(self, scope: Scope, session_id: str, message_id: str) -> bool:
        """Stop an answer, whichever process writes it; what was written stays. False when there is nothing to stop."""
        message = await self._message(scope, session_id, message_id)
        running = self._answering.running.get(message_id)
        if running is None or running.task is None:
            return await self._logs.stop(message, partial(self._message, scope, session_id, message_id))
        stops = running.stop()
        await asyncio.wait([running.task])
        return stops

    async def stop_sessions(self, scope: Scope, session_ids: Collection[str]) -> None:
        """Stop the answers of the caller that run in these sessions, and wait until they are stored."""
        running = [
            (one.question.session_id, message_id)
            for message_id, one in self._answering.running.items()
            if one.question.session_id in session_ids and one.is_of(scope, one.question.session_id)
        ]
        for session_id, message_id in running:
            await self.stop(scope, session_id, message_id)

    async def follow(
        self, scope: Scope, session_id: str, message_id: str, from_offset: int = 0
    ) -> AsyncIterator[tuple[int, StreamEvent]]:
        """Replay an answer from an offset, then live events to the end. The reader may leave at any time.

        An answer whose log is gone is replayed from the stored message. Raises `NotFound` before the first event.
        """
        running = self._answering.running.get(message_id)
        if running is None or not running.is_of(scope, session_id):
            # Whoever is not known as the one who asked must be the owner of what is stored.
            await self._message(scope, session_id, message_id)
        stored = partial(self._message, scope, session_id, message_id)
        async with aclosing(self._logs.events(session_id, message_id, from_offset, stored)) as events:
            async for item in events:
                yield item

    async def close(self) -> None:
        """Cut short what is running; each answer is stored as interrupted."""
        await self._answering.close()
        await self._logs.close()

    async def _message(self, scope: Scope, session_id: str, message_id: str) -> Message:
        async with self._database.read() as repositories:
            message = await repositories.messages.get(scope, message_id)
        if message.session_id != session_id:
            raise NotFound("There is no such message in this session.", details={"message_id": message_id})
        return message


def _agent_query(question: Question) -> StreamEvent:
    return StreamEvent(
        response_type=ResponseType.AGENT_QUERY,
        data={
            "session_id": question.session_id,
            "assistant_message_id": question.assistant_message_id,
            "request_id": question.request_id,
        },
    )
