"""The settings of a question that go to the chat model."""

from __future__ import annotations

from opora.domain.settings import RetrievalSettings
from opora.ports import ChatOptions


def chat_options(values: RetrievalSettings) -> ChatOptions:
    return ChatOptions(
        temperature=values.temperature,
        max_tokens=values.max_completion_tokens,
        top_p=values.top_p,
        seed=values.seed,
        thinking=values.thinking,
    )
