"""Writes and reads the public citation tags that stand in a stored answer."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass

_SPACES = re.compile(r"\s+")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_TAG = re.compile(r'<(?P<kind>kb|web)(?P<attributes>(?:\s+[a-z_]+="[^"<>]*")*)\s*/>')
_ATTRIBUTE = re.compile(r'([a-z_]+)="([^"<>]*)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """One tag of an answer. ``start`` and ``end`` are its offsets in the text that was read."""

    kind: str
    """``kb`` for a chunk of a knowledge base, ``web`` for a page of the web."""
    start: int
    end: int
    title: str = ""
    chunk_id: str = ""
    base_id: str = ""
    document_id: str = ""
    url: str = ""


def kb_tag(*, title: str, chunk_id: str, base_id: str, document_id: str) -> str:
    """The public tag of a chunk."""
    return _tag("kb", {"doc": title, "chunk_id": chunk_id, "kb_id": base_id, "knowledge_id": document_id})


def web_tag(*, url: str, title: str) -> str:
    """The public tag of a web page."""
    return _tag("web", {"url": url, "title": title})


def parse_citations(text: str) -> list[Citation]:
    """The citations of an answer in the order of the text; what is no whole tag is text and is passed over."""
    return [_citation(match) for match in _TAG.finditer(text)]


def plain_text(text: str) -> str:
    """The answer without its citation tags."""
    return _TAG.sub("", text)


def _citation(match: re.Match[str]) -> Citation:
    found = {name: html.unescape(value) for name, value in _ATTRIBUTE.findall(match["attributes"])}
    kind = match["kind"]
    return Citation(
        kind=kind,
        start=match.start(),
        end=match.end(),
        title=found.get("doc" if kind == "kb" else "title", ""),
        chunk_id=found.get("chunk_id", ""),
        base_id=found.get("kb_id", ""),
        document_id=found.get("knowledge_id", ""),
        url=found.get("url", ""),
    )


def _tag(name: str, attributes: Mapping[str, str]) -> str:
    pairs = " ".join(f'{key}="{_escape(value)}"' for key, value in attributes.items())
    return f"<{name} {pairs}/>"


def _escape(value: str) -> str:
    """One line of XML-escaped text: a title can neither end its attribute nor begin a tag or a line."""
    line = _SPACES.sub(" ", _CONTROLS.sub(" ", value)).strip()
    return line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
