"""Reads PDF files: words in reading order, with pages, boxes and headings."""

from __future__ import annotations

from collections import Counter
from typing import Any

from opora.domain.errors import ParseFailed
from opora.domain.knowledge import ParsedDocument, ParseReason
from opora.ingest.limits import ParseLimits
from opora.ingest.ocr import DPI, Recogniser
from opora.ingest.parse.pdf_blocks import BlockMaker
from opora.ingest.parse.pdf_layout import Line, reading_order
from opora.ingest.parse.pdf_margins import drop_repeated
from opora.ingest.parse.pdf_open import open_pdf
from opora.ingest.parse.pdf_picture import drawn, has_picture
from opora.ingest.parse.pdf_words import page_rules, page_words

POINTS_AN_INCH = 72
CHECK_PAGES = 50
"""Pages between looks at how much text has been produced."""


def parse(data: bytes, file_name: str, limits: ParseLimits) -> ParsedDocument:
    recogniser = Recogniser(limits)
    with open_pdf(data, limits) as document:
        pages: list[list[list[Line]]] = []
        produced = 0
        for index in range(len(document)):
            flows = _page(document, index, recogniser)
            produced += sum(len(line.text) for flow in flows for line in flow)
            if produced > limits.produced_bytes:
                raise ParseFailed(
                    ParseReason.SIZE_LIMIT,
                    f"The PDF holds more than {limits.produced_bytes >> 20} MiB of text.",
                    hint="Split it into smaller documents.",
                )
            pages.append(flows)
        title = _title(document)
        count = len(document)
    pages = drop_repeated(pages)
    body_size = _body_size(pages)
    maker = BlockMaker(body_size)
    for flows in pages:
        for flow in flows:
            maker.add(flow)
    blocks = tuple(maker.finish())
    title = title or next((block.place.heading_path[-1] for block in blocks if block.level == 1), "")
    recognised = {"ocr_pages": recogniser.pages} if recogniser.pages else {}
    skipped = {"ocr_skipped": recogniser.skipped} if recogniser.skipped else {}
    metadata = {"pages": count, **recognised, **skipped}
    return ParsedDocument(blocks=blocks, file_type="pdf", title=title, metadata=metadata)


def _page(document: Any, index: int, recogniser: Recogniser) -> list[list[Line]]:
    """A page without a word of its own is looked at as a picture."""
    page = document[index]
    try:
        words = page_words(page, index + 1)
        if not words and recogniser.is_there and has_picture(page):
            words = recogniser.words(drawn(page, DPI / POINTS_AN_INCH), index + 1, POINTS_AN_INCH / DPI)
        return reading_order(words, page_rules(page) if words else [])
    finally:
        page.close()


def _body_size(pages: list[list[list[Line]]]) -> float:
    """The size of letters that most of the text is set in."""
    sizes: Counter[float] = Counter()
    for flows in pages:
        for flow in flows:
            for line in flow:
                sizes[round(line.size * 2) / 2] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def _title(document: Any) -> str:
    """The title in the file's facts, unless it is a name that a program put there."""
    title = " ".join(document.get_metadata_dict().get("Title", "").replace("\x00", "").split())
    lowered = title.lower()
    unlikely = lowered in {"untitled", "anonymous", "document"} or lowered.endswith(
        (".doc", ".docx", ".rtf", ".indd", ".pdf", ".odt", ".tex")
    )
    return "" if unlikely or lowered.startswith("microsoft word") else title
