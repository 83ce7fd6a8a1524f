"""Tries a model of the registry by one real call, and tells what came of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from opora.domain.errors import OporaError
from opora.domain.models import ModelKind
from opora.ports import ChatMessage, ChatOptions

TEST_SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """What came of a test call."""

    ok: bool
    milliseconds: float
    detail: str
    hint: str = ""


async def tried(kind: ModelKind, make: Callable[[], Awaitable[Any]]) -> Tried:
    """Nothing is raised: a model that can't be made or called is the answer."""
    started = perf_counter()
    try:
        made = await make()
        async with asyncio.timeout(TEST_SECONDS):
            detail = await _try(kind, made)
        ok, hint = True, ""
    except OporaError as error:
        ok, detail, hint = False, error.message, error.hint
    except TimeoutError:
        ok, detail, hint = False, f"It did not answer within {TEST_SECONDS:g} seconds.", ""
    return Tried(ok=ok, milliseconds=(perf_counter() - started) * 1000, detail=detail, hint=hint)


async def _try(kind: ModelKind, made: Any) -> str:
    if kind is ModelKind.CHAT:
        asked = [ChatMessage(role="user", content="Reply with the word OK.")]
        pieces = [delta.content async for delta in made.stream(asked, ChatOptions(temperature=0.0, max_tokens=64))]
        return f"It answered: {''.join(pieces).strip()[:100] or '(thinking only)'}"
    if kind is ModelKind.EMBEDDING:
        return f"Its vectors have {len(await made.embed_query('ready?'))} numbers."
    scores = await made.rerank(
        "capital of France", ["Paris is the capital of France.", "Bolts are tightened crosswise."]
    )
    return f"Scores: {', '.join(f'{score:.3f}' for score in scores)}"
