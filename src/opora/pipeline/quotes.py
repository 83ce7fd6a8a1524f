"""An answer made of quotes: each sentence word for word, with its citation behind it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from opora.cite.decoder import without_marks
from opora.cite.registry import Registry
from opora.domain.conversation import Quote
from opora.domain.search import SearchResult


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
