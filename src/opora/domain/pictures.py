"""A picture as models are shown it, and as messages keep it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """The bytes of a picture. ``media_type`` is what they are, such as ``image/png``, not what somebody called them."""

    image_id: str
    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A picture that came with a question, without its bytes: they are kept apart from the message."""

    image_id: str
    media_type: str
    size: int
    """Bytes."""
    caption: str = ""
    """What a model saw in the pictures of the question; it stands on the first of them."""
