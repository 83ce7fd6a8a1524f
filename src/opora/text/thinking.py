"""Takes away what a model thought aloud before it replied."""

from __future__ import annotations

import re

_BLOCK = re.compile(r"<(think(?:ing)?|reason(?:ing)?)\b[^>]*>.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_END = re.compile(r"</(?:think(?:ing)?|reason(?:ing)?)\s*>", re.IGNORECASE)


def reply_alone(text: str) -> str:
    """A reply without thinking: whole blocks, a block that never ends, and everything before a lone end mark."""
    text = _BLOCK.sub("", text)
    ends = list(_END.finditer(text))
    return text[ends[-1].end() :] if ends else text
