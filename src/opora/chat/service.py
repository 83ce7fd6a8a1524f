"""Asks, follows and stops: every question runs as a task of its own, and readers only follow its log."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from opora.chat.citations import CitationChecker
from opora.chat.orchestrator import Orchestrator
from opora.chat.replay import checked_event, stored_events
from opora.chat.rounds import Round, Rounds
from opora.chat.settings import effective
from opora.domain.conversation import NOTHING_BESIDE, Beside, CitationCheck, Finish, Message
from opora.domain.errors import NotFound, OporaError, Timeout
from opora.domain.question import Question
from opora.domain.scope import Scope
from opora.domain.stream import ResponseType, StreamEvent
from opora.pipeline.generate import ANSWER_EVENT_ID
from opora.pipeline.run import Run
from opora.ports import Clock, Database, EmbedderCard, NewId, StreamLog
from opora.text.language import detect_language
from opora.text.query import clean_query

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The ids of a question that has been taken on."""

    session_id: str
    request_id: str
    user_message_id: str
    assistant_message_id: str


@dataclass(slots=True, kw_only=True)
class _Running:
    question: Question
    run: Run
    is_finishing: bool = False
    """The answer is being stored: nothing may cut that short."""
    task: asyncio.Task[None] | None = None

    def is_of(self, scope: Scope, session_id: str) -> bool:
        """Whether the one who asks is the one whose question it is, in this session."""
        mine, theirs = self.question.scope.principal, scope.principal
        return self.question.session_id == session_id and (mine.tenant_id, mine.user_id) == (
            theirs.tenant_id,
            theirs.user_id,
        )


class Chat:
    """The conversation of people with their documents."""

    def __init__(
        self,
        *,
        database: Database,
        log: StreamLog,
        orchestrator: Orchestrator,
        checker: CitationChecker,
        clock: Clock,
        new_id: NewId,
        card: EmbedderCard | None,
        installation: Mapping[str, Any],
        has_chat_model: bool,
        answer_seconds: float,
    ) -> None:
        self._database = database
        self._log = log
        self._rounds = Rounds(database, clock)
        self._orchestrator = orchestrator
        self._checker = checker
        self._clock = clock
        self._new_id = new_id
        self._card = card
        self._installation = installation
        self._has_chat_model = has_chat_model
        self._answer_seconds = answer_seconds
        self._running: dict[str, _Running] = {}

    async def start(self) -> None:
        """Flag the answers of a process that died."""
        async with self._database.begin() as repositories:
            for message in await repositories.messages.unfinished():
                await repositories.messages.interrupt(message.message_id, self._clock())

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
        request: Mapping[str, Any] | None = None,
        instead_of: Message | None = None,
    ) -> Asked:
        """Take a question on and return at once; the answer is followed by `follow`.

        ``request`` is what a client chose, kept so that it can be chosen again; ``instead_of`` is an earlier question
        of the session, which is removed with all that followed it.
        Raises `InvalidInput` for a query that is empty or too long, `NotFound` for a session of somebody else.
        """
        text = clean_query(query)
        asked = Asked(
            session_id=session_id,
            request_id=request_id or self._new_id(),
            user_message_id=self._new_id(),
            assistant_message_id=self._new_id(),
        )
        question = Question(
            text=text,
            scope=scope,
            session_id=session_id,
            request_id=asked.request_id,
            user_message_id=asked.user_message_id,
            assistant_message_id=asked.assistant_message_id,
            asked_at=self._clock(),
            settings=effective(card=self._card, installation=self._installation, request=overrides or {}),
            language=detect_language(text),
            has_chat_model=self._has_chat_model,
            explain=explain,
            beside=beside,
        )
        if instead_of is not None:
            await self.stop_sessions(scope, [session_id])
        round_ = await self._rounds.open(question, request=request, instead_of=instead_of)
        try:
            await self._log.append(session_id, asked.assistant_message_id, _agent_query(question))
        except OporaError as exc:
            await self._rounds.store(round_, Run(), finish=Finish.ERROR, error=exc.message)
            raise
        await self._launch(round_)
        return asked

    async def stop(self, scope: Scope, session_id: str, message_id: str) -> bool:
        """Stop an answer; what was written stays. False when there is nothing to stop."""
        await self._message(scope, session_id, message_id)
        running = self._running.get(message_id)
        if running is None or running.task is None:
            return False
        stops = not running.is_finishing
        if stops and not running.run.stop_requested:
            running.run.stop_requested = True
            running.task.cancel()
        await asyncio.wait([running.task])
        return stops

    async def stop_sessions(self, scope: Scope, session_ids: Collection[str]) -> None:
        """Stop the answers of the caller that run in these sessions, and wait until they are stored."""
        running = [
            (one.question.session_id, message_id)
            for message_id, one in self._running.items()
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
        running = self._running.get(message_id)
        # The one who asked follows at once; what is stored has nothing to say before the end.
        message = (
            None if running and running.is_of(scope, session_id) else await self._message(scope, session_id, message_id)
        )
        if await self._log.exists(session_id, message_id):
            async for item in self._log.follow(session_id, message_id, from_offset):
                yield item
            return
        message = message or await self._message(scope, session_id, message_id)
        for offset, event in enumerate(stored_events(message)):
            if offset >= from_offset:
                yield offset, event

    async def close(self) -> None:
        """Cut short what is running; each answer is stored as interrupted."""
        tasks = [running.task for running in self._running.values() if running.task]
        for running in self._running.values():
            if running.task and not running.is_finishing:
                running.task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _message(self, scope: Scope, session_id: str, message_id: str) -> Message:
        async with self._database.read() as repositories:
            message = await repositories.messages.get(scope, message_id)
        if message.session_id != session_id:
            raise NotFound("There is no such message in this session.", details={"message_id": message_id})
        return message

    async def _launch(self, round_: Round) -> None:
        session_id, message_id = round_.answer.session_id, round_.answer.message_id

        async def emit(event: StreamEvent) -> None:
            await self._log.append(session_id, message_id, event)

        running = _Running(question=round_.question, run=Run(emit=emit))
        self._running[message_id] = running
        running.task = asyncio.create_task(self._answer(round_, running), name=message_id)
        # A task that is cancelled before its first step never runs, and its answer would never be closed.
        await asyncio.sleep(0)

    async def _answer(self, round_: Round, running: _Running) -> None:
        """Run to the end, whatever it is: one answer or error event, one write, one terminal event."""
        run, finish, error = running.run, Finish.ERROR, ""
        try:
            async with asyncio.timeout(self._answer_seconds):
                draft = await self._orchestrator.answer(round_.question, run)
            finish = draft.finish or Finish.COMPLETE
        except asyncio.CancelledError:
            finish = Finish.STOPPED if run.stop_requested else Finish.INTERRUPTED
        except TimeoutError:
            error = Timeout("The answer took too long and was cut short.").message
        except OporaError as exc:
            error = f"{exc.message} {exc.hint}".strip()
        except Exception:
            _log.exception("A run failed")
            error = "Something went wrong inside Opora; the log says what."
        running.is_finishing = True
        try:
            await self._finish(round_, run, finish=finish, error=error)
        finally:
            self._running.pop(round_.answer.message_id, None)

    async def _finish(self, round_: Round, run: Run, *, finish: Finish, error: str) -> None:
        if error:
            await run.emit(StreamEvent(response_type=ResponseType.ERROR, content=error, done=True))
        elif finish is Finish.STOPPED:
            await run.emit(StreamEvent(response_type=ResponseType.STOP))
        elif finish is not Finish.INTERRUPTED:
            data = {"truncated": True} if finish is Finish.TRUNCATED else {}
            await run.emit(
                StreamEvent(response_type=ResponseType.ANSWER, event_id=ANSWER_EVENT_ID, done=True, data=data)
            )
        citations = await self._checked(round_.question, run)
        if citations and finish is not Finish.INTERRUPTED:
            await run.emit(checked_event(citations))
        try:
            await self._rounds.store(round_, run, citations=citations, finish=finish, error=error)
        except Exception:
            _log.exception("An answer could not be stored")
        await run.emit(StreamEvent(response_type=ResponseType.COMPLETE, done=True, data={"finish": finish.value}))

    async def _checked(self, question: Question, run: Run) -> tuple[CitationCheck, ...]:
        """The check of what was written, however the run ended; its failure leaves the answer unchecked."""
        try:
            return await self._checker.check(question.scope, run.answer_text, run.references or ())
        except Exception:
            _log.exception("The citations of an answer could not be checked")
            return ()


def _agent_query(question: Question) -> StreamEvent:
    return StreamEvent(
        response_type=ResponseType.AGENT_QUERY,
        data={
            "session_id": question.session_id,
            "assistant_message_id": question.assistant_message_id,
            "request_id": question.request_id,
        },
    )
