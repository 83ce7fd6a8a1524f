"""Reads letters (EML) with their attachments, and web pages kept as letters (MHTML)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from opora.domain.errors import ParseFailed
from opora.domain.knowledge import Block, BlockKind, ParsedDocument, ParseReason, Place
from opora.ingest.limits import ParseLimits
from opora.ingest.parse.html import parse as parse_page
from opora.text.decode import decode

SHOWN = ("From", "To", "Cc", "Date")
"""Headers that stand above the text; the subject is the title."""
MAX_DEPTH = 10
"""Letters inside letters."""
_HEAD_CHARS = 2_000


def parse(data: bytes, file_name: str, limits: ParseLimits) -> ParsedDocument:
    return _Letter(limits).read(_message(data), 0)


def parse_mhtml(data: bytes, file_name: str, limits: ParseLimits) -> ParsedDocument:
    """The page that the file was saved from: its first part of the type HTML."""
    message = _message(data)
    for part in _parts(message, limits):
        if part.get_content_type() in ("text/html", "application/xhtml+xml"):
            page = parse_page(_bytes(part), file_name, limits)
            title = page.title or _header(message, "Subject")
            return replace(page, file_type="mhtml", title=title, metadata=_page_facts(message))
    raise ParseFailed(ParseReason.DAMAGED, "The saved page has no HTML in it.", hint="Save the page again as HTML.")


def _page_facts(message: EmailMessage) -> dict[str, Any]:
    address = _header(message, "Snapshot-Content-Location")
    return {"address": address} if address else {}


class _Letter:
    def __init__(self, limits: ParseLimits) -> None:
        self._limits = limits
        self._attachments: list[dict[str, Any]] = []

    def read(self, message: EmailMessage, depth: int) -> ParsedDocument:
        subject = _header(message, "Subject")
        blocks = list(self._blocks(message, (subject,) if subject else (), depth))
        facts = {name.lower(): text for name in SHOWN if (text := _header(message, name))}
        attached = {"attachments": self._attachments} if self._attachments else {}
        return ParsedDocument(blocks=tuple(blocks), file_type="eml", title=subject, metadata={**facts, **attached})

    def _blocks(self, message: EmailMessage, path: tuple[str, ...], depth: int) -> Iterator[Block]:
        head = [f"{name}: {text}" for name in SHOWN if (text := _header(message, name))]
        if path:
            yield Block(kind=BlockKind.HEADING, text=path[-1], level=min(len(path), 6), place=Place(heading_path=path))
        if head:
            yield Block(kind=BlockKind.PARAGRAPH, text="\n".join(head), place=Place(heading_path=path))
        body = message.get_body(("plain", "html"))
        if isinstance(body, EmailMessage):
            yield from _text_blocks(body, path, self._limits)
        for part in _parts(message, self._limits):
            if part is not body and (part.is_attachment() or part.get_content_type() == "message/rfc822"):
                yield from self._attached(part, path, depth)

    def _attached(self, part: EmailMessage, path: tuple[str, ...], depth: int) -> Iterator[Block]:
        inner = part.get_content() if part.get_content_type() == "message/rfc822" else None
        if isinstance(inner, EmailMessage):
            if depth >= MAX_DEPTH:
                raise _damaged("It has letters inside letters beyond all measure.")
            yield from self._blocks(inner, (*path, _header(inner, "Subject") or "…"), depth + 1)
            return
        name = " ".join((part.get_filename() or "").split()) or "attachment"
        try:
            parsed = _document(_bytes(part), name, self._limits)
        except ParseFailed as error:
            self._attachments.append({"name": name, "is_read": False, "reason": error.message})
            return
        self._attachments.append({"name": name, "is_read": True})
        under = (*path, name)
        yield Block(kind=BlockKind.HEADING, text=name, level=min(len(under), 6), place=Place(heading_path=under))
        for block in parsed.blocks:
            place = block.place
            inside = replace(place, start=0, end=0, boxes=(), box_starts=(), page=None, page_end=None)
            yield replace(block, place=replace(inside, heading_path=(*under, *place.heading_path)))


def _document(data: bytes, name: str, limits: ParseLimits) -> ParsedDocument:
    # Read by the same door as every document; the door knows this parser, so it is opened late.
    from opora.ingest.read import read_document

    return read_document(data, name, limits)


def _text_blocks(body: EmailMessage, path: tuple[str, ...], limits: ParseLimits) -> Iterator[Block]:
    if body.get_content_type() == "text/html":
        for block in parse_page(_bytes(body), "", limits).blocks:
            yield replace(block, place=replace(block.place, heading_path=(*path, *block.place.heading_path)))
        return
    declared = body.get_content_charset() or ""
    text = decode(_bytes(body), declared=declared).text
    for paragraph in text.replace("\r\n", "\n").split("\n\n"):
        if words := paragraph.strip():
            yield Block(kind=BlockKind.PARAGRAPH, text=words, place=Place(heading_path=path))


def _message(data: bytes) -> EmailMessage:
    message = message_from_bytes(data, policy=policy.default)
    if not isinstance(message, EmailMessage) or not message.keys():
        raise _damaged("It has no headers.")
    return message


def _parts(message: EmailMessage, limits: ParseLimits) -> Iterator[EmailMessage]:
    """The parts of a letter itself: what stands in a letter inside it is that one's."""
    waiting = [message]
    seen = 0
    while waiting:
        part = waiting.pop(0)
        seen += 1
        if seen > limits.entries:
            raise _damaged(f"It has more than {limits.entries} parts.")
        if part.is_multipart() and part.get_content_type() != "message/rfc822":
            waiting[:0] = [inner for inner in part.iter_parts() if isinstance(inner, EmailMessage)]
        else:
            yield part


def _bytes(part: EmailMessage) -> bytes:
    content = part.get_payload(decode=True)
    return content if isinstance(content, bytes) else b""


def _header(message: EmailMessage, name: str) -> str:
    try:
        value = str(message.get(name, ""))
    except (ValueError, IndexError, KeyError, AttributeError, TypeError):
        # The library's own reading of a broken header fails in many ways.
        value = ""
    return " ".join(value.split())[:_HEAD_CHARS]


def _damaged(why: str) -> ParseFailed:
    return ParseFailed(
        ParseReason.DAMAGED, f"The letter cannot be read. {why}", hint="Export it again from the mail program as EML."
    )
