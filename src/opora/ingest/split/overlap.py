"""How far a chunk reaches back into the one before it: whole sentences, else a clause, words or characters."""

from __future__ import annotations

import re

from opora.ingest.split.protect import covering
from opora.ingest.split.stretch import Stretch
from opora.text.graphemes import next_cut
from opora.text.sentences import sentence_spans

_LOOK_BACK = 64  # beyond the overlap itself, so that the sentence that reaches into it is seen from nearer its start
_CLAUSE = re.compile(r"[,;:]\s+(?=\S)|[，、：；](?=\S)|\s[—–]\s+(?=\S)|\n\s*(?=\S)")
_WORD = re.compile(r"\s+(?=\S)")


def overlap_start(stretch: Stretch, before: int, begin: int, most: int) -> int:
    """Where the overlap of the piece at ``begin`` starts; at most ``most`` characters back and inside the piece before.

    It starts behind that piece's own start (``before``), so that neither of the two holds the other.
    """
    floor = max(before + 1, begin - most)
    if most <= 0 or floor >= begin:
        return begin
    low = max(before, floor - _LOOK_BACK)
    for start, _ in sentence_spans(stretch.text[low:begin])[1:]:
        if low + start >= floor and not stretch.is_shielded(low + start):
            return low + start
    for edge in (_CLAUSE, _WORD):
        for match in edge.finditer(stretch.text, floor, begin):
            if not stretch.is_shielded(match.end()):
                return match.end()
    shield = covering(stretch.shields, floor)
    return min(begin, next_cut(stretch.text, shield[1] if shield else floor, anchor=before))
