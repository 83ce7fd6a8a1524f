"""What is really asked: one call of a model rewrites the question and names its intent; without one, a plain rule."""

from __future__ import annotations

import asyncio
import html
from collections.abc import Sequence
from dataclasses import replace

from opora.domain.errors import ModelError, OporaError
from opora.domain.question import Draft, Intent
from opora.ports import ChatMessage, ChatModel, ChatOptions
from opora.understand.follow_up import follow_up_query
from opora.understand.reply import Reply, read_reply

REWRITE_OPTIONS = ChatOptions(temperature=0.0, max_tokens=512)
REWRITE_WITH_IMAGES_OPTIONS = ChatOptions(temperature=0.0, max_tokens=2048)
REWRITE_TIMEOUT = 30.0
SEARCHED_DESCRIPTION_CHARS = 500
"""How much of a description is searched where there is no question."""


async def understand(
    draft: Draft,
    model: ChatModel | None,
    *,
    messages: Sequence[ChatMessage] = (),
    fallback: ChatModel | None = None,
    fallback_messages: Sequence[ChatMessage] = (),
    options: ChatOptions = REWRITE_OPTIONS,
    seconds: float = REWRITE_TIMEOUT,
) -> Draft:
    """The draft with its rewritten query and intent. ``messages`` are those of `opora.prompt.build.rewrite_messages`.

    The question's own words stay where rewriting is off, and where the reply can't be read. A model that fails is a
    warning, and ``fallback`` (asked by ``fallback_messages``, where it is to be asked otherwise) or, without one, the
    rule for follow-ups is used in its place: the question goes on either way.
    """
    rewrites, pictures = draft.question.settings.values.enable_rewrite, draft.question.pictures
    if not (rewrites or pictures):
        return draft
    if model is None:
        return replace(draft, rewritten_query=_by_rule(draft))
    try:
        reply = read_reply(await _ask(model, messages, options, seconds))
    except OporaError as error:
        if fallback is not None:
            warning = f"The model for understanding questions failed, the chat model was asked: {error.message}"
            draft = replace(draft, warnings=(*draft.warnings, warning))
            messages = fallback_messages or messages
            return await understand(draft, fallback, messages=messages, options=options, seconds=seconds)
        return replace(
            draft,
            rewritten_query=_by_rule(draft),
            # Pictures that nobody described are nothing to search for.
            intent=draft.intent if draft.question.text else Intent.IMAGE_ONLY,
            warnings=(*draft.warnings, f"The question was not rewritten: {error.message}"),
        )
    was_shown = any(message.pictures for message in messages)
    draft = replace(draft, image_description=reply.image_description if was_shown else "")
    if not draft.question.text:
        return _pictures_alone(draft, reply)
    return replace(draft, rewritten_query=_query(reply, draft), intent=reply.intent) if rewrites else draft


def _by_rule(draft: Draft) -> str:
    """What is searched where no model rewrites; '' for the user's own words, and for pictures that nobody described."""
    rewrites, text = draft.question.settings.values.enable_rewrite, draft.question.text
    return follow_up_query(text, draft.history) if rewrites and text else ""


def _pictures_alone(draft: Draft, reply: Reply) -> Draft:
    """Without a word from the user, what the model makes of the pictures is searched, or nothing is."""
    query = reply.query or reply.image_description[:SEARCHED_DESCRIPTION_CHARS]
    return replace(draft, rewritten_query=query, intent=reply.intent if query else Intent.IMAGE_ONLY)


def _query(reply: Reply, draft: Draft) -> str:
    """The model's wording, '' for the user's own. The model saw the question escaped, so marks are turned back."""
    has_marks = any(mark in draft.question.text for mark in "<>&")
    query = html.unescape(reply.query).strip() if has_marks else reply.query
    return "" if query == draft.question.text else query


async def _ask(model: ChatModel, messages: Sequence[ChatMessage], options: ChatOptions, seconds: float) -> str:
    try:
        async with asyncio.timeout(seconds):
            return "".join([delta.content async for delta in model.stream(messages, options)])
    except TimeoutError as error:
        raise ModelError(f"the model took longer than {seconds:g} s.") from error
