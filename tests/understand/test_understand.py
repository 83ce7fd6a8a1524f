"""Understanding with a model, without one, and with one that fails."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

from opora.domain.conversation import Round
from opora.domain.errors import ModelError
from opora.domain.question import Draft, Intent
from opora.domain.settings import Effective, RetrievalSettings
from opora.ports import ChatDelta, ChatMessage, ChatOptions
from opora.understand import understand as module
from opora.understand.understand import understand

HISTORY = (Round(request_id="r", question="Когда компенсируют дорогу после поездки?", answer="После."),)


class Saying:
    """A model that says what a test gave it, in pieces."""

    sees_images = False

    identity = "saying"

    def __init__(self, text: str = "", error: Exception | None = None, *, hangs: bool = False) -> None:
        self._text, self._error, self._hangs = text, error, hangs
        self.options: list[ChatOptions] = []

    async def stream(self, messages: Sequence[ChatMessage], options: ChatOptions) -> AsyncIterator[ChatDelta]:
        self.options.append(options)
        if self._hangs:
            await asyncio.Event().wait()
        for char in self._text:
            yield ChatDelta(content=char)
        if self._error is not None:
            raise self._error

    async def close(self) -> None: ...


def asked(draft: Draft, text: str, **values) -> Draft:
    effective = Effective(values=RetrievalSettings(**values))
    return replace(draft, question=replace(draft.question, text=text, settings=effective), history=HISTORY)


async def test_the_models_wording_and_intent_are_taken(draft: Draft) -> None:
    model = Saying('{"rewrite_query":"сроки оплаты","intent":"Summarize"}')
    done = await understand(asked(draft, "а сроки?"), model)
    assert (done.query, done.intent, done.warnings) == ("сроки оплаты", Intent.SUMMARIZE, ())
    assert model.options == [module.REWRITE_OPTIONS]
    assert (module.REWRITE_OPTIONS.temperature, module.REWRITE_WITH_IMAGES_OPTIONS.max_tokens) == (0.0, 2048)


async def test_what_cannot_be_read_leaves_the_users_words(draft: Draft) -> None:
    for reply in ("", "сроки оплаты", "null", '{"rewrite_query":" "}', "<think>...", '{"rewrite_query":"а сроки?"}'):
        done = await understand(asked(draft, "а сроки?"), Saying(reply))
        assert (done.query, done.rewritten_query) == ("а сроки?", "")


async def test_marks_that_were_escaped_for_the_model_are_turned_back(draft: Draft) -> None:
    model = Saying('{"rewrite_query":"что значит a &lt; b"}')
    assert (await understand(asked(draft, "что такое a < b?"), model)).query == "что значит a < b"
    assert (await understand(asked(draft, "что такое lt?"), model)).query == "что значит a &lt; b"
    blank = Saying('{"rewrite_query":"&nbsp;"}')
    assert (await understand(asked(draft, "a < b?"), blank)).query == "a < b?", "what is searched is never blank"


async def test_a_model_that_fails_is_a_warning_and_the_rule_goes_on(draft: Draft) -> None:
    for model in (Saying("{", ModelError("The model is down.")), Saying(hangs=True)):
        done = await understand(asked(draft, "а сроки?"), model, seconds=0.01)
        assert done.query == "Когда компенсируют дорогу после поездки? а сроки?"
        assert len(done.warnings) == 1


async def test_without_a_model_follow_ups_are_joined(draft: Draft) -> None:
    assert (await understand(asked(draft, "а сроки?"), None)).query.startswith("Когда компенсируют")
    assert (await understand(asked(draft, "Что такое НДС?"), None)).query == "Что такое НДС?"


async def test_rewriting_switched_off_asks_nobody(draft: Draft) -> None:
    model = Saying('{"rewrite_query":"x"}')
    before = asked(draft, "а сроки?", enable_rewrite=False)
    assert await understand(before, model) == before
    assert model.options == []
