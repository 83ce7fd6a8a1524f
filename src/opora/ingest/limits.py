"""The limits that reading one document must keep."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseLimits:
    """What one document may cost. Sizes are in bytes, times in seconds."""

    upload_bytes: int = 50 * MIB
    seconds: float = 120.0
    """Wall time, and processor time too, of one parse."""
    memory_bytes: int = 1024 * MIB
    """Memory of the child process."""
    produced_bytes: int = 200 * MIB
    """Bytes that unpacking may produce over all parts, and bytes of text that a parser may hand back."""
    entries: int = 5_000
    """Parts of an archive."""
    ratio: int = 200
    """Bytes produced from one packed byte, looked at once a part has produced `ratio_floor`."""
    ratio_floor: int = 8 * MIB
    depth: int = 200
    """Levels of nesting inside a document's structure; archives inside archives are never opened."""
    pages: int = 2_000
    cells: int = 5_000_000
    """Cells of a workbook that hold something."""
    rendered_pixels: int = 40_000_000
    """Pixels of a page drawn as a picture."""
    ocr: bool = True
    """Whether pictures of text are recognised, where the program for it is installed."""
    ocr_languages: str = "rus+chi_sim+eng"
    libreoffice: bool = True
    """Whether DOC and PPT are turned into DOCX and PPTX, where LibreOffice is installed."""
