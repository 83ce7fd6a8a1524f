"""Settings of a question: each is looked at, and comes to the model."""

from __future__ import annotations

from typing import Any

import pytest

from opora.chat.settings import checked
from opora.domain.errors import InvalidInput
from opora.models.scripted import ScriptedChat
from opora.ports import ChatOptions


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temperature", 2.1),
        ("temperature", -1),
        ("temperature", "hot"),
        ("temperature", True),
        ("top_p", 1.5),
        ("seed", 1.5),
        ("seed", True),
        ("thinking", "yes"),
        ("thinking", 1),
        ("profile", "none such"),
        ("profile", "\ud800"),
        ("fallback_response", []),
        ("fallback_response", "\ud800"),
        ("vector_weight", "x"),
        ("vector_weight", -1),
        ("vector_weight", float("nan")),
        ("vector_weight", True),
        ("vector_threshold", float("inf")),
        ("max_rounds", 1.5),
        ("max_rounds", 10**30),
        ("context_token_budget", "x"),
        ("answer_floor", []),
        ("faq_score_boost", "x"),
        ("enable_rewrite", 1),
        ("citation_enabled", "yes"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        checked({name: value})
    assert refused.value.details == {"field": name}


@pytest.mark.parametrize(("name", "value"), [("temperature", 0), ("top_p", 1), ("seed", -3), ("thinking", False)])
def test_what_fits_is_taken(name: str, value: Any) -> None:
    assert checked({name: value}) == {name: value}


async def test_options_come_to_the_model(talk) -> None:
    class Noting(ScriptedChat):
        sees_images = False
        options: ChatOptions | None = None

        async def stream(self, messages, options):
            self.options = options
            async for delta in super().stream(messages, options):
                yield delta

    model = Noting(["Да"])
    person = await talk(model, with_document=False)
    chosen = {"temperature": 0.1, "top_p": 0.4, "seed": 5, "thinking": False, "max_completion_tokens": 99}
    await person.answer("Привет", overrides=chosen)
    assert model.options == ChatOptions(temperature=0.1, top_p=0.4, seed=5, thinking=False, max_tokens=99)
