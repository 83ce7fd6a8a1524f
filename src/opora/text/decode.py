"""Turns bytes of unknown encoding into text, and refuses bytes that are no text."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass

from opora.domain.errors import ParseFailed
from opora.domain.knowledge import ParseReason
from opora.text.codepages import rank_codepages

SAMPLE_BYTES = 65_536
BINARY_SHARE = 0.02
"""Share of control bytes above which bytes are taken for binary."""
BROKEN_UTF8_SHARE = 0.02
"""Share of damaged sequences that a file may have and still be read as the UTF-8 that it nearly is."""

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROL_BYTES = bytes(set(range(32)) - {9, 10, 12, 13, 27}) + b"\x7f"
_UNWANTED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufeff\ufffd\ufffe\uffff]")
_GB_FAMILY = {"gb2312", "gbk", "cp936", "ms936", "hz", "euc_cn", "euccn", "x_gbk"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """Text with unified line ends, without marks of order or damage, and the encoding it was read by."""

    text: str
    encoding: str


def decode(data: bytes, *, declared: str = "") -> Decoded:
    """Read ``data`` by its byte order mark, else as strict UTF-8, else by ``declared``, else by detection.

    Raises `ParseFailed` with the reason ``not_text`` when the bytes are no text in any known encoding.
    """
    for bom, name in _BOMS:
        if data.startswith(bom):
            return _by_bom(data[len(bom) :], name)
    wide = _wide_encoding(data)
    if wide:
        return Decoded(text=clean_text(data.decode(wide)), encoding=wide)
    if looks_binary(data):
        raise not_text()
    strict = _strict(data, "utf-8")
    if strict is not None:
        return Decoded(text=clean_text(strict), encoding="utf-8")
    candidates = [known for known in (known_encoding(declared),) if known and known != "utf-8"]
    return _by_detection(data, candidates)


def clean_text(text: str) -> str:
    """Unify line ends and drop control characters, byte order marks and replacement characters."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\x0c" in text:
        text = text.replace("\x0c", "\n")
    return _UNWANTED.sub("", text) if _UNWANTED.search(text) else text


def known_encoding(name: str) -> str:
    """The Python name of a declared encoding, GB2312 and GBK widened to GB18030; '' for unknown ones."""
    cleaned = name.strip().strip("\"'").lower()
    if not cleaned:
        return ""
    if cleaned.replace("-", "_") in _GB_FAMILY:
        return "gb18030"
    try:
        info = codecs.lookup(cleaned)
    except (LookupError, ValueError):
        return ""
    if not getattr(info, "_is_text_encoding", True):
        return ""
    return "cp1252" if info.name in {"iso8859-1", "ascii"} else info.name


def looks_binary(data: bytes) -> bool:
    """True when the head of ``data`` holds bytes that text in a one-byte or multi-byte code page never has."""
    head = data[:SAMPLE_BYTES]
    if not head:
        return False
    if b"\x00" in head:
        return True
    controls = len(head) - len(head.translate(None, _CONTROL_BYTES))
    return controls > max(1, len(head) * BINARY_SHARE)


def not_text() -> ParseFailed:
    return ParseFailed(
        ParseReason.NOT_TEXT,
        "The file is not text and not a document that can be read.",
        hint="Upload the document itself: text, Markdown, HTML, PDF, DOCX, XLSX or CSV.",
    )


def _by_bom(body: bytes, name: str) -> Decoded:
    width = {"utf-16": 2, "utf-32": 4}.get(name[:6], 1)
    if width > 1:
        body = body[: len(body) - len(body) % width]
    text = _strict(body, name)
    if text is None and name == "utf-8":
        return _by_detection(body, [])
    if text is None:
        raise not_text()
    if len(text) > 8 and sum(1 for char in text[:2000] if char < "\t") > len(text[:2000]) * BINARY_SHARE:
        raise not_text()
    return Decoded(text=clean_text(text), encoding=name)


def _wide_encoding(data: bytes) -> str:
    """UTF-16 without a mark: most text has its zero bytes, or its few high bytes, on one side only."""
    head = data[:SAMPLE_BYTES]
    if len(data) < 4 or len(data) % 2:
        return ""
    even, odd = head[0::2], head[1::2]
    order = {"utf-16-le": odd, "utf-16-be": even}
    if b"\x00" not in head and b"\x04" not in head:
        return ""
    for name, high in order.items():
        low = even if high is odd else odd
        if low.count(0) > len(low) * 0.02:
            continue
        common = sum(high.count(value) for value in (0x00, 0x04, 0x20, 0x30))
        if common < len(high) * 0.7 and not _mostly_han(high):
            continue
        text = _strict(data, name)
        if text is not None and _is_plausible(text[:4000]):
            return name
    return ""


def _mostly_han(high: bytes) -> bool:
    return sum(1 for value in high if 0x4E <= value <= 0x9F) > len(high) * 0.6


def _is_plausible(text: str) -> bool:
    strange = sum(1 for char in text if (char < " " and char not in "\t\n\r\x0c") or "\ue000" <= char <= "\uf8ff")
    return strange <= len(text) * 0.01


def _by_detection(data: bytes, candidates: Sequence[str]) -> Decoded:
    repaired = _nearly_utf8(data)
    if repaired is not None:
        return Decoded(text=clean_text(repaired), encoding="utf-8")
    for name in [*candidates, *rank_codepages(_sample(data))]:
        text = _strict(data, name)
        if text is not None and _is_plausible(text[:SAMPLE_BYTES]):
            return Decoded(text=clean_text(text), encoding=name)
    raise not_text()


def _sample(data: bytes) -> bytes:
    """The lines that hold the most bytes beyond ASCII say the most; the first `SAMPLE_BYTES` of them."""
    if len(data) <= SAMPLE_BYTES:
        return data
    telling = re.findall(rb"[^\n]*[\x80-\xff][^\n]*\n?", data[: 16 * SAMPLE_BYTES])
    return b"".join(telling)[:SAMPLE_BYTES] or data[-SAMPLE_BYTES:]


def _nearly_utf8(data: bytes) -> str | None:
    """UTF-8 with a cut last letter or a few damaged ones, which are dropped."""
    wide = len(re.findall(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}", data))
    if not wide:
        return None
    text = data.decode("utf-8", errors="replace")
    broken = text.count("\ufffd")
    if broken > max(1, wide * BROKEN_UTF8_SHARE) or (wide < 8 and broken):
        return None
    return text.replace("\ufffd", "")


def _strict(data: bytes, name: str) -> str | None:
    try:
        return data.decode(name)
    except (UnicodeDecodeError, LookupError):
        return None
