"""Pairs the messages of a session into rounds: one question with its finished answer."""

from __future__ import annotations

import re
from collections.abc import Iterable

from opora.domain.conversation import Finish, Message, Role, Round

RECENT_PER_ROUND = 2
RECENT_EXTRA = 10
_THINKING = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)


def without_thinking(text: str) -> str:
    """What a model wrote, without what it thought aloud in between."""
    return _THINKING.sub("", text)


def recent_limit(max_rounds: int) -> int:
    """How many messages are read for ``max_rounds`` rounds: two for each, and ten to spare."""
    return max_rounds * RECENT_PER_ROUND + RECENT_EXTRA


def rounds(messages: Iterable[Message], *, max_rounds: int, without: str = "") -> tuple[Round, ...]:
    """The last ``max_rounds`` rounds, oldest first.

    Messages are paired by request id; thinking is removed from answers; a round whose answer is unfinished, failed or
    empty does not count, nor does the request ``without`` (the one being answered). The question is replayed as it
    was typed, never as it was rendered.
    """
    questions: dict[str, Message] = {}
    found: list[tuple[Message, Round]] = []
    for message in sorted(messages, key=lambda m: (m.created_at, m.role is Role.ASSISTANT, m.message_id)):
        if message.request_id == without:
            continue
        if message.role is Role.USER:
            questions[message.request_id] = message
        elif question := questions.get(message.request_id):
            answer = without_thinking(message.content).strip()
            if message.is_completed and answer and message.finish is not Finish.ERROR:
                found.append(
                    (
                        question,
                        Round(
                            request_id=message.request_id,
                            question=question.content,
                            answer=answer,
                            references=message.references,
                            beside=question.beside,
                        ),
                    )
                )
    return tuple(round_ for _, round_ in found[-max_rounds:]) if max_rounds > 0 else ()
