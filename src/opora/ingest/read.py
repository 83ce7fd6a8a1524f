"""Reads one document whole: its kind by content, its blocks by that kind's parser, its text checked."""

from __future__ import annotations

import re
from dataclasses import replace

from opora.domain.errors import ParseFailed
from opora.domain.knowledge import Block, ParsedDocument, ParseReason
from opora.ingest.detect import detect
from opora.ingest.limits import ParseLimits
from opora.ingest.ocr import INSTALL
from opora.ingest.parse.table import load_parser
from opora.text.fold import is_blank
from opora.text.names import clean_label

_WORDLESS = re.compile(r"[\W_]*\Z")
_UNWANTED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u00ad\ufeff\ufffd\ufffe\uffff\ud800-\udfff]")


def read_document(data: bytes, file_name: str, limits: ParseLimits) -> ParsedDocument:
    """Raises `ParseFailed`: a document without any word in it is a failure with the reason ``no_text``."""
    if len(data) > limits.upload_bytes:
        raise too_large(limits)
    if not data.strip():
        raise ParseFailed(ParseReason.NO_TEXT, "The file is empty.", hint="Upload a file that has text in it.")
    kind = detect(data, file_name, limits)
    parsed = load_parser(kind)(data, file_name, limits)
    blocks = tuple(cleaned for cleaned in map(_cleaned, parsed.blocks) if not is_blank(cleaned.text))
    if all(_WORDLESS.match(block.text) for block in blocks):
        raise _no_text(kind)
    if sum(len(block.text) for block in blocks) > limits.produced_bytes:
        raise too_much_text(limits)
    return replace(parsed, blocks=blocks, title=clean_label(parsed.title))


def too_large(limits: ParseLimits) -> ParseFailed:
    return ParseFailed(
        ParseReason.SIZE_LIMIT,
        f"The file is larger than {limits.upload_bytes / 2**20:.0f} MiB.",
        hint="Split it into smaller documents, or raise the upload limit in the settings.",
    )


def too_much_text(limits: ParseLimits) -> ParseFailed:
    return ParseFailed(
        ParseReason.SIZE_LIMIT,
        f"The document holds more than {limits.produced_bytes / 2**20:.0f} MiB of text.",
        hint="Split it into smaller documents.",
    )


def _cleaned(block: Block) -> Block:
    """The block without control characters, soft hyphens and halves of letters; itself where it has none."""
    if not _UNWANTED.search(block.text):
        return block
    place = replace(block.place, box_starts=()) if block.place.box_starts else block.place
    return replace(
        block,
        place=place,
        text=_UNWANTED.sub("", block.text),
        head=_UNWANTED.sub("", block.head),
        rows=tuple(_UNWANTED.sub("", row) for row in block.rows),
    )


def _no_text(kind: str) -> ParseFailed:
    if kind == "pdf":
        return ParseFailed(
            ParseReason.NO_TEXT,
            "The PDF has no text in it: it is probably a scan, pictures of pages.",
            hint=f"{INSTALL} and read it again, or run text recognition on it and upload the result.",
        )
    return ParseFailed(
        ParseReason.NO_TEXT, "The document has no text in it.", hint="Upload a document that has words in it."
    )
