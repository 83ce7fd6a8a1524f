"""The context block of a prompt: passages in sections by how far they are trusted, as many as the budget takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from opora.domain.knowledge import ChunkType
from opora.domain.search import SearchResult
from opora.domain.settings import RetrievalSettings
from opora.domain.trace import Drop
from opora.prompt.passages import EXACT, aliases, document_header, is_exact, render_passage
from opora.text.token_count import estimate_tokens

STAGE = "context"


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """``passages`` are those that stand in ``text``, in that order."""

    text: str = ""
    passages: tuple[SearchResult, ...] = ()
    drops: tuple[Drop, ...] = ()


def build_context(passages: Sequence[SearchResult], values: RetrievalSettings) -> Context:
    """FAQ entries first where they have priority, whole passages until the token budget is used up.

    A passage is never cut in two: from the first that does not fit, all are left out and named in the drops. The
    first passage stays whatever its size, since a prompt without any would only invite invention.
    """
    ordered = _by_priority(passages) if values.faq_priority_enabled else list(passages)
    blocks: list[str] = []
    spent = 0
    for passage, alias in zip(ordered, aliases(ordered), strict=True):
        exact = values.faq_priority_enabled and is_exact(passage, threshold=values.faq_direct_answer_threshold)
        block = render_passage(passage, alias, match=EXACT if exact else "")
        spent += estimate_tokens(block)
        if blocks and spent > values.context_token_budget:
            break
        blocks.append(block)
    kept = ordered[: len(blocks)]
    drops = tuple(Drop(chunk_id=p.chunk_id, stage=STAGE, reason="over_budget") for p in ordered[len(blocks) :])
    text = _sections(kept, blocks) if values.faq_priority_enabled else "\n".join(blocks)
    header = document_header(kept)
    return Context(text="\n".join(part for part in (header, text) if part), passages=tuple(kept), drops=drops)


def _by_priority(passages: Sequence[SearchResult]) -> list[SearchResult]:
    return sorted(passages, key=lambda passage: passage.chunk_type is not ChunkType.FAQ)


def _sections(passages: Sequence[SearchResult], blocks: Sequence[str]) -> str:
    """Two sections where there are FAQ entries; a plain list where there are none."""
    faq = [block for passage, block in zip(passages, blocks, strict=True) if passage.chunk_type is ChunkType.FAQ]
    if not faq:
        return "\n".join(blocks)
    sections = ['<source type="faq" priority="high">', *faq, "</source>"]
    if len(faq) < len(blocks):
        sections += ['<source type="document" priority="supplementary">', *blocks[len(faq) :], "</source>"]
    return "\n".join(sections)
