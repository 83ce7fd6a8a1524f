"""Reads the intent that a model names, and says which intents need a search."""

from __future__ import annotations

import re

from opora.domain.question import Intent

_SEPARATORS = re.compile(r"[\s\-_]+")
_SEARCHED = frozenset({Intent.KB_SEARCH, Intent.CLARIFICATION, Intent.SUMMARIZE, Intent.UNKNOWN})


def normalise_intent(label: object) -> Intent:
    """The intent of a label, case, hyphens and blanks aside; unknown labels and other types give the empty intent."""
    if not isinstance(label, str):
        return Intent.UNKNOWN
    try:
        return Intent(_SEPARATORS.sub("_", label.strip().lower()))
    except ValueError:
        return Intent.UNKNOWN


def needs_kb_retrieval(intent: Intent) -> bool:
    return intent in _SEARCHED


def needs_retrieval(intent: Intent, *, web_search_enabled: bool) -> bool:
    """Whether passages are searched at all. A web question is searched only where web search is switched on."""
    return needs_kb_retrieval(intent) or (intent is Intent.WEB_SEARCH and web_search_enabled)
