"""An answer made of quotes: each sentence word for word, with its citation behind it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from opora.cite.decoder import without_marks
from opora.cite.registry import Registry
from opora.domain.conversation import Quote
from opora.domain.faq import answer_span
from opora.domain.search import SearchResult
from opora.domain.settings import RetrievalSettings
from opora.prompt.passages import is_exact


def exact_answer(passages: Sequence[SearchResult], settings: RetrievalSettings) -> Quote | None:
    """The whole answer of a FAQ entry that answers outright, where entries have priority; the best one's first."""
    if not settings.faq_priority_enabled:
        return None
    for passage in passages:
        if not is_exact(passage, threshold=settings.faq_direct_answer_threshold):
            continue
        span = answer_span(passage.content)
        if span is not None:
            start, end = span
            text = passage.content[start:end]
            return Quote(chunk_id=passage.chunk_id, text=text, start=start, end=end, score=passage.score)
    return None


def quoted_pieces(quotes: Sequence[Quote], passages: Sequence[SearchResult], registry: Registry) -> Iterator[str]:
    """One Markdown quotation a quote. What in a document looks like a citation mark is taken out of the quote.

    Raises `KeyError` when a quote names a passage that is not there: quotes are never cited to something else.
    """
    by_id = {passage.chunk_id: passage for passage in passages}
    gap = ""
    for quote in quotes:
        passage = by_id[quote.chunk_id]
        lines = "\n> ".join(line for line in without_marks(quote.text).splitlines() if line.strip())
        if not any(map(str.isalnum, lines)):
            # It was nothing but marks.
            continue
        yield f"{gap}> {lines} {registry.public_tag(registry.register(passage))}".rstrip()
        gap = "\n\n"
