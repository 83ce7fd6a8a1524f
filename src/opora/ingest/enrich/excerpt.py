"""Chooses the text that stands for a whole document where a model can't be shown all of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from opora.text.token_count import estimate_tokens

MARK = "[…]"
HEAD_SHARE = 0.5
"""Half of the excerpt is the beginning, where documents say what they are about; the rest comes from all over."""


def excerpt(texts: Sequence[str], budget: int) -> str:
    """Whole ``texts`` in order, at most about ``budget`` tokens, gaps marked; a first text that is too long is cut.

    The beginning takes `HEAD_SHARE` of the budget, and what is left goes to pieces at equal distances.
    """
    sizes = [estimate_tokens(text) for text in texts]
    if not texts or sum(sizes) <= budget:
        return "\n\n".join(texts)
    if sizes[0] > budget:
        return _cut(texts[0], budget)
    chosen = _chosen(sizes, budget)
    parts: list[str] = []
    for index, text in enumerate(texts):
        if index in chosen:
            parts.append(text)
        elif parts and parts[-1] != MARK:
            parts.append(MARK)
    return "\n\n".join(parts)


def _chosen(sizes: Sequence[int], budget: int) -> set[int]:
    chosen: set[int] = set()
    spent = 0
    for index, size in enumerate(sizes):
        if index and spent + size > budget * HEAD_SHARE:
            break
        chosen.add(index)
        spent += size
    rest = [index for index in range(len(sizes)) if index not in chosen]
    for index in _spread(rest):
        if spent + sizes[index] <= budget:
            chosen.add(index)
            spent += sizes[index]
    return chosen


def _spread(items: Sequence[int]) -> list[int]:
    """The items so that each beginning of the list is spread over all of them: the last, the middle, the quarters..."""
    order = list(items[-1:])
    ranges = deque([(0, len(items) - 1)])
    while ranges:
        low, high = ranges.popleft()
        if low < high:
            middle = (low + high) // 2
            order.append(items[middle])
            ranges.extend([(low, middle), (middle + 1, high)])
    return order


def _cut(text: str, budget: int) -> str:
    """The longest beginning of a text that the budget takes."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if estimate_tokens(text[:middle]) <= budget:
            low = middle
        else:
            high = middle - 1
    return f"{text[:low].rstrip()} {MARK}"
