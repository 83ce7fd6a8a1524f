"""Question forms: searched rows that lead to another chunk, their owner, and are never shown by themselves."""

from __future__ import annotations

import hashlib
import re

from opora.domain.faq import folded_question

SEPARATOR = "#"
HASH_CHARS = 16
_FORM = re.compile(rf"{SEPARATOR}[0-9a-f]{{{HASH_CHARS}}}\Z")


def question_hash(question: str) -> str:
    """Equal for questions that differ only in case and blanks."""
    return hashlib.sha256(folded_question(question).encode("utf-8", "surrogatepass")).hexdigest()[:HASH_CHARS]


def form_id(owner_id: str, question: str) -> str:
    """The id of the row by which ``question`` leads to its owner."""
    return f"{owner_id}{SEPARATOR}{question_hash(question)}"


def is_form(chunk_id: str) -> bool:
    return _FORM.search(chunk_id) is not None


def owner_of_form(chunk_id: str) -> str:
    """The chunk that a row leads to: its owner for a form, itself for every other row."""
    found = _FORM.search(chunk_id)
    return chunk_id if found is None else chunk_id[: found.start()]


def form_of_copy(form: str, owner_id: str) -> str:
    """The id that a form takes when its owner is copied under another id."""
    found = _FORM.search(form)
    return owner_id if found is None else f"{owner_id}{found.group()}"
