"""Puts what several ways of finding gave into one list, each chunk and each text once."""

from __future__ import annotations

from collections.abc import Sequence

from opora.domain.search import SearchResult
from opora.domain.trace import Drop
from opora.text.signature import content_signature

STAGE = "found"


def united(first: Sequence[SearchResult], *others: Sequence[SearchResult]) -> tuple[list[SearchResult], list[Drop]]:
    """All results in the order of the lists; of those with one id, or one text under one heading, the first stays."""
    kept: list[SearchResult] = []
    drops: list[Drop] = []
    ids: set[str] = set()
    texts: dict[str, str] = {}
    for result in (result for results in (first, *others) for result in results):
        if result.chunk_id in ids:
            continue
        signature = content_signature(f"{result.context}\n{result.content}")
        if signature and signature in texts:
            detail = f"the same text as {texts[signature]}"
            drops.append(Drop(chunk_id=result.chunk_id, stage=STAGE, reason="duplicate", detail=detail))
            continue
        ids.add(result.chunk_id)
        texts[signature] = result.chunk_id
        kept.append(result)
    return kept, drops
