"""Where text may be cut without tearing what a reader sees as one character."""

from __future__ import annotations

import regex

_CLUSTER = regex.compile(r"\X")
_LOOK_BACK = 64
# Letters, digits and punctuation that never join a neighbour of the same kind: a cut between two is always safe.
_PLAIN = ((0x20, 0x7F), (0x0400, 0x0482), (0x3040, 0x3097), (0x4E00, 0xA000))


def safe_cut(text: str, index: int, *, anchor: int = 0) -> int:
    """The last grapheme boundary at or before ``index``; never less than ``anchor``, which must be a boundary itself.

    Only a few characters around ``index`` are looked at, unless they are all of the joining kind (a long run of
    flags or of combining marks): then the clusters are counted from ``anchor``.
    """
    if index <= anchor:
        return anchor
    if index >= len(text):
        return len(text)
    if _is_plain(text[index - 1]) and _is_plain(text[index]):
        return index
    begin = _boundary_before(text, index, anchor)
    # A slice, since the search for clusters may look back over all that stands before it (over flags, to pair them).
    starts: list[int] = [cluster.start() for cluster in _CLUSTER.finditer(text[begin : index + 1])]
    return begin + starts[-1]


def next_cut(text: str, index: int, *, anchor: int = 0) -> int:
    """The first grapheme boundary at or after ``index``; ``anchor`` as for `safe_cut`."""
    before = safe_cut(text, index, anchor=anchor)
    if before >= index:
        return before
    length = _LOOK_BACK
    while True:
        cluster = _CLUSTER.match(text[before : before + length])
        if cluster is None or cluster.end() < length or before + length >= len(text):
            return before + cluster.end() if cluster else index
        length *= 2


def _boundary_before(text: str, index: int, anchor: int) -> int:
    """A sure boundary before ``index``: between two plain characters near by, else the anchor."""
    for position in range(index - 1, max(anchor, index - _LOOK_BACK), -1):
        if _is_plain(text[position]) and _is_plain(text[position - 1]):
            return position
    return anchor


def _is_plain(char: str) -> bool:
    code = ord(char)
    return any(low <= code < high for low, high in _PLAIN)
