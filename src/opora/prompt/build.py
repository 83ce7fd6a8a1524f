"""Puts the whole prompt together: input check, context, templates. Pure; the citation rule is added by `opora.cite`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from opora.domain.conversation import Round
from opora.domain.pictures import Picture
from opora.domain.question import Draft, Intent, Question
from opora.domain.search import SearchResult
from opora.domain.trace import Drop
from opora.ports import ChatMessage
from opora.prompt.beside import described, with_beside
from opora.prompt.context import Context, build_context
from opora.prompt.escape import escape_text
from opora.prompt.guard import checked_input
from opora.prompt.library import LANGUAGE_NAMES, Overrides, template_text, templates
from opora.prompt.placeholders import render

_IMAGE = re.compile(r"!\[[^\]\n]*\]\([^)\s]+")
"""A picture in Markdown."""
TIME_FORMAT = "%Y-%m-%d %H:%M %Z"
MAX_CONVERSATION_ANSWER = 1_000
"""How much of each earlier answer, and of what a picture showed, the rewriting model is shown, in characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """``context`` are the passages that stand in ``user_content``, in its order: aliases are given in that order."""

    user_content: str
    system_prompt: str
    context: tuple[SearchResult, ...] = ()
    drops: tuple[Drop, ...] = ()


def build(
    draft: Draft,
    *,
    passages: Sequence[SearchResult] | None = None,
    describes_images: bool = True,
    system_prompt: str = "",
    overrides: Overrides | None = None,
) -> Prompt:
    """The prompt of a draft from its best passages (or those given); ``describes_images`` is for models that don't see.

    An intent without retrieval has a system prompt of its own and goes through the context template all the same, so
    that the model knows the time and the language. Raises `InvalidInput` when the question fails the input check.
    """
    question = draft.question
    language = question.language
    context = build_context(draft.passages if passages is None else passages, question.settings.values)
    asked_at = question.asked_at.strftime(TIME_FORMAT).strip()
    values = {
        "query": escape_text(_asked(question)),
        "rewritten_query": escape_text(draft.rewritten_query),
        "contexts": context.text,
        "language": LANGUAGE_NAMES.get(language, LANGUAGE_NAMES["en"]),
        "current_time": asked_at,
    }
    template = template_text("context_template", language=language, overrides=overrides)
    system = system_prompt or _system(draft, context, overrides)
    shows_images = template_text("system_prompt", "retrieved_images", language=language, overrides=overrides)
    parts = [render(system, values), shows_images if _IMAGE.search(context.text) else "", draft.memory_prompt]
    beside = described(question.beside, draft.image_description) if describes_images else question.beside
    return Prompt(
        user_content=with_beside(render(template, values), beside, language),
        system_prompt="\n\n".join(part for part in parts if part),
        context=context.passages,
        drops=context.drops,
    )


def rewrite_messages(
    draft: Draft, *, pictures: Sequence[Picture] = (), overrides: Overrides | None = None
) -> list[ChatMessage]:
    """What the rewriting model is asked: the conversation so far and the question, both as data.

    With ``pictures`` it is asked in the same call what they show.
    """
    language = draft.question.language
    asked = with_beside(
        escape_text(_asked(draft.question)), draft.question.beside, language, limit=MAX_CONVERSATION_ANSWER
    )
    values = {
        "conversation": escape_text(conversation(draft.history)),
        "query": asked,
        "language": LANGUAGE_NAMES.get(language, LANGUAGE_NAMES["en"]),
    }

    def text(name: str) -> str:
        return render(template_text("rewrite", name, language=language, overrides=overrides), values)

    system = f"{text('rewrite_system')}\n{text('rewrite_images')}" if pictures else text("rewrite_system")
    return [
        ChatMessage(role="system", content=system),
        ChatMessage(role="user", content=text("rewrite_user"), pictures=tuple(pictures)),
    ]


def title_messages(question: str, *, language: str, overrides: Overrides | None = None) -> list[ChatMessage]:
    """What a model is asked to name a session."""
    text = template_text("generate_session_title", language=language, overrides=overrides)
    values = {"query": escape_text(question), "language": LANGUAGE_NAMES.get(language, LANGUAGE_NAMES["en"])}
    return [ChatMessage(role="user", content=render(text, values))]


def entity_messages(draft: Draft, *, overrides: Overrides | None = None) -> list[ChatMessage]:
    """What a model is asked to find the entities of what is searched."""
    text = template_text("graph_extraction", "question_entities", language=draft.question.language, overrides=overrides)
    return [ChatMessage(role="user", content=render(text, {"query": escape_text(draft.query)}))]


def conversation(rounds: Sequence[Round]) -> str:
    """Earlier rounds with what their pictures showed, oldest first, long texts shortened."""
    lines = []
    for one in rounds:
        answer = _cut(one.answer)
        seen = (_cut(image.caption) for image in one.beside.images if image.caption)
        lines += [" ".join(("user:", one.question, *(f"[{caption}]" for caption in seen))), f"assistant: {answer}"]
    return "\n".join(lines)


def _cut(text: str) -> str:
    return f"{text[:MAX_CONVERSATION_ANSWER]}…" if len(text) > MAX_CONVERSATION_ANSWER else text


def _asked(question: Question) -> str:
    """The question as it may stand in a prompt; '' for pictures alone."""
    return checked_input(question.text) if question.text or not question.pictures else ""


def _system(draft: Draft, context: Context, overrides: Overrides | None) -> str:
    """The intent's own prompt, where it has one and nothing was retrieved; else the grounded one."""
    language = draft.question.language
    if context.passages:
        return template_text("system_prompt", language=language, overrides=overrides)
    if draft.intent in _intents_with_prompt():
        return template_text("intent_prompts", draft.intent.value, language=language, overrides=overrides)
    name = "" if draft.question.scope.bases else "plain_chat"
    return template_text("system_prompt", name, language=language, overrides=overrides)


def _intents_with_prompt() -> frozenset[Intent]:
    return frozenset(Intent(entry.template_id) for entry in templates("intent_prompts"))
