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
_LEGACY = (("ppt", "PowerPoint Document"), ("doc", "WordDocument"))
_ZIP_MARKS = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_RESAVE = "Save it as {} and upload the new file."
_MIMETYPE_BYTES = 256

_BINARY_MARKS: tuple[tuple[bytes, str], ...] = (
    (b"GIF87a", "a picture (GIF)"),
    (b"GIF89a", "a picture (GIF)"),
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
_PICTURES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"II*\x00", b"MM\x00*")
_HTML_MARK = re.compile(
    r"\s*+(?:<\?xml[^>]*+>\s*+)?(?:(?><!--.*?-->)\s*+)*+<(?:!doctype\s+html|html[\s>]|head[\s>]|body[\s>])",
    re.IGNORECASE | re.DOTALL,
)
"""Atomic, so that many comments before anything else cost no more than their length."""
_MAIL_HEAD = 16_384
_FIRST_HEADER = re.compile(r"(?:From \S.*\r?\n)?[A-Za-z][A-Za-z0-9-]*:[ \t]?\S?")
_KNOWN_HEADER = re.compile(
    r"^(From|To|Cc|Subject|Date|Received|Return-Path|MIME-Version|Message-ID|Content-Type|Delivered-To|Reply-To"
    r"|Snapshot-Content-Location):",
    re.IGNORECASE | re.MULTILINE,
)
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
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".eml": "eml",
    ".mht": "mhtml",
    ".mhtml": "mhtml",
    ".txt": "txt",
    ".text": "txt",
    ".log": "txt",
}


def detect(data: bytes, file_name: str, limits: ParseLimits) -> str:
    """The kind of ``data``, a key of the table of parsers. Raises `ParseFailed` with a reason when there is none."""
    if data.startswith(_ZIP_MARKS):
        return _zip_kind(data, limits)
    if data.startswith(_OLE):
        return _ole_kind(data)
    if b"%PDF-" in data[:_HEAD]:
        return "pdf"
    if data.lstrip()[:6].lower().startswith(b"{\\rtf"):
        return "rtf"
    if data.startswith(_PICTURES) or _is_webp_or_bmp(data):
        return "image"
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
        return "pptx"
    media = archive.read("mimetype", at_most=_MIMETYPE_BYTES) if "mimetype" in archive else b""
    if b"opendocument.spreadsheet" in media:
        return "ods"
    if b"opendocument.text" in media or b"opendocument.presentation" in media:
        return "odt"
    if b"opendocument" in media:
        return _unsupported("Drawings and formulas of OpenDocument are not read.", _RESAVE.format("PDF"))
    if b"epub" in media:
        return "epub"
    return _unsupported("The file is an archive, not a document.", "Unpack it and upload the documents in it.")


def _has_main_part(archive: CappedArchive, family: bytes) -> bool:
    """True when the main part stands under an unusual name, which the content types tell."""
    types = "[Content_Types].xml"
    if types not in archive:
        return False
    listing = archive.read(types, at_most=4 * 1024 * 1024)
    return family + b".document.main+xml" in listing


def legacy_kind(data: bytes) -> str:
    """``doc`` or ``ppt`` for texts and slides of old Office versions, which no parser here reads; else ''."""
    if not data.startswith(_OLE) or _holds(data, "EncryptedPackage", "Workbook", "Book\0"):
        return ""
    return next((kind for kind, stream in _LEGACY if _holds(data, stream)), "")


def _ole_kind(data: bytes) -> str:
    """Old Office versions: workbooks are read as they are, texts and slides only in their new forms."""
    if _holds(data, "EncryptedPackage"):
        raise encrypted("The document")
    if _holds(data, "Workbook", "Book\0"):
        return "xls"
    raise _unsupported(
        "Texts and slides of old Office versions (DOC, PPT) are read only where LibreOffice is installed.",
        f"Install LibreOffice (libreoffice-writer, libreoffice-impress), or: {_RESAVE.format('DOCX, PPTX or PDF')}",
    )


def _holds(data: bytes, *streams: str) -> bool:
    """Whether a compound file names one of the streams."""
    return any(stream.encode("utf-16-le") in data for stream in streams)


def _is_webp_or_bmp(data: bytes) -> bool:
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return True
    # Two letters are no mark: the size of the file stands behind them.
    return data[:2] == b"BM" and int.from_bytes(data[2:6], "little") == len(data)


def _refuse_binary(data: bytes) -> None:
    for mark, what in _BINARY_MARKS:
        if data.startswith(mark):
            raise ParseFailed(
                ParseReason.NOT_TEXT,
                f"The file is {what}, not a document with text.",
                hint="Upload the document itself: text, Markdown, HTML, PDF, office documents, letters, JSON or CSV.",
            )


def _text_kind(data: bytes, file_name: str) -> str:
    sample = decode(_whole_lines(data[:_SAMPLE], data)).text if data else ""
    hint = _TEXT_HINTS.get(extension(file_name), "")
    if mail := _mail_kind(sample, hint):
        return mail
    if _HTML_MARK.match(sample):
        return "html"
    if hint == "html":
        return "html" if "<" in sample else "txt"
    if hint and hint not in ("eml", "mhtml"):
        return hint
    return "csv" if find_delimiter(sample, strict=True) else "txt"


def _mail_kind(sample: str, hint: str) -> str:
    """A letter begins with headers: two that are known where the name says so too, three where it does not."""
    head = re.split(r"\r?\n\r?\n", sample.lstrip("\ufeff\r\n")[:_MAIL_HEAD], maxsplit=1)[0]
    if not _FIRST_HEADER.match(head):
        return ""
    known = {match[1].lower() for match in _KNOWN_HEADER.finditer(head)}
    if len(known) < (2 if hint in ("eml", "mhtml") else 3):
        return ""
    is_page = re.search(r"^content-type:\s*multipart/related", head, re.IGNORECASE | re.MULTILINE)
    return "mhtml" if is_page and (hint == "mhtml" or "snapshot-content-location" in known) else "eml"


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
