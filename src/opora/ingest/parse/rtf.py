"""Reads rich text (RTF): its words, one paragraph a line."""

from __future__ import annotations

from opora.domain.errors import ParseFailed
from opora.domain.knowledge import Block, BlockKind, ParsedDocument, ParseReason
from opora.ingest.limits import ParseLimits


def parse(data: bytes, file_name: str, limits: ParseLimits) -> ParsedDocument:
    from striprtf.striprtf import rtf_to_text

    try:
        # The format itself is ASCII: other letters are escaped, with their code page.
        text = str(rtf_to_text(data.decode("latin-1"), errors="replace"))  # type: ignore[no-untyped-call]
    except (ValueError, IndexError, KeyError, LookupError, RecursionError) as error:
        raise ParseFailed(
            ParseReason.DAMAGED,
            "The RTF document is damaged and cannot be read.",
            hint="Open it in a word processor, save it as DOCX and upload the new file.",
        ) from error
    lines = (" ".join(line.replace("|", " | ").split()).strip(" |") for line in text.splitlines())
    blocks = tuple(Block(kind=BlockKind.PARAGRAPH, text=line) for line in lines if line)
    return ParsedDocument(blocks=blocks, file_type="rtf")
