"""Writes a conversation as one Markdown text: questions as quotations, answers with numbered sources."""

from __future__ import annotations

from collections.abc import Sequence

from opora.cite.check import passage_of, passages_by_chunk
from opora.cite.tags import Citation, parse_citations
from opora.domain.conversation import Message, Role, Session
from opora.domain.knowledge import Place

TIME_FORMAT = "%Y-%m-%d %H:%M %Z"


def markdown(session: Session, messages: Sequence[Message]) -> str:
    """Nothing of what was rendered for a model stands in it."""
    parts = [f"# {_line(session.title) or session.session_id}"]
    if session.description.strip():
        parts.append(session.description.strip())
    for message in messages:
        parts.append(f"*{message.created_at.strftime(TIME_FORMAT)}*")
        parts += _question(message) if message.role is Role.USER else _answer(message)
    return "\n\n".join(parts) + "\n"


def _question(message: Message) -> list[str]:
    parts = [_quoted(message.content)]
    if message.beside.quoted_context:
        parts.append(_quoted(message.beside.quoted_context, level=2))
    parts += [f"📎 {_line(attachment.name)}" for attachment in message.beside.attachments]
    return parts


def _answer(message: Message) -> list[str]:
    """The text with numbers in place of its tags, how it ended where that is not plain, and the sources."""
    pieces: list[str] = []
    sources: list[str] = []
    numbers: dict[str, int] = {}
    passages = passages_by_chunk(message.references)
    behind = 0
    for citation in parse_citations(message.content):
        key = citation.chunk_id or citation.url
        if key not in numbers:
            numbers[key] = len(numbers) + 1
            passage = passage_of(key, passages)
            sources.append(f"{numbers[key]}. {_source(citation, passage.place if passage else Place())}")
        pieces += [message.content[behind : citation.start].rstrip(" "), f" [{numbers[key]}]"]
        behind = citation.end
    text = "".join([*pieces, message.content[behind:]]).strip()
    ending = f"({message.finish.value})" if message.finish and message.finish.value != "complete" else ""
    error = message.error_message.strip()
    return [part for part in (text, error, ending, "\n".join(sources)) if part]


def _source(citation: Citation, place: Place) -> str:
    title = _line(citation.title) or citation.chunk_id or citation.url
    where = [title]
    if citation.url:
        where.append(f"<{citation.url}>")
    if place.page:
        where.append(
            f"p. {place.page}" if place.page_end in (None, place.page) else f"pp. {place.page}–{place.page_end}"
        )
    if place.sheet:
        where.append(_line(place.sheet))
    if place.row:
        where.append(f"row {place.row}" if place.row_end in (None, place.row) else f"rows {place.row}–{place.row_end}")
    if place.heading_path:
        where.append(" › ".join(map(_line, place.heading_path)))
    return ", ".join(where)


def _quoted(text: str, *, level: int = 1) -> str:
    mark = "> " * level
    return "\n".join(f"{mark}{line}".rstrip() for line in text.strip().splitlines())


def _line(text: str) -> str:
    return " ".join(text.split())
