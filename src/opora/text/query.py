"""The one check of a question that comes from outside: length in characters, no blank text, no NUL."""

from __future__ import annotations

import re
import unicodedata

from opora.domain.errors import InvalidInput
from opora.domain.search import MAX_QUERY_CHARS

_UNSAFE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_INVISIBLE = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})
"""Categories of characters of which a question can't be made: blanks, controls, marks of zero width."""


def clean_query(text: str) -> str:
    """The question without control characters, lone surrogates and outer blanks.

    Raises `InvalidInput` naming the field ``query`` when it is blank or longer than `MAX_QUERY_CHARS` characters.
    """
    if len(text) > MAX_QUERY_CHARS:
        raise InvalidInput.of(
            "query", f"The question has {len(text):,} characters; {MAX_QUERY_CHARS:,} is the most that is taken."
        )
    cleaned = _UNSAFE.sub("", text).strip()
    if not any(unicodedata.category(char) not in _INVISIBLE for char in cleaned):
        raise InvalidInput.of("query", "The question is empty.", hint="Type what you want to know.")
    return cleaned
