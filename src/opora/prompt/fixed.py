"""Texts that are sent as they are, in the language of the question."""

from __future__ import annotations

from opora.prompt.library import Overrides, template_text


def fixed_text(name: str, language: str, *, overrides: Overrides | None = None) -> str:
    """``fallback_response``, ``fallback_prompt`` or ``truncated_hint`` in ``ru``, ``en`` or ``zh``."""
    return template_text("fallback", name, language=language, overrides=overrides)
