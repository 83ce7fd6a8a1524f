"""Reads Markdown by its real structure, keeping the source of each block so that no line is lost."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from opora.domain.knowledge import Block, BlockKind, ParsedDocument, Place
from opora.ingest.limits import ParseLimits
from opora.ingest.parse.outline import Outline
from opora.ingest.parse.txt import parse as parse_plain
from opora.text.decode import decode

if TYPE_CHECKING:
    from markdown_it.token import Token

STRUCTURE_CHARS = 3_000_000
"""A longer text is read as plain paragraphs: building its tree would cost more memory than it is worth."""
FRONT_MATTER_CHARS = 20_000
TITLE_CHARS = 1_000

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_KINDS = {
    "heading_open": BlockKind.HEADING,
    "bullet_list_open": BlockKind.LIST,
    "ordered_list_open": BlockKind.LIST,
    "fence": BlockKind.CODE,
    "code_block": BlockKind.CODE,
    "table_open": BlockKind.TABLE,
}
_FORMULA = re.compile(r"\s*(?:\$\$.*\$\$|\\\[.*\\\])\s*\Z", re.DOTALL)
_EMPHASIS = re.compile(r"(\*\*|__|\*|`|~~)(?=\S)(.+?)(?<=\S)\1")
_LINK = re.compile(r"!?\[([^\]\[]{0,500})\]\([^()\s]{0,2000}(?: \"[^\"]{0,500}\")?\)")


def parse(data: bytes, file_name: str, limits: ParseLimits) -> ParsedDocument:
    decoded = decode(data)
    if len(decoded.text) > STRUCTURE_CHARS:
        plain = parse_plain(data, file_name, limits)
        return ParsedDocument(blocks=plain.blocks, file_type="md", metadata=plain.metadata)
    front, body = split_front_matter(decoded.text)
    metadata: dict[str, Any] = {"encoding": decoded.encoding}
    values = front_matter_values(front)
    if values:
        metadata["front_matter"] = values
    blocks: list[Block] = []
    if front:
        blocks.append(Block(kind=BlockKind.PARAGRAPH, text=front.rstrip()))
    blocks.extend(markdown_blocks(body))
    title = str(values.get("title") or "") or next((b.place.heading_path[-1] for b in blocks if b.level == 1), "")
    return ParsedDocument(blocks=tuple(blocks), file_type="md", title=title, metadata=metadata)


def split_front_matter(text: str) -> tuple[str, str]:
    """The front matter with its fences, or '', and the rest."""
    found = _FRONT_MATTER.match(text[:FRONT_MATTER_CHARS])
    return (text[: found.end()], text[found.end() :]) if found else ("", text)


def front_matter_values(front: str) -> dict[str, Any]:
    """The plain values of front matter; {} where it is no mapping or cannot be read."""
    if not front:
        return {}
    import yaml

    source = "\n".join(front.rstrip().split("\n")[1:-1])
    try:
        # A few lines of aliases can unfold to gigabytes, or point into themselves.
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(source, Loader=yaml.SafeLoader)):
            return {}
        loaded = yaml.safe_load(source)
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    if not isinstance(loaded, dict):
        return {}
    return {str(name): _plain(value) for name, value in list(loaded.items())[:100]}


def markdown_blocks(text: str) -> Iterator[Block]:
    """Blocks of ``text``; every non-blank line is in exactly one of them."""
    from markdown_it import MarkdownIt

    engine = MarkdownIt("commonmark", {"maxNesting": 50}).enable("table").disable("inline")
    lines = text.split("\n")
    outline = Outline()
    reached = 0
    for token, content in _top_level(engine.parse(text)):
        begin, end = token.map or (reached, reached)
        begin = max(begin, reached)
        yield from _uncovered(lines[reached:begin], outline)
        reached = max(end, begin)
        source = "\n".join(lines[begin:end]).strip("\n").rstrip()
        if source.strip():
            yield _block(token, content, source, outline)
    yield from _uncovered(lines[reached:], outline)


def _top_level(tokens: Sequence[Token]) -> Iterator[tuple[Token, str]]:
    """Outermost block tokens, each with the inline source that follows it directly."""
    for index, token in enumerate(tokens):
        if token.level == 0 and token.nesting >= 0 and token.map:
            inner = tokens[index + 1] if index + 1 < len(tokens) else None
            yield token, inner.content if inner is not None and inner.type == "inline" else ""


def _block(token: Token, content: str, source: str, outline: Outline) -> Block:
    kind = _KINDS.get(token.type, BlockKind.PARAGRAPH)
    if kind is BlockKind.HEADING:
        return outline.heading(int(token.tag[1:]), _title(content) or source.strip("# \t"), text=source)
    place = Place(heading_path=outline.path)
    if kind is BlockKind.TABLE:
        lines = source.split("\n")
        return Block(kind=kind, text=source, head="\n".join(lines[:2]), rows=tuple(lines[2:]), place=place)
    if token.type == "fence" and not _is_closed(source, token.markup):
        source = f"{source}\n{token.markup}"
    if kind is BlockKind.PARAGRAPH and _FORMULA.match(source):
        kind = BlockKind.FORMULA
    return Block(kind=kind, text=source, place=place)


def _is_closed(source: str, markup: str) -> bool:
    lines = source.split("\n")
    last = lines[-1].strip()
    return len(lines) > 1 and last.startswith(markup) and not last.strip(markup[0])


def _uncovered(lines: Sequence[str], outline: Outline) -> Iterator[Block]:
    """Lines that make no token of their own, such as the targets of links."""
    source = "\n".join(lines).strip("\n").rstrip()
    if source.strip():
        yield Block(kind=BlockKind.PARAGRAPH, text=source, place=Place(heading_path=outline.path))


def _title(content: str) -> str:
    """A heading's words without marks of emphasis and links."""
    plain = _LINK.sub(r"\1", content[:TITLE_CHARS])
    for _ in range(3):
        plain = _EMPHASIS.sub(r"\2", plain)
    return " ".join(plain.split())


def _plain(value: object) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list):
        return [_plain(item) for item in value[:100]]
    return str(value)
