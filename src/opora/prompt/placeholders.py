"""Fills a template's placeholders, ``{query}`` or ``{{query}}``; nothing inside a value is filled again."""

from __future__ import annotations

import re
from collections.abc import Mapping

_PLACEHOLDER = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}|\{([A-Za-z_]\w*)\}")


def render(template: str, values: Mapping[str, str]) -> str:
    """The template with its known placeholders filled in one pass; braces that name no value stay as they are."""

    def fill(match: re.Match[str]) -> str:
        value = values.get(match[1] or match[2])
        return match[0] if value is None else value

    return _PLACEHOLDER.sub(fill, template)


def placeholders(template: str) -> frozenset[str]:
    """The names in braces."""
    return frozenset(match[1] or match[2] for match in _PLACEHOLDER.finditer(template))
