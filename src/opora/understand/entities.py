"""Which entities a question speaks of: one call of a model, its reply read as data."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

from opora.domain.errors import ModelError
from opora.ports import ChatMessage, ChatModel, ChatOptions
from opora.text.fold import clean
from opora.text.json_reply import json_objects
from opora.text.terms import name_key
from opora.text.thinking import reply_alone

MAX_ENTITIES = 10
MAX_NAME_CHARS = 100
OPTIONS = ChatOptions(temperature=0.0, max_tokens=256)
SECONDS = 30.0


async def named_entities(messages: Sequence[ChatMessage], model: ChatModel) -> tuple[str, ...]:
    """Raises a `ModelError` for a model that fails or takes too long; a reply that can't be read names nothing."""
    try:
        async with asyncio.timeout(SECONDS):
            reply = "".join([delta.content async for delta in model.stream(messages, OPTIONS)])
    except TimeoutError as error:
        raise ModelError(f"the model took longer than {SECONDS:g} s.") from error
    return read_entities(reply)


def read_entities(reply: str) -> tuple[str, ...]:
    """At most `MAX_ENTITIES` different names of the last object that has any."""
    found: tuple[str, ...] = ()
    for one in json_objects(reply_alone(reply)):
        found = tuple(_names(one.get("entities"))) or found
    return found


def _names(items: Any) -> Iterable[str]:
    names: dict[str, str] = {}
    for item in items if isinstance(items, list) else ():
        name = item.get("name") if isinstance(item, dict) else item
        text = " ".join(clean(name).split()) if isinstance(name, str) else ""
        if (key := name_key(text)) and len(text) <= MAX_NAME_CHARS:
            names.setdefault(key, text)
    return list(names.values())[:MAX_ENTITIES]
