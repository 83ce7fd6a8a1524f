"""Step 6: a FAQ hit says its question and its answers, whichever of its wordings was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from zlib import crc32

from opora.domain.faq import ANSWER_MARK, STRATEGY_RANDOM, FaqEntry
from opora.domain.knowledge import ChunkType
from opora.merge.piece import Piece
from opora.merge.state import Merging, Sources


def with_answers(state: Merging, sources: Sources) -> Merging:
    """FAQ pieces as question and answers, from the entry as the database has it now."""
    return state.on([_answered(piece, sources) for piece in state.pieces])


def answer_text(entry: FaqEntry, *, question: str, seed: str) -> str:
    """``Q:`` and the standard question, ``Answer:`` and the answers one a line.

    The strategy 'random' takes one answer, chosen by ``seed``: the same question gets the same one.
    """
    answers = _chosen(entry, seed)
    lines = "\n".join(f"- {answer}" for answer in answers) if len(answers) > 1 else "".join(answers)
    gap = "\n" if len(answers) > 1 else " "
    return f"Q: {entry.standard_question or question}{ANSWER_MARK}{gap}{lines}"


def _answered(piece: Piece, sources: Sources) -> Piece:
    result = piece.result
    if result.chunk_type is not ChunkType.FAQ:
        return piece
    chunk = sources.chunks.get(result.chunk_id)
    entry = FaqEntry.read(chunk.metadata if chunk is not None else result.metadata)
    if entry is None or not entry.answers:
        return piece
    content = answer_text(entry, question=result.content, seed=f"{result.chunk_id}\n{sources.query}")
    return replace(piece, result=replace(result, content=content))


def _chosen(entry: FaqEntry, seed: str) -> Sequence[str]:
    if entry.answer_strategy == STRATEGY_RANDOM and len(entry.answers) > 1:
        return (entry.answers[crc32(seed.encode("utf-8", "replace")) % len(entry.answers)],)
    return entry.answers
