"""Terms of a keyword index: stems of words, pairs and single characters of Chinese, codes whole and in parts."""

from __future__ import annotations

import threading
import unicodedata
from functools import lru_cache

import regex
import Stemmer

from opora.text.fold import fold, normalise
from opora.text.stop_words import STOP_WORDS

TERMS_VERSION = f"1/{Stemmer.version()}"
"""Stored beside each index: another value means that the index was made of other terms and must be rebuilt."""

TERM_PUNCTUATION = "+#%@.-_&"
"""Every ASCII character of a term that is neither letter nor digit."""

MAX_TERM_CHARS = 64
MAX_QUERY_TERMS = 256
_MAX_TOKEN_CHARS = 128
"""A longer token is data in text form: only its parts are terms, and they are cut before they are remembered."""

_UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}ー々"
_LETTER = rf"[[\p{{L}}\p{{M}}\p{{N}}]--[{_UNSPACED}]]"
_TOKEN = regex.compile(
    rf"[{_UNSPACED}]+|[@#]?{_LETTER}+(?:[.\-_'&@+]{_LETTER}+)*(?:\+\+?|\#|%)?",
    regex.V1,
)
_UNSPACED_START = regex.compile(rf"[{_UNSPACED}]", regex.V1)
_UNSPACED_RUN = regex.compile(rf"[{_UNSPACED}]+", regex.V1)
_JOINERS = regex.compile(r"[.\-_&@+#%]+")
_RUNS = regex.compile(r"\p{N}+|[\p{L}\p{M}']+")
_HUMPS = regex.compile(r"\p{Lu}+(?=\p{Lu}\p{Ll})|\p{Lu}?\p{Ll}+|\p{Lu}+")
_MAX_RUNS = 4
"""A word of more runs of letters and digits is a hash or a key: its pieces mean nothing."""

_stemmers = threading.local()


def index_terms(text: str) -> list[str]:
    """The terms to write to the index, in the order of the text, repeated as often as they stand there."""
    found: list[str] = []
    for token in _TOKEN.findall(normalise(text)):
        found += _unspaced(token, single=True) if _UNSPACED_START.match(token) else _spaced(token)
    return found


def query_terms(text: str) -> list[str]:
    """The terms that a query looks for, at most `MAX_QUERY_TERMS`, in the order of the query.

    What the query says twice stands there twice and counts twice: on questions that repeat their subject this is
    worth 0.5 nDCG. Function words are looked for only when there is nothing else.
    """
    words: list[str] = []
    functions: list[str] = []
    for token in _TOKEN.findall(normalise(text)):
        if _UNSPACED_START.match(token):
            words += _unspaced(token, single=False)
        else:
            (functions if fold(token) in STOP_WORDS else words).extend(_spaced(token))
    return (words or functions)[:MAX_QUERY_TERMS]


def spaced(text: str, *, is_query: bool = False) -> str:
    """The text as a parser that knows only spaces is to see it: folded, and a run of a script without spaces as its
    pairs and single characters (of a query, as its pairs)."""
    found: str = _UNSPACED_RUN.sub(lambda run: f" {' '.join(_unspaced(run[0], single=not is_query))} ", fold(text))
    return found


def name_key(name: str) -> str:
    """What two spellings of a name share: its words' stems in their order, scripts without spaces as they are.

    '' for a name without a letter or digit."""
    tokens = _TOKEN.findall(normalise(name))
    return " ".join(token if _UNSPACED_START.match(token) else _stem(fold(token)) for token in tokens)


def is_unspaced(text: str) -> bool:
    """Whether a text begins in a script that sets no spaces between words."""
    return bool(_UNSPACED_START.match(text))


def _unspaced(run: str, *, single: bool) -> list[str]:
    """Pairs of neighbours of a script without spaces; single characters in the index, and for a query of one."""
    pairs = [run[i : i + 2] for i in range(len(run) - 1)]
    return [*pairs, *run] if single or not pairs else pairs


def _spaced(token: str) -> list[str] | tuple[str, ...]:
    if len(token) <= _MAX_TOKEN_CHARS:
        return _token_terms(token)
    parts = [part[:_MAX_TOKEN_CHARS] for part in _JOINERS.split(token) if part]
    return [term for part in parts for term in _token_terms(part)]


@lru_cache(maxsize=65_536)
def _token_terms(token: str) -> tuple[str, ...]:
    whole = fold(token)
    parts = [part for part in _JOINERS.split(whole) if part]
    if len(parts) == 1 and parts[0] == whole:
        return tuple(dict.fromkeys([_stem(whole), *_pieces(token)]))
    inner = [term for part in _JOINERS.split(token) if part for term in _token_terms(part)]
    is_code = any(c.isdigit() for c in whole) or any(c in "._&@+#%" for c in whole)
    if not is_code:
        return tuple(inner)
    return (whole.replace("'", "")[:MAX_TERM_CHARS], *(term for term in inner if len(term) > 1 or term.isdigit()))


def _pieces(word: str) -> list[str]:
    """Parts of a word written together: letters and digits (KB1234), capitals inside (FileResponse)."""
    pieces = _RUNS.findall(word)
    if len(pieces) < 2 and not (word.isupper() or word[1:].islower()):
        pieces = _HUMPS.findall(word)
    if not 2 <= len(pieces) <= _MAX_RUNS:
        return []
    return [_stem(fold(piece)) for piece in pieces if len(piece) > 1 or piece.isdigit()]


def _stem(word: str) -> str:
    letter = next((c for c in word if c.isalpha()), "")
    if "a" <= letter <= "z" or "\u00df" <= letter <= "\u024f":
        if not word.isascii():
            word = "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))
        language = "english"
    elif "\u0400" <= letter <= "\u052f":
        language = "russian"
    else:
        return word.replace("'", "")[:MAX_TERM_CHARS]
    return str(_stemmer(language).stemWord(word[:MAX_TERM_CHARS])).replace("'", "")


def _stemmer(language: str) -> Stemmer.Stemmer:
    """One stemmer for each thread: the C object must not be shared."""
    stemmer = getattr(_stemmers, language, None)
    if stemmer is None:
        stemmer = Stemmer.Stemmer(language)
        setattr(_stemmers, language, stemmer)
    return stemmer
