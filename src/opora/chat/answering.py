"""Runs a question to its end, whatever that is, and names its session meanwhile."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field

from opora.chat.citations import CitationChecker
from opora.chat.orchestrator import Orchestrator
from opora.chat.replay import checked_event
from opora.chat.rounds import Round, Rounds
from opora.chat.titles import Titles
from opora.domain.conversation import CitationCheck, Finish
from opora.domain.errors import OporaError, Timeout
from opora.domain.question import Question
from opora.domain.scope import Scope
from opora.domain.stream import TERMINAL, ResponseType, StreamEvent
from opora.pipeline.generate import ANSWER_EVENT_ID
from opora.pipeline.run import Run, RunModels
from opora.ports import ChatModel, StreamLog
from opora.stream.titles import TITLE_PENDING

_log = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class Running:
    """An answer in the making."""

    round: Round
    run: Run
    is_finishing: bool = False
    """The answer is being stored: nothing may cut that short."""
    is_stop_written: bool = False
    """The stop that ends it stands in the log already: another process wrote it there."""
    awaits_title: bool = False
    ending: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while the title or the terminal event is written, so that the one knows of the other."""
    task: asyncio.Task[None] | None = None

    @property
    def question(self) -> Question:
        return self.round.question

    def is_of(self, scope: Scope, session_id: str) -> bool:
        """Whether the one who asks is the one whose question it is, in this session."""
        mine, theirs = self.question.scope.principal, scope.principal
        return self.question.session_id == session_id and (mine.tenant_id, mine.user_id) == (
            theirs.tenant_id,
            theirs.user_id,
        )

    def stop(self) -> bool:
        """End the run; False when its answer is being stored already."""
        if self.is_finishing or self.task is None:
            return False
        if not self.run.stop_requested:
            self.run.stop_requested = True
            self.task.cancel()
        return True


class Answering:
    """The runs of this process, each a task of its own."""

    def __init__(
        self,
        *,
        log: StreamLog,
        rounds: Rounds,
        orchestrator: Orchestrator,
        checker: CitationChecker,
        titles: Titles,
        seconds: float,
    ) -> None:
        self._log = log
        self._rounds = rounds
        self._orchestrator = orchestrator
        self._checker = checker
        self._titles = titles
        self._seconds = seconds
        self.running: dict[str, Running] = {}
        self._naming: set[asyncio.Task[None]] = set()

    async def launch(self, round_: Round, models: RunModels | None = None) -> None:
        """``models`` are those that were chosen for this question."""
        session_id, message_id = round_.answer.session_id, round_.answer.message_id

        async def emit(event: StreamEvent) -> None:
            await self._log.append(session_id, message_id, event)

        running = Running(round=round_, run=Run(emit=emit, models=models))
        self.running[message_id] = running
        namer = models.chat if models else self._titles.model
        if round_.title and namer is not None:
            running.awaits_title = True
            naming = asyncio.create_task(self._name(running, namer), name=f"title of {session_id}")
            self._naming.add(naming)
            naming.add_done_callback(self._naming.discard)
        running.task = asyncio.create_task(self._answer(running), name=message_id)
        # A task that is cancelled before its first step never runs, and its answer would never be closed.
        await asyncio.sleep(0)

    async def close(self) -> None:
        """Cut short what is running; each answer is stored as interrupted."""
        tasks = [running.task for running in self.running.values() if running.task]
        for running in self.running.values():
            if running.task and not running.is_finishing:
                running.task.cancel()
        for naming in self._naming:
            naming.cancel()
        await asyncio.gather(*tasks, *self._naming, return_exceptions=True)

    async def _answer(self, running: Running) -> None:
        """One answer or error event, one write, one terminal event."""
        run, finish, error = running.run, Finish.ERROR, ""
        watching = asyncio.create_task(self._watch(running))
        try:
            async with asyncio.timeout(self._seconds):
                draft = await self._orchestrator.answer(running.question, run)
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
        watching.cancel()
        try:
            await self._finish(running, finish=finish, error=error)
        finally:
            self.running.pop(running.question.assistant_message_id, None)

    async def _watch(self, running: Running) -> None:
        """Heed a stop that another process wrote into the log."""
        await self._log.stop_requested(running.question.session_id, running.question.assistant_message_id)
        if not running.is_finishing:
            running.is_stop_written = True
            running.stop()

    async def _finish(self, running: Running, *, finish: Finish, error: str) -> None:
        run = running.run
        if error:
            await _tell(run, StreamEvent(response_type=ResponseType.ERROR, content=error, done=True))
        elif finish is Finish.STOPPED:
            if not running.is_stop_written:
                await _tell(run, StreamEvent(response_type=ResponseType.STOP))
        elif finish is not Finish.INTERRUPTED:
            data = {"truncated": True} if finish is Finish.TRUNCATED else {}
            event = StreamEvent(response_type=ResponseType.ANSWER, event_id=ANSWER_EVENT_ID, done=True, data=data)
            await _tell(run, event)
        citations = await self._checked(running.question, run)
        if citations and finish is not Finish.INTERRUPTED:
            await _tell(run, checked_event(citations))
        try:
            await self._rounds.store(running.round, run, citations=citations, finish=finish, error=error)
        except Exception:
            _log.exception("An answer could not be stored")
        async with running.ending:
            ended: dict[str, object] = {"finish": finish.value}
            if running.awaits_title:
                ended[TITLE_PENDING] = True
            await _tell(run, StreamEvent(response_type=TERMINAL, done=True, data=ended))

    async def _checked(self, question: Question, run: Run) -> tuple[CitationCheck, ...]:
        """The check of what was written, however the run ended; its failure leaves the answer unchecked."""
        try:
            return await self._checker.check(question.scope, run.answer_text, run.references or ())
        except Exception:
            _log.exception("The citations of an answer could not be checked")
            return ()

    async def _name(self, running: Running, model: ChatModel) -> None:
        """Make a title and send it, before the terminal event or in the moment that readers wait behind it."""
        question, title = running.question, ""
        try:
            made = await self._titles.made_from(question.text, model)
            if made != running.round.title and await self._titles.replace(
                question.scope, question.session_id, old=running.round.title, title=made
            ):
                title = made
        except Exception:
            _log.exception("A session could not be named")
        async with running.ending:
            running.awaits_title = False
            if title:
                await _tell(running.run, title_event(question.session_id, title))


def title_event(session_id: str, title: str) -> StreamEvent:
    return StreamEvent(
        response_type=ResponseType.SESSION_TITLE,
        event_id="session_title",
        content=title,
        done=True,
        data={"session_id": session_id, "title": title},
    )


async def _tell(run: Run, event: StreamEvent) -> None:
    """What can't be told must not keep an answer from being stored."""
    try:
        await run.emit(event)
    except OporaError as exc:
        _log.warning("'%s' of an answer was not written: %s", event.response_type, exc.message)
