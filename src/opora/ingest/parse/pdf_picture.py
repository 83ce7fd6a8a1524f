"""Draws a page of a PDF as a picture, so that a citation can be shown in its place."""

from __future__ import annotations

import io
from typing import Any

from opora.domain.errors import ParseFailed
from opora.domain.knowledge import ParseReason
from opora.ingest.limits import ParseLimits
from opora.ingest.parse.pdf_open import open_pdf


def render_page(data: bytes, page: int, scale: float, limits: ParseLimits) -> bytes:
    """PNG bytes of a page, numbered from 1; a huge page is drawn smaller, to stay under the limit of pixels."""
    with open_pdf(data, limits) as document:
        if not 1 <= page <= len(document):
            raise ParseFailed(
                ParseReason.PAGE_LIMIT,
                f"The document has no page {page}.",
                hint=f"Its pages are 1 to {len(document)}.",
            )
        sheet = document[page - 1]
        width, height = sheet.get_size()
        points = max(1.0, width * height)
        return drawn(sheet, min(max(0.1, scale), (limits.rendered_pixels / points) ** 0.5))


def drawn(page: Any, scale: float) -> bytes:
    """PNG bytes of an open page, ``scale`` pixels a point."""
    target = io.BytesIO()
    page.render(scale=scale).to_pil().convert("RGB").save(target, format="PNG")
    return target.getvalue()


def has_picture(page: Any) -> bool:
    """Whether a picture stands on the page, by itself or inside a form."""
    import pypdfium2.raw as pdfium

    return any(True for _ in page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_IMAGE], max_depth=4))
