"""How remembered items stand in the system prompt: as data, which can neither close its tag nor give orders."""

from __future__ import annotations

from collections.abc import Sequence

from opora.domain.memory import MemoryItem
from opora.prompt.escape import escape_text
from opora.prompt.library import Overrides, template_text
from opora.prompt.placeholders import render


def memory_prompt(items: Sequence[MemoryItem], language: str, *, overrides: Overrides | None = None) -> str:
    """'' when there is nothing to recall."""
    if not items:
        return ""
    lines = "\n".join(f"<item>{escape_text(item.content)}</item>" for item in items)
    template = template_text("memory", language=language, overrides=overrides)
    return render(template, {"items": f"<memory>\n{lines}\n</memory>"})
