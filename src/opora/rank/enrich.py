"""The text by which a result is judged: its passage, what its images show, and the questions it was found to answer."""

from __future__ import annotations

from collections.abc import Sequence

from opora.domain.enrichment import GENERATED_QUESTIONS
from opora.domain.search import SearchResult
from opora.rank.clean import clean_passage
from opora.text.image_info import read_image_info
from opora.text.signature import normalise_content


def enriched_passage(result: SearchResult) -> str:
    """Cleaned passage under its heading, then captions, recognised text and generated questions, none of them twice."""
    parts = [clean_passage(result.content)]
    extra = [*_image_texts(result), *_questions(result)]
    if result.context:
        parts.insert(0, result.context)
    if not extra:
        return "\n".join(part for part in parts if part)
    seen = {normalise_content(result.content), normalise_content(parts[-1])}
    for text in extra:
        key = normalise_content(text)
        if key and key not in seen:
            seen.add(key)
            parts.append(text)
    return "\n".join(part for part in parts if part)


def truncated(passage: str, limit: int) -> str:
    """A passage cut at its end to a model's limit of characters; 0 means no limit."""
    return passage[:limit] if limit > 0 else passage


def _image_texts(result: SearchResult) -> list[str]:
    return [text for image in read_image_info(result.image_info) for text in (image.caption, image.ocr_text) if text]


def _questions(result: SearchResult) -> Sequence[str]:
    questions = result.metadata.get(GENERATED_QUESTIONS, ())
    if not isinstance(questions, list | tuple):
        return ()
    return [question for question in questions if isinstance(question, str)]
