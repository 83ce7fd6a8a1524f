"""Makes a follow-up searchable without a model: a question that leans on the last one is searched together with it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from opora.domain.conversation import Round
from opora.domain.search import MAX_QUERY_CHARS
from opora.text.terms import query_terms
from opora.text.tokens import simple_tokens

SHORT_WORDS = 3
"""A question of fewer words than this says too little by itself."""
SHORT_HAN_CHARS = 5
POINTING_WORDS = 8
"""In a longer question a pronoun mostly points at something in the question itself."""
MAX_CHAIN = 3
"""How many questions back a chain of follow-ups is traced."""
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_OPENING = re.compile(
    r"^\s*(?:(?:а|и|но|ну|тогда|также|ещё|еще|and|but|so|then|also|what about|how about)[\s,]|那|还有|另外|而且)",
    re.IGNORECASE,
)
_POINTING = frozenset(
    (
        *("он", "она", "оно", "они", "его", "ее", "их", "ему", "ей", "им", "него", "нее", "них", "нем", "ней", "ними"),
        *(
            "этот",
            "эта",
            "это",
            "эти",
            "этого",
            "этой",
            "этих",
            "этом",
            "этим",
            "тот",
            "того",
            "той",
            "тех",
            "там",
            "туда",
        ),
        *("it", "its", "they", "them", "their", "he", "she", "him", "her", "this", "these", "those"),
    )
)
_POINTING_HAN = re.compile("它们?|他们?|她们?|这个?|那个?|这些|那些|其中|该")


def leans_on_last(question: str) -> bool:
    """Whether a question can't stand alone: it begins as a continuation, points at something, or is very short."""
    if _OPENING.match(question):
        return True
    han = len(_HAN.findall(question))
    if han:
        return bool(_POINTING_HAN.search(question)) or han < SHORT_HAN_CHARS
    words = simple_tokens(question)
    is_pointing = len(words) <= POINTING_WORDS and not _POINTING.isdisjoint(words)
    return is_pointing or len(words) < SHORT_WORDS or not query_terms(question)


def follow_up_query(question: str, history: Sequence[Round]) -> str:
    """The question joined to those it leans on, oldest first; '' where it stands alone or nothing was asked before."""
    if not history or not leans_on_last(question):
        return ""
    chain: list[str] = []
    for round_ in reversed(history[-MAX_CHAIN:]):
        chain.insert(0, round_.question.strip())
        if not leans_on_last(round_.question):
            break
    joined = " ".join((*chain, question.strip()))
    return joined if len(joined) <= MAX_QUERY_CHARS else ""
