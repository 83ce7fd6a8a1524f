"""Opens PDF files, telling apart why one cannot be opened."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from opora.domain.errors import ParseFailed
from opora.domain.knowledge import ParseReason
from opora.ingest.archive import encrypted
from opora.ingest.limits import ParseLimits


@contextmanager
def open_pdf(data: bytes, limits: ParseLimits) -> Iterator[Any]:
    """An open `pypdfium2.PdfDocument`, closed at the end of the block.

    Raises `ParseFailed`: ``encrypted``, ``damaged_file``, or ``page_limit`` beyond the allowed number of pages.
    """
    import pypdfium2
    from pypdfium2 import raw

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if error.err_code in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY):
            raise encrypted("The PDF") from error
        raise ParseFailed(
            ParseReason.DAMAGED,
            "The PDF is damaged and cannot be opened.",
            hint="Open it in a viewer, print it to a new PDF and upload that.",
        ) from error
    try:
        if len(document) > limits.pages:
            raise ParseFailed(
                ParseReason.PAGE_LIMIT,
                f"The PDF has {len(document)} pages; at most {limits.pages} are read.",
                hint="Split it into smaller documents, or raise the page limit in the settings.",
            )
        yield document
    finally:
        document.close()
