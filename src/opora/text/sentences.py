"""Where sentences begin and end in Russian, English and Chinese text, by rules that look only at their surroundings."""

from __future__ import annotations

import re
from collections.abc import Iterator

_CLOSERS = r"[»”’\"')\]}」』）》】〉]"
_END = re.compile(
    # One set of signs first lets the search skip all other text fast; which of them it was is told after it.
    r"[。！？；｡.!?…\n](?:"
    rf"(?P<cjk>(?<=[。！？；｡])[。！？；｡]*+{_CLOSERS}*+)"
    rf"|(?P<stop>(?<=[.!?…])(?<![.!?…]{{2}})[.!?…]*+{_CLOSERS}*+(?:\[\d{{1,4}}\])*+(?=\s|\Z))"
    # A blank line ends whatever stood before it, and so does a line end before a list item or a heading.
    r"|(?P<line>(?<=\n)(?:[^\S\n]*+(?=\n)|(?=[^\S\n]{0,12}(?:[-*+•–—]|\d{1,3}[.)]|\#{1,6})\s)))"
    r")"
)
_NOT_BLANK = re.compile(r"\S")
_WORD_BEFORE = re.compile(r"[^\W\d_]+(?:[.-][^\W\d_]+)*\Z")
_ENUMERATOR = re.compile(r"(?:\A|\n|[.!?…]\s)[^\S\n]*\d{1,3}\Z")
_ET_CETERA = re.compile(r"т\.\s?[дп]\Z")
_AFTER_NUMBER = re.compile(r"(?:\d|\b[IVXLC]+)[^\S\n]*(?:гг|вв|г|в)\Z")
_STOP_INSIDE = re.compile(r"[.!?…]\s")
_LOOK_BACK = 24
_LONG_WORD = 8
"""No abbreviation has so many letters in a row."""

# A stop after one of these belongs to the word. Words that often end a sentence too (и др., руб., etc., Inc., a.m.)
# are left out: before a small letter no sentence ends anyway, and before a capital one mostly does.
_RUSSIAN = (
    "гг вв гор ул просп пр-т пер пл наб бул обл р-н пос дер дом корп кв оф стр рис табл гл пп ст разд см ср напр "
    "т.е т.к т.н т.ч им акад проф доц канд д-р г-н г-жа инж тел факс изд ред сост соавт св тов гр зам зав нач мин-во "
    "рук отв прим илл абз подп утв и.о к.т.н"
)
_ENGLISH = (
    "mr mrs ms dr prof st mt vs e.g i.e cf fig figs eq eqs sec ch vol pp art al approx dept gen col lt sgt capt "
    "rev hon gov sen rep viz ca resp ed eds trans incl ext tel"
)
_NUMBERED = "no nos nr p n jan feb mar apr jun jul aug sep sept oct nov dec"
_ABBREVIATIONS = frozenset(_RUSSIAN.split() + _ENGLISH.split())
_BEFORE_NUMBER = frozenset(_NUMBERED.split())


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Start and end of each sentence, in order, without the blanks between them; together they hold all the rest."""
    spans: list[tuple[int, int]] = []
    begin = 0
    for end in _sentence_ends(text):
        _append(spans, text, begin, end)
        begin = end
    _append(spans, text, begin, len(text))
    return spans


def _append(spans: list[tuple[int, int]], text: str, begin: int, end: int) -> None:
    first = _NOT_BLANK.search(text, begin, end)
    if first is None:
        return
    while text[end - 1].isspace():
        end -= 1
    spans.append((first.start(), end))


def _sentence_ends(text: str) -> Iterator[int]:
    for match in _END.finditer(text):
        if match.lastgroup != "stop" or _ends_here(text, match):
            yield match.end()


def _ends_here(text: str, match: re.Match[str]) -> bool:
    begin, end = match.span()
    following = _NOT_BLANK.search(text, end)
    if following is None:
        return True
    after = following.group()
    if after.islower() or after in ",;:)»":
        return False
    if end - begin > 1 or text[begin] != ".":
        # «Кто там?» — спросил он: the quoted question is a part of the sentence around it.
        return not (after in "—–-" and text[end - 1] not in ".!?…")
    if text[max(0, begin - _LONG_WORD) : begin].isalpha() and begin >= _LONG_WORD:
        return True
    return not _is_abbreviation(text[max(0, begin - _LOOK_BACK) : begin], after)


def _is_abbreviation(before: str, after: str) -> bool:
    found = _WORD_BEFORE.search(before)
    if found is None:
        return _ENUMERATOR.search(before) is not None
    word = found.group()
    if _ET_CETERA.search(before):
        return False
    if _AFTER_NUMBER.search(before):
        # «В 2020 г. Москва росла» goes on; a year far from where the sentence began ends it before a capital.
        is_far = len(before) == _LOOK_BACK and not _STOP_INSIDE.search(before)
        return not (after.isupper() and is_far)
    if len(word) == 1:
        # An initial (А. С. Пушкин, J. Doe) or a one-letter abbreviation (г. Москва, с. 5).
        return word.isupper() or word in "гсдпчтвнеклрох" or (word in "pn" and after.isdigit())
    lowered = word.lower()
    if lowered in _BEFORE_NUMBER:
        return after.isdigit() or after == "№"
    return lowered in _ABBREVIATIONS
