"""What a FAQ entry says, as it is kept in the metadata of its chunk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

FAQ_FILE_TYPE = "faq"
"""The type of the one document that the entries of a FAQ base hang on; its forms count as its chunks."""
STANDARD_QUESTION = "standard_question"
SIMILAR_QUESTIONS = "similar_questions"
NEGATIVE_QUESTIONS = "negative_questions"
ANSWERS = "answers"
ANSWER_STRATEGY = "answer_strategy"
STRATEGY_ALL = "all"
STRATEGY_RANDOM = "random"
ANSWER_MARK = "\nAnswer:"
"""Stands between the question and the answers in the text of an entry that was found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FaqEntry:
    """``negative_questions`` are those that this entry must not answer."""

    standard_question: str = ""
    similar_questions: tuple[str, ...] = ()
    negative_questions: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    answer_strategy: str = STRATEGY_ALL

    @classmethod
    def read(cls, metadata: Mapping[str, Any]) -> FaqEntry | None:
        """The entry, or None when the metadata is not that of an entry: such a chunk can't be checked or answered."""
        question = metadata.get(STANDARD_QUESTION, "")
        strategy = metadata.get(ANSWER_STRATEGY, STRATEGY_ALL)
        lists = [_texts(metadata.get(name, ())) for name in (SIMILAR_QUESTIONS, NEGATIVE_QUESTIONS, ANSWERS)]
        if not isinstance(question, str) or not isinstance(strategy, str) or None in lists:
            return None
        similar, negative, answers = (item or () for item in lists)
        return cls(
            standard_question=question,
            similar_questions=similar,
            negative_questions=negative,
            answers=answers,
            answer_strategy=strategy,
        )


def answer_span(content: str) -> tuple[int, int] | None:
    """Where the answers stand in the text of an entry that was found; None where they do not."""
    before, mark, answer = content.partition(ANSWER_MARK)
    text = answer.strip()
    if not mark or not text:
        return None
    start = len(before) + len(mark) + len(answer) - len(answer.lstrip())
    return start, start + len(text)


def folded_question(text: str) -> str:
    """Lower case, outer blanks trimmed, inner runs of blanks folded to one: the form in which questions are equal."""
    return " ".join(text.lower().split())


def is_silenced(metadata: Mapping[str, Any], *questions: str) -> bool:
    """Whether the entry with this metadata must not answer any one of these very questions.

    Only a whole negative question silences; blank ones and an empty query do not. An entry whose data can't be read is
    silenced too: it is never returned unchecked.
    """
    entry = FaqEntry.read(metadata)
    if entry is None:
        return True
    asked = {folded_question(question) for question in questions} - {""}
    return any(folded_question(negative) in asked for negative in entry.negative_questions)


def _texts(value: Any) -> tuple[str, ...] | None:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return tuple(value)
    return None
