"""What stands beside a question, as data: the passage that it speaks about, texts, and what its pictures show."""

from __future__ import annotations

from dataclasses import replace

from opora.domain.conversation import Beside
from opora.prompt.escape import escape_attribute, escape_text
from opora.prompt.library import Overrides, template_text
from opora.prompt.placeholders import render

MAX_REPLAYED_CHARS = 2_000
"""How much of each text is shown again with later questions."""


def beside_text(beside: Beside, language: str, *, limit: int = 0, overrides: Overrides | None = None) -> str:
    """'' when there is nothing; with a limit each text is cut to so many characters."""
    parts = []
    if beside.quoted_context:
        template = template_text("beside", "quoted_context", language=language, overrides=overrides)
        quoted = f"<quoted>\n{escape_text(_cut(beside.quoted_context, limit))}\n</quoted>"
        parts.append(render(template, {"text": quoted}))
    if beside.attachments:
        template = template_text("beside", "attachments", language=language, overrides=overrides)
        texts = [
            f'<attachment name="{escape_attribute(one.name)}">\n{escape_text(_cut(one.content, limit))}\n</attachment>'
            for one in beside.attachments
        ]
        parts.append(render(template, {"text": "\n".join(texts)}))
    if captions := [one.caption for one in beside.images if one.caption]:
        template = template_text("beside", "images", language=language, overrides=overrides)
        seen = [f"<image>\n{escape_text(_cut(caption, limit))}\n</image>" for caption in captions]
        parts.append(render(template, {"text": "\n".join(seen)}))
    return "\n\n".join(parts)


def described(beside: Beside, description: str) -> Beside:
    """With what a model saw in the pictures, which is kept with the first of them."""
    if not (description and beside.images):
        return beside
    first, *others = beside.images
    return replace(beside, images=(replace(first, caption=description), *others))


def with_beside(text: str, beside: Beside, language: str, *, limit: int = 0) -> str:
    """A message with what stands beside it behind it."""
    added = beside_text(beside, language, limit=limit) if beside else ""
    return f"{text}\n\n{added}" if added else text


def _cut(text: str, limit: int) -> str:
    return f"{text[:limit]}…" if 0 < limit < len(text) else text
