"""What is done about pictures that no model can look at: said aloud, and refused where there is nothing else."""

from __future__ import annotations

from dataclasses import replace

from opora.domain.errors import ModelNotConfigured
from opora.domain.question import Draft

NOT_SEEN = "The pictures were not looked at: no model here sees them."


def unseen(draft: Draft) -> Draft:
    """The draft with a warning. Raises `ModelNotConfigured` for a question of pictures alone."""
    if not draft.question.text:
        raise ModelNotConfigured(
            "No model here can look at pictures.",
            hint="Write what you want to know; or set OPORA_VISION_MODEL, or OPORA_CHAT_VISION if the chat model sees.",
        )
    return draft if NOT_SEEN in draft.warnings else replace(draft, warnings=(*draft.warnings, NOT_SEEN))
