"""How one passage is written into the prompt: its alias, where it comes from, its text with what its images show."""

from __future__ import annotations

from collections.abc import Sequence

from opora.domain.knowledge import ChunkType
from opora.domain.search import DOCUMENT_DESCRIPTION, MatchType, SearchResult
from opora.prompt.escape import escape_attribute, escape_text
from opora.text.image_info import read_image_info
from opora.text.signature import is_contained

EXACT = "exact"


def aliases(passages: Sequence[SearchResult]) -> list[str]:
    """c1, c2, ... for chunks and w1, w2, ... for web pages in this order, each source once.

    The same numbering as that of the citation registry when it is given the passages in the same order.
    """
    known: dict[tuple[str, str], str] = {}
    counts = {"c": 0, "w": 0}
    found = []
    for passage in passages:
        is_web = passage.match_type is MatchType.WEB
        key = ("w" if is_web else "c", passage.chunk_id)
        if key not in known:
            counts[key[0]] += 1
            known[key] = f"{key[0]}{counts[key[0]]}"
        found.append(known[key])
    return found


def is_exact(passage: SearchResult, *, threshold: float) -> bool:
    """Whether a FAQ entry answers the question outright: by its score before any boost, so that none lifts it there.

    Without a reranker that is its cosine, where it has one: what fusion with other bases makes of it is a rank.
    """
    if passage.chunk_type is not ChunkType.FAQ:
        return False
    scores = passage.scores
    if "composite" not in scores and "vector" in scores:
        return scores["vector"] >= threshold
    return scores.get("composite", scores.get("base", scores.get("fused", passage.score))) >= threshold


def passage_text(passage: SearchResult) -> str:
    """The passage with its images as Markdown and what is written in them, neither of them twice."""
    parts = [passage.content]
    for image in read_image_info(passage.image_info):
        if image.url and image.url not in passage.content:
            parts.append(f"![{image.caption}]({image.url})")
        elif image.caption and not is_contained(image.caption, passage.content):
            parts.append(image.caption)
        if image.ocr_text and not is_contained(image.ocr_text, passage.content):
            parts.append(image.ocr_text)
    return "\n".join(part for part in parts if part)


def render_passage(passage: SearchResult, alias: str, *, match: str = "") -> str:
    """``<context id="c1" ...>`` with escaped text: nothing in a passage can end it or pass for another."""
    attributes = {"id": alias, "title": passage.title or passage.file_name, "section": passage.context, "match": match}
    head = "".join(f' {name}="{escape_attribute(value)}"' for name, value in attributes.items() if value)
    return f"<context{head}>\n{escape_text(passage_text(passage))}\n</context>"


def document_header(passages: Sequence[SearchResult]) -> str:
    """The distinct documents of the passages, in the order in which they first come; '' for none."""
    documents: dict[str, SearchResult] = {}
    for passage in passages:
        documents.setdefault(passage.document_id or passage.chunk_id, passage)
    lines = [_document(passage) for passage in documents.values() if passage.title or passage.file_name]
    return "\n".join(["<documents>", *lines, "</documents>"]) if lines else ""


def _document(passage: SearchResult) -> str:
    description = passage.metadata.get(DOCUMENT_DESCRIPTION, "")
    attributes = {
        "title": passage.title or passage.file_name,
        "description": description if isinstance(description, str) else "",
    }
    return "<document" + "".join(f' {n}="{escape_attribute(v)}"' for n, v in attributes.items() if v) + "/>"
