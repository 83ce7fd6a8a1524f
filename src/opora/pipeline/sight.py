"""What is done about pictures that nobody looked at: said aloud, and refused where there is nothing else."""

from __future__ import annotations

from dataclasses import replace

from opora.domain.errors import ModelError, ModelNotConfigured
from opora.domain.question import Draft

NOT_SEEN = "The pictures were not looked at: no model here sees them."

NOT_DESCRIBED = "The pictures were not looked at: the model for pictures did not say what they show."


def undescribed(draft: Draft) -> Draft:
    """The draft with a warning that the model for pictures failed. Raises `ModelError` for pictures alone."""
    if not draft.question.text:
        raise ModelError(
            "The model for pictures did not say what they show.",
            hint="Ask again, write what you want to know, or look whether the model of OPORA_VISION_MODEL answers.",
        )
    return _warned(draft, NOT_DESCRIBED)


def unseen(draft: Draft) -> Draft:
    """The draft with a warning that no model sees. Raises `ModelNotConfigured` for a question of pictures alone."""
    if not draft.question.text:
        raise ModelNotConfigured(
            "No model here can look at pictures.",
            hint="Write what you want to know; or set OPORA_VISION_MODEL, or OPORA_CHAT_VISION if the chat model sees.",
        )
    return _warned(draft, NOT_SEEN)


def _warned(draft: Draft, warning: str) -> Draft:
    return draft if warning in draft.warnings else replace(draft, warnings=(*draft.warnings, warning))
