"""Stores a question with its answer: both when it is asked, what became of them when it has ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from opora.chat.record import finished_message
from opora.chat.titles import shortened
from opora.cite.tags import parse_citations
from opora.domain.conversation import CitationCheck, Finish, Message, Role
from opora.domain.question import Question
from opora.pipeline.run import Run
from opora.ports import Clock, Database
from opora.prompt.beside import described


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """A question with the two messages that were stored for it."""

    question: Question
    asked: Message
    answer: Message
    title: str = ""
    """The shortened question, when the session was named by it just now."""


class Rounds:
    """One transaction when a question is taken on, and one when its run has ended."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def open(
        self,
        question: Question,
        *,
        request: Mapping[str, Any] | None = None,
        instead_of: Message | None = None,
        names_session: bool = True,
    ) -> Round:
        """Store the question and an unfinished answer in one transaction; a session without a title is named.

        ``request`` is what was chosen for the question; ``instead_of`` an earlier question, which is removed with all
        that followed it.
        """
        now = question.asked_at
        asked = Message(
            message_id=question.user_message_id,
            session_id=question.session_id,
            tenant_id=question.scope.tenant_id,
            request_id=question.request_id,
            role=Role.USER,
            content=question.text,
            is_completed=True,
            beside=question.beside,
            request=request or {},
            created_at=now,
            updated_at=now,
        )
        answer = Message(
            message_id=question.assistant_message_id,
            session_id=question.session_id,
            tenant_id=question.scope.tenant_id,
            request_id=question.request_id,
            role=Role.ASSISTANT,
            created_at=now,
            updated_at=now,
        )
        async with self._database.begin() as repositories:
            session = await repositories.sessions.get(question.scope, question.session_id)
            title = shortened(question.text) if names_session and not session.title else ""
            session = replace(session, title=session.title or title, last_request=asked.request, updated_at=now)
            await repositories.sessions.update(question.scope, session)
            if instead_of is not None:
                await repositories.messages.delete_after(question.scope, instead_of, with_it=True)
            await repositories.messages.add(question.scope, asked)
            await repositories.images.add(question.scope, asked.message_id, question.pictures)
            await repositories.messages.add(question.scope, answer)
        return Round(question=question, asked=asked, answer=answer, title=title)

    async def store(
        self, round_: Round, run: Run, *, citations: tuple[CitationCheck, ...] = (), finish: Finish, error: str
    ) -> None:
        """The one write of a run: answer with references and trace, what it cited, the question as it was rendered."""
        now, scope = self._clock(), round_.question.scope
        rendered, seen = (run.draft.user_content, run.draft.image_description) if run.draft else ("", "")
        async with self._database.begin() as repositories:
            answer = finished_message(round_.answer, run, citations=citations, finish=finish, error=error, now=now)
            await repositories.messages.update(scope, answer)
            cited = {citation.document_id for citation in parse_citations(answer.content) if citation.document_id}
            if cited:
                await repositories.citations.add(scope, cited)
            if rendered or seen:
                beside = described(round_.asked.beside, seen)
                asked = replace(round_.asked, rendered_content=rendered, beside=beside, updated_at=now)
                await repositories.messages.update(scope, asked)
