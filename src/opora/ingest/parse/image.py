"""Reads pictures of text (PNG, JPEG, TIFF, WebP, BMP) by recognition, each of their pages."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from opora.domain.errors import ParseFailed
from opora.domain.knowledge import Block, ParsedDocument, ParseReason
from opora.ingest.limits import ParseLimits
from opora.ingest.ocr import DPI, INSTALL, Recogniser
from opora.ingest.parse.pdf_blocks import BlockMaker
from opora.ingest.parse.pdf_layout import Line, reading_order

FORMATS = ("PNG", "JPEG", "TIFF", "WEBP", "BMP")
POINTS = 72 / DPI


def parse(data: bytes, file_name: str, limits: ParseLimits) -> ParsedDocument:
    recogniser = Recogniser(limits)
    if not recogniser.is_there:
        raise ParseFailed(
            ParseReason.NOT_TEXT,
            "The file is a picture, and there is no text recognition here.",
            hint=f"{INSTALL}, or upload the text itself.",
        )
    pages: list[list[list[Line]]] = []
    for number, png in enumerate(_pages(data, limits), start=1):
        pages.append(reading_order(recogniser.words(png, number, POINTS), []))
    sizes = sorted(line.size for flows in pages for flow in flows for line in flow)
    maker = BlockMaker(sizes[len(sizes) // 2] if sizes else 0.0)
    for flows in pages:
        for flow in flows:
            maker.add(flow)
    metadata: dict[str, Any] = {"pages": len(pages), "ocr_pages": recogniser.pages}
    if recogniser.skipped:
        metadata["ocr_skipped"] = recogniser.skipped
    return ParsedDocument(blocks=tuple(map(_plain, maker.finish())), file_type="image", metadata=metadata)


def _plain(block: Block) -> Block:
    """Without boxes: they would point into a page that nobody can open."""
    return replace(block, place=replace(block.place, boxes=(), box_starts=()))


def _pages(data: bytes, limits: ParseLimits) -> Iterator[bytes]:
    """Each page of the picture as PNG, upright as its camera says."""
    from PIL import Image, ImageOps, ImageSequence, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(data), formats=FORMATS) as opened:
            for number, frame in enumerate(ImageSequence.Iterator(opened), start=1):
                if number > limits.pages:
                    raise ParseFailed(
                        ParseReason.PAGE_LIMIT, f"The picture has more than {limits.pages} pages.", hint="Split it."
                    )
                if frame.width * frame.height > limits.rendered_pixels:
                    raise ParseFailed(
                        ParseReason.SIZE_LIMIT,
                        f"The picture has more than {limits.rendered_pixels // 10**6} megapixels.",
                        hint="Make it smaller.",
                    )
                target = io.BytesIO()
                ImageOps.exif_transpose(frame).convert("RGB").save(target, format="PNG")
                yield target.getvalue()
    except ParseFailed:
        raise
    except MemoryError:
        raise
    except (UnidentifiedImageError, Exception) as error:
        # Decoders raise whatever they like at broken data.
        raise ParseFailed(
            ParseReason.DAMAGED, "The picture is damaged and cannot be read.", hint="Save it anew as PNG or JPEG."
        ) from error
