"""Checks the question before it goes into a prompt: length, control characters, and characters nobody can see."""

from __future__ import annotations

import re

from opora.text.query import clean_query

_INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e007f]")
"""Zero-width characters, direction overrides and tag characters: used to hide instructions in plain sight."""


def checked_input(question: str) -> str:
    """The question as it may stand in a prompt; raises `InvalidInput` when it is blank or too long.

    Marks of our own protocol need no check here: the question is escaped where it is put between tags.
    """
    return clean_query(_INVISIBLE.sub("", question))
