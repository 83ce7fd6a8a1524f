"""Use cases on the course of a conversation: fork it, take it back, clear it, judge an answer."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Protocol

from opora.domain.conversation import Feedback, Message, Role, Session, Thumb
from opora.domain.errors import InvalidInput, NotFound
from opora.domain.pictures import Picture
from opora.domain.scope import Scope
from opora.ports import Clock, Database, NewId, Repositories
from opora.text.names import clean_label

MAX_COMMENT_CHARS = 4_000


class Stopper(Protocol):
    """Ends answers that still run, so that nothing is written behind what is taken away."""

    async def stop_sessions(self, scope: Scope, session_ids: Collection[str]) -> None: ...


class Forgetter(Protocol):
    """Takes what was deleted out of the search over earlier messages."""

    async def forget(
        self, scope: Scope, *, session_ids: Collection[str] = (), message_ids: Collection[str] = ()
    ) -> None: ...


class Branches:
    """Answers that still run in a session are stopped before anything of it is taken away."""

    def __init__(
        self, *, database: Database, stopper: Stopper, forgetter: Forgetter, clock: Clock, new_id: NewId
    ) -> None:
        self._database = database
        self._stopper = stopper
        self._forgetter = forgetter
        self._clock = clock
        self._new_id = new_id

    async def fork(self, scope: Scope, session_id: str, message_id: str = "", *, title: str = "") -> Session:
        """A new session with the messages up to the given one, or with all; unfinished answers stay behind."""
        now = self._clock()
        async with self._database.begin() as repositories:
            source = await repositories.sessions.get(scope, session_id)
            messages = await _until(repositories, scope, session_id, message_id)
            session = replace(
                source,
                session_id=self._new_id(),
                title=clean_label(title) or source.title,
                is_pinned=False,
                parent_session_id=session_id,
                forked_from_message_id=message_id or (messages[-1].message_id if messages else ""),
                created_at=now,
                updated_at=now,
            )
            await repositories.sessions.add(scope, session)
            for message in messages:
                if message.is_completed:
                    copied = replace(message, message_id=self._new_id(), session_id=session.session_id)
                    await repositories.messages.add(scope, copied)
                    if message.beside.images:
                        pictures = await repositories.images.of_message(scope, message.message_id)
                        await repositories.images.add(scope, copied.message_id, pictures)
        return session

    async def rewind(self, scope: Scope, session_id: str, message_id: str) -> list[str]:
        """Remove what came after a message, which stays; returns the ids of what was removed."""
        await self._in_session(scope, session_id, message_id)
        await self._stopper.stop_sessions(scope, [session_id])
        async with self._database.begin() as repositories:
            message = await repositories.messages.get(scope, message_id)
            gone = await repositories.messages.delete_after(scope, message)
        await self._forgetter.forget(scope, message_ids=gone)
        return gone

    async def delete_message(self, scope: Scope, session_id: str, message_id: str) -> None:
        message = await self._in_session(scope, session_id, message_id)
        if not message.is_completed:
            await self._stopper.stop_sessions(scope, [session_id])
        async with self._database.begin() as repositories:
            await repositories.messages.delete(scope, message_id)
        await self._forgetter.forget(scope, message_ids=[message_id])

    async def clear(self, scope: Scope, session_id: str) -> list[str]:
        """Remove all messages of a session, which stays; returns their ids."""
        async with self._database.read() as repositories:
            await repositories.sessions.get(scope, session_id)
        await self._stopper.stop_sessions(scope, [session_id])
        async with self._database.begin() as repositories:
            gone = await repositories.messages.clear(scope, session_id)
        await self._forgetter.forget(scope, message_ids=gone)
        return gone

    async def feedback(self, scope: Scope, message_id: str, *, thumb: Thumb, comment: str = "") -> Message:
        """Keep what its reader thinks of an answer; a thumb of none and no comment take it back."""
        if len(comment) > MAX_COMMENT_CHARS:
            raise InvalidInput.of("comment", f"A comment has at most {MAX_COMMENT_CHARS} characters.")
        given = Feedback(thumb=thumb, comment=comment.strip())
        async with self._database.begin() as repositories:
            message = await repositories.messages.get(scope, message_id)
            if message.role is not Role.ASSISTANT:
                raise InvalidInput.of("message_id", "Feedback is given on answers, and this is a question.")
            if not message.is_completed:
                raise InvalidInput.of("message_id", "The answer has not ended yet.")
            message = replace(message, feedback=given if given != Feedback() else None)
            await repositories.messages.update(scope, message)
        return message

    async def question_of(self, scope: Scope, message_id: str) -> Message:
        """The question of a round, by its own id or by that of its answer."""
        async with self._database.read() as repositories:
            message = await repositories.messages.get(scope, message_id)
            if message.role is Role.USER:
                return message
            for earlier in await repositories.messages.of_session(scope, message.session_id):
                if earlier.role is Role.USER and earlier.request_id == message.request_id:
                    return earlier
        raise NotFound("The question of this answer was deleted.", details={"message_id": message_id})

    async def pictures_of(self, scope: Scope, question: Message) -> tuple[Picture, ...]:
        """The pictures that came with a question."""
        if not question.beside.images:
            return ()
        async with self._database.read() as repositories:
            return await repositories.images.of_message(scope, question.message_id)

    async def picture(self, scope: Scope, message_id: str, image_id: str) -> Picture:
        async with self._database.read() as repositories:
            return await repositories.images.get(scope, message_id, image_id)

    async def _in_session(self, scope: Scope, session_id: str, message_id: str) -> Message:
        async with self._database.read() as repositories:
            message = await repositories.messages.get(scope, message_id)
        if message.session_id != session_id:
            raise NotFound("There is no such message.", details={"message_id": message_id})
        return message


async def _until(repositories: Repositories, scope: Scope, session_id: str, message_id: str) -> list[Message]:
    """The messages of a session up to the given one, which must be among them; all where none is given."""
    messages = await repositories.messages.of_session(scope, session_id)
    if not message_id:
        return messages
    for index, message in enumerate(messages):
        if message.message_id == message_id:
            return messages[: index + 1]
    raise NotFound("There is no such message.", details={"message_id": message_id})
