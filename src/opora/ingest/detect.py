"""Decides what kind a file is by its content; a name is a hint only among kinds of plain text."""

from __future__ import annotations

import re

from opora.domain.errors import ParseFailed
from opora.domain.knowledge import ParseReason
from opora.ingest.archive import CappedArchive, encrypted
from opora.ingest.delimiters import find_delimiter
from opora.ingest.limits import ParseLimits
from opora.text.decode import decode
from opora.text.names import extension

_HEAD = 1024
_SAMPLE = 65_536
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ZIP_MARKS = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_RESAVE = "Save it as {} and upload the new file."
_MIMETYPE_BYTES = 256

_BINARY_MARKS: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "a picture (PNG)"),
    (b"\xff\xd8\xff", "a picture (JPEG)"),
    (b"GIF87a", "a picture (GIF)"),
    (b"GIF89a", "a picture (GIF)"),
    (b"II*\x00", "a picture (TIFF)"),
    (b"MM\x00*", "a picture (TIFF)"),
    (b"7z\xbc\xaf\x27\x1c", "an archive (7z)"),
    (b"Rar!\x1a\x07", "an archive (RAR)"),
    (b"\x1f\x8b", "a packed file (gzip)"),
    (b"BZh", "a packed file (bzip2)"),
    (b"\xfd7zXZ\x00", "a packed file (xz)"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90", "a program"),
    (b"ID3", "a sound"),
    (b"OggS", "a sound or film"),
    (b"SQLite format 3\x00", "a database"),
)
_HTML_MARK = re.compile(
    r"\s*+(?:<\?xml[^>]*+>\s*+)?(?:(?><!--.*?-->)\s*+)*+<(?:!doctype\s+html|html[\s>]|head[\s>]|body[\s>])",
    re.IGNORECASE | re.DOTALL,
)
"""Atomic, so that many comments before anything else cost no more than their length."""
_TEXT_HINTS = {
    ".md": "md",
    ".markdown": "md",
    ".mdown": "md",
    ".mkd": "md",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "txt",
    ".text": "txt",
    ".log": "txt",
}


def detect(data: bytes, file_name: str, limits: ParseLimits) -> str:
    """The kind of ``data``, a key of the table of parsers. Raises `ParseFailed` with a reason when there is none."""
    if data.startswith(_ZIP_MARKS):
        return _zip_kind(data, limits)
    if data.startswith(_OLE):
        raise _ole_failure(data)
    if b"%PDF-" in data[:_HEAD]:
        return "pdf"
    if data.lstrip()[:6].lower().startswith(b"{\\rtf"):
        raise _unsupported("RTF documents are not supported.", _RESAVE.format("DOCX or PDF"))
    _refuse_binary(data)
    return _text_kind(data, file_name)


def _zip_kind(data: bytes, limits: ParseLimits) -> str:
    archive = CappedArchive(data, limits)
    kind = _office_kind(archive)
    archive.check()
    if isinstance(kind, ParseFailed):
        raise kind
    return kind


def _office_kind(archive: CappedArchive) -> str | ParseFailed:
    if "word/document.xml" in archive or _has_main_part(archive, b"wordprocessingml"):
        return "docx"
    if "xl/workbook.xml" in archive:
        return "xlsx"
    if "xl/workbook.bin" in archive:
        return _unsupported("Binary workbooks (XLSB) are not supported.", _RESAVE.format("XLSX"))
    if "ppt/presentation.xml" in archive:
        return _unsupported("Slides (PPTX) are not supported yet.", _RESAVE.format("PDF"))
    media = archive.read("mimetype", at_most=_MIMETYPE_BYTES) if "mimetype" in archive else b""
    if b"opendocument" in media:
        return _unsupported("OpenDocument files are not supported.", _RESAVE.format("DOCX, XLSX or PDF"))
    if b"epub" in media:
        return _unsupported("E-books (EPUB) are not supported.", _RESAVE.format("PDF or HTML"))
    return _unsupported("The file is an archive, not a document.", "Unpack it and upload the documents in it.")


def _has_main_part(archive: CappedArchive, family: bytes) -> bool:
    """True when the main part stands under an unusual name, which the content types tell."""
    types = "[Content_Types].xml"
    if types not in archive:
        return False
    listing = archive.read(types, at_most=4 * 1024 * 1024)
    return family + b".document.main+xml" in listing


def _ole_failure(data: bytes) -> ParseFailed:
    if "EncryptedPackage".encode("utf-16-le") in data:
        return encrypted("The document")
    return _unsupported(
        "Documents of old Office versions (DOC, XLS, PPT) are not supported.", _RESAVE.format("DOCX, XLSX or PDF")
    )


def _refuse_binary(data: bytes) -> None:
    for mark, what in _BINARY_MARKS:
        if data.startswith(mark):
            raise ParseFailed(
                ParseReason.NOT_TEXT,
                f"The file is {what}, not a document with text.",
                hint="Upload the document itself: text, Markdown, HTML, PDF, DOCX, XLSX or CSV.",
            )


def _text_kind(data: bytes, file_name: str) -> str:
    sample = decode(_whole_lines(data[:_SAMPLE], data)).text if data else ""
    hint = _TEXT_HINTS.get(extension(file_name), "")
    if _HTML_MARK.match(sample):
        return "html"
    if hint == "html":
        return "html" if "<" in sample else "txt"
    if hint:
        return hint
    return "csv" if find_delimiter(sample, strict=True) else "txt"


def _whole_lines(sample: bytes, data: bytes) -> bytes:
    """The sample without its cut last letter. UTF-16 lines cannot be cut at a byte, only at an even count."""
    if len(sample) == len(data):
        return sample
    end = sample.rfind(b"\n")
    if b"\x00" in sample or end < len(sample) // 2:
        return sample
    return sample[: end + 1]


def _unsupported(message: str, hint: str) -> ParseFailed:
    return ParseFailed(ParseReason.UNSUPPORTED, message, hint=hint)
