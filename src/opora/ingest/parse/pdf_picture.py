"""Draws a page of a PDF as a picture, so that a citation can be shown in its place."""

from __future__ import annotations

import io

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
        fitting = min(max(0.1, scale), (limits.rendered_pixels / points) ** 0.5)
        picture = sheet.render(scale=fitting).to_pil()
        target = io.BytesIO()
        picture.convert("RGB").save(target, format="PNG")
        return target.getvalue()
