"""Steps 2 and 8: the same chunk or the same text twice, and passages of different origin that are nearly the same.

Near-duplicates go by what they would take with them: a passage that has a number, code, name, negation or table row
of its own is never removed, however like another it is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from opora.domain.knowledge import ChunkType
from opora.domain.search import SearchResult
from opora.domain.trace import Drop
from opora.merge.order import order_key
from opora.merge.piece import Piece
from opora.merge.state import Merging, Sources, dropped
from opora.merge.texts import Texts
from opora.text.tokens import negations, overlap_coefficient

NEAR_DUPLICATE_RATIO = 0.85
MAX_SIZE_RATIO = 3
"""Token counts further apart are not compared by overlap: a long page would swallow every short passage."""
EDGE_TOKENS = 2
"""Tokens that a cut may have split at the edges of a contained text."""
IMAGE_VECTOR_MATCH = "image_vector_match"
CELL = " | "


def without_duplicates(state: Merging, sources: Sources) -> Merging:
    """One piece for each chunk id and for each text under its headings; the better one stays."""
    kept: dict[str, Piece] = {}
    by_id: dict[str, str] = {}
    drops: list[Drop] = []
    for piece in _best_first(state.pieces):
        result = piece.result
        key = _signature(result, sources.texts)
        same = by_id.get(result.chunk_id) or (key if key in kept else None)
        if same is None:
            kept[key] = piece
            for chunk_id in (result.chunk_id, *result.sub_chunk_ids):
                by_id.setdefault(chunk_id, key)
            continue
        kept[same] = _with_image_mark(kept[same], piece)
        if result.chunk_id != kept[same].result.chunk_id:
            drops.append(dropped(result.chunk_id, "duplicate", f"the same text as {kept[same].result.chunk_id}"))
    return state.on(list(kept.values()), drops)


def without_near_duplicates(state: Merging, sources: Sources) -> Merging:
    """Remove the lower-scored of two passages that contain each other or share 0.85 of the smaller one's tokens."""
    index = _Index(sources.texts, state.pieces)
    kept: dict[str, Piece] = {}
    drops: list[Drop] = []
    for piece in _best_first(state.pieces):
        twin = next((k for k in index.like(piece) if is_near_duplicate(piece, k, sources.texts)), None)
        if twin is None:
            kept[piece.result.chunk_id] = piece
            index.add(piece)
            continue
        kept[twin.result.chunk_id] = _with_image_mark(kept[twin.result.chunk_id], piece)
        drops.append(dropped(piece.result.chunk_id, "duplicate", f"nearly the same as {twin.result.chunk_id}"))
    return state.on(list(kept.values()), drops)


def is_near_duplicate(lower: Piece, higher: Piece, texts: Texts) -> bool:
    """Whether ``lower`` may go because ``higher`` stays."""
    a, b = lower.result, higher.result
    if a.context and b.context and texts.normal(a.context) != texts.normal(b.context):
        return False
    if not _is_alike(a.content, b.content, texts):
        return False
    return not says_more(a.content, b.content, texts)


def says_more(lower: str, higher: str, texts: Texts) -> bool:
    """Whether ``lower`` says something that ``higher`` does not: a number, code, name, a table row, or the opposite."""
    much_shorter = len(texts.tokens(lower)) < NEAR_DUPLICATE_RATIO * len(texts.tokens(higher))
    if much_shorter and texts.contains(higher, lower):
        return False
    if not texts.facts(lower) <= texts.facts(higher):
        return True
    if negations(texts.tokens(lower)) != negations(texts.tokens(higher)):
        return True
    is_table = any(CELL in line or line.lstrip().startswith("|") for line in lower.splitlines())
    return is_table and not texts.contains_lines(higher, lower)


def _is_alike(a: str, b: str, texts: Texts) -> bool:
    shorter, longer = sorted((texts.normal(a), texts.normal(b)), key=len)
    if shorter and shorter in longer:
        return True
    first, second = texts.tokens(a), texts.tokens(b)
    smaller, larger = sorted((len(first), len(second)))
    if smaller == 0 or larger > smaller * MAX_SIZE_RATIO:
        return False
    return overlap_coefficient(first, second) >= NEAR_DUPLICATE_RATIO


class _Index:
    """Finds the kept pieces that can be alike at all, so that only those are compared.

    Of a set of n tokens at most 15% may be missing from its twin, so any choice of one token more than that has one
    in common with it; the rarest tokens are chosen.
    """

    def __init__(self, texts: Texts, pieces: Iterable[Piece]) -> None:
        self._texts = texts
        self._frequency: defaultdict[str, int] = defaultdict(int)
        for piece in pieces:
            for token in texts.tokens(piece.result.content):
                self._frequency[token] += 1
        self._kept: list[Piece] = []
        self._holders: defaultdict[str, list[int]] = defaultdict(list)
        self._by_rare: defaultdict[str, list[int]] = defaultdict(list)
        self._tiny: list[int] = []

    def add(self, piece: Piece) -> None:
        tokens = self._texts.tokens(piece.result.content)
        place = len(self._kept)
        self._kept.append(piece)
        for token in tokens:
            self._holders[token].append(place)
        if len(tokens) <= EDGE_TOKENS:
            self._tiny.append(place)
        for token in self._rare(tokens):
            self._by_rare[token].append(place)

    def like(self, piece: Piece) -> list[Piece]:
        """Candidates in the order in which they were kept, best first."""
        tokens = self._texts.tokens(piece.result.content)
        if len(tokens) <= EDGE_TOKENS:
            return self._kept
        near = set(self._tiny)
        for token in self._rare(tokens):
            near.update(self._holders.get(token, ()))
        for token in tokens & self._by_rare.keys():
            near.update(self._by_rare[token])
        return [self._kept[place] for place in sorted(near)]

    def _rare(self, tokens: frozenset[str]) -> list[str]:
        missing = max(int(len(tokens) * (1 - NEAR_DUPLICATE_RATIO) + 1e-9), EDGE_TOKENS)
        return sorted(tokens, key=self._frequency.__getitem__)[: missing + 1]


def _best_first(pieces: Iterable[Piece]) -> list[Piece]:
    return sorted(pieces, key=lambda piece: order_key(piece.result))


def _signature(result: SearchResult, texts: Texts) -> str:
    """The normalised text with what stands over it; a blank text equals nothing else."""
    text = texts.normal(result.content)
    return f"{texts.normal(result.context)}\n{text}" if text else f"\n{result.chunk_id}"


def _with_image_mark(kept: Piece, gone: Piece) -> Piece:
    """Remember that an image was hit by its own vector when that hit is the one that goes."""
    is_hit = gone.result.chunk_type is ChunkType.IMAGE_VECTOR or gone.result.metadata.get(IMAGE_VECTOR_MATCH)
    members = dict.fromkeys((*kept.result.sub_chunk_ids, *_ids_of_part(kept, gone)))
    result = replace(kept.result, sub_chunk_ids=tuple(members))
    if is_hit and kept.result.chunk_type is not ChunkType.IMAGE_VECTOR:
        result = replace(result, metadata={**result.metadata, IMAGE_VECTOR_MATCH: "true"})
    return replace(kept, result=result)


def _ids_of_part(kept: Piece, gone: Piece) -> tuple[str, ...]:
    """Ids that the kept piece now stands for: those of the same document only."""
    if kept.result.document_id != gone.result.document_id:
        return ()
    ids = (gone.result.chunk_id, *gone.result.sub_chunk_ids)
    return tuple(chunk_id for chunk_id in ids if chunk_id != kept.result.chunk_id)
