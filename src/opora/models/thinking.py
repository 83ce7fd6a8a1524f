"""How each provider is told to think before it answers, or not to: the one wish that every one spells differently."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

THINKING: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]] = MappingProxyType(
    {
        "openai": ({"reasoning_effort": "medium"}, {"reasoning_effort": "minimal"}),
        "ollama": ({"reasoning_effort": "medium"}, {"reasoning_effort": "none"}),
        "vllm": (
            {"chat_template_kwargs": {"enable_thinking": True}},
            {"chat_template_kwargs": {"enable_thinking": False}},
        ),
        "qwen": ({"enable_thinking": True}, {"enable_thinking": False}),
        "deepseek": ({"thinking": {"type": "enabled"}}, {"thinking": {"type": "disabled"}}),
    }
)
"""Fields of the request by provider, for thinking and for none. ``vllm`` is SGLang's too, ``deepseek`` Zhipu's too."""

PROVIDERS = tuple(THINKING)


def thinking_fields(provider: str, wanted: bool | None) -> Mapping[str, Any]:
    """Nothing is sent when nothing is wanted, so that models without such a switch are not disturbed."""
    if wanted is None:
        return {}
    on, off = THINKING[provider]
    return on if wanted else off
