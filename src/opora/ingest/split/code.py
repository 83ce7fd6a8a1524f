"""Code longer than the cap: cut between lines, and each piece fenced again."""

from __future__ import annotations

import re

from opora.domain.knowledge import Block
from opora.ingest.split.stretch import Frame, Part, Stretch

_OPENING = re.compile(r"\A[ \t]{0,3}(`{3,}|~{3,})[^\n]*\n")


def code_stretch(block: Block, start: int, path: tuple[str, ...]) -> Stretch:
    part = Part(begin=0, end=len(block.text), block=block)
    fence = _OPENING.match(block.text)
    frame = Frame(opening=fence.group(), closing=f"\n{fence.group(1)}") if fence else Frame()
    return Stretch(text=block.text, start=start, parts=(part,), begins=[0], path=path, shields=[], fence=frame)
