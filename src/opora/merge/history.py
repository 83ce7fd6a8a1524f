"""Step 3: references of the last answer that the new question speaks of again, at a lower score."""

from __future__ import annotations

from dataclasses import replace

from opora.domain.faq import is_silenced
from opora.domain.knowledge import ChunkType
from opora.domain.search import MatchType, SearchResult
from opora.domain.trace import Drop
from opora.merge.order import in_order
from opora.merge.piece import Piece
from opora.merge.state import Merging, Sources, dropped
from opora.text.tokens import overlap_coefficient

HISTORY_OVERLAP = 0.3
HISTORY_FACTOR = 0.6
MAX_HISTORY_REFERENCES = 3


def with_history(state: Merging, sources: Sources) -> Merging:
    """Add at most three references whose text covers 0.3 of the question's tokens, at 0.6 of their score.

    The share is |q ∩ c| / min(|q|, |c|): Jaccard would divide by the union, and a question of eight words against a
    passage of hundreds would never reach it. A reference is given with its text of today; one that is gone, disabled
    or out of reach is left out, and so is a FAQ entry that must stay silent on this question.
    """
    if not sources.references:
        return state
    present = {i for p in state.pieces for i in (p.result.chunk_id, *p.result.sub_chunk_ids)}
    question = sources.texts.tokens(sources.query)
    added: list[Piece] = []
    drops: list[Drop] = []
    for reference in in_order(sources.references):
        if reference.chunk_id in present or len(added) == MAX_HISTORY_REFERENCES:
            continue
        current = _current(reference, sources)
        if current is None:
            drops.append(dropped(reference.chunk_id, "not_in_database", "a reference of the last answer"))
        elif current.chunk_type is ChunkType.FAQ and is_silenced(current.metadata, sources.query, sources.asked):
            drops.append(dropped(reference.chunk_id, "negative_question", "a reference of the last answer"))
        elif overlap_coefficient(question, sources.texts.tokens(current.content)) >= HISTORY_OVERLAP:
            added.append(Piece.of(current))
            present.add(current.chunk_id)
    return state.on([*state.pieces, *added], drops)


def _current(reference: SearchResult, sources: Sources) -> SearchResult | None:
    lowered = replace(
        reference,
        score=reference.score * HISTORY_FACTOR,
        match_type=MatchType.HISTORY,
        sub_chunk_ids=(),
        ranks={},
    )
    if reference.match_type is MatchType.WEB or reference.chunk_type is ChunkType.WEB_SEARCH:
        return lowered
    chunk = sources.chunks.get(reference.chunk_id)
    if chunk is None:
        return None
    return replace(
        lowered,
        content=chunk.content,
        context=chunk.context,
        chunk_index=chunk.chunk_index,
        chunk_type=chunk.chunk_type,
        parent_chunk_id=chunk.parent_chunk_id,
        pre_chunk_id=chunk.pre_chunk_id,
        next_chunk_id=chunk.next_chunk_id,
        place=chunk.place,
        metadata=chunk.metadata,
    )
