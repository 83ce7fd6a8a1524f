"""What the presentation shows: a document of the reader's own, its first pieces, and a real search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from opora.api.principal import App
from opora.api.retriever import answered
from opora.domain.context import ContextAnswer, ContextQuery
from opora.domain.errors import ModelError
from opora.domain.faq import FAQ_FILE_TYPE
from opora.domain.knowledge import Chunk, ChunkType, Document, ParseStatus
from opora.domain.scope import Principal
from opora.domain.search import MAX_DOOR_MATCH_COUNT, SearchMode
from opora.domain.steps import Step
from opora.ports import Page, QuestionVector

CHOICES = 50
SHOWN_PIECES = 3
SHOWN_RESULTS = 3
_QUESTION_CHARS = 60
_MARKS = " .,;:|#*-\t"


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """``whole`` has every candidate with its places, ``short`` the first results with their neighbours. Without a
    vector of the question both are searches by words."""

    choices: tuple[Document, ...]
    document: Document
    chunks: tuple[Chunk, ...]
    steps: tuple[Step, ...]
    question: str
    vector: QuestionVector | None
    whole: ContextAnswer
    short: ContextAnswer


async def example(app: App, caller: Principal, *, document_id: str, question: str) -> Example | None:
    """None while there is no document that is ready. Raises `NotFound` for a document that is not the reader's."""
    everything = await app.access.bases(caller)
    listed = await app.documents.browse(everything, Page(page_size=CHOICES), status=ParseStatus.COMPLETED)
    choices = tuple(one for one in listed.items if one.file_type != FAQ_FILE_TYPE and one.chunk_count)
    if not document_id and not choices:
        return None
    wanted = document_id or choices[0].document_id
    scope = await app.access.document(caller, wanted)
    document: Document = await app.documents.get(scope, wanted)
    chunks = [one for one in (await app.chunks.browse(scope, wanted, Page())).items if one.chunk_type is ChunkType.TEXT]
    asked = question.strip() or suggested(chunks) or document.title
    vector, whole, short = await _searched(app, caller, asked)
    return Example(
        choices=choices,
        document=document,
        chunks=tuple(chunks[:SHOWN_PIECES]),
        steps=tuple(_last(await app.documents.steps(scope, wanted))),
        question=asked,
        vector=vector,
        whole=whole,
        short=short,
    )


def suggested(chunks: Sequence[Chunk]) -> str:
    """A question that the document surely has something for: the heading over a piece in its middle, or its start."""
    if not chunks:
        return ""
    middle = chunks[len(chunks) // 2]
    headings = middle.place.heading_path
    text = headings[-1] if len(headings) > 1 else middle.content
    line = next((line.strip(_MARKS) for line in text.splitlines() if line.strip(_MARKS)), "")
    return line if len(line) <= _QUESTION_CHARS else line[:_QUESTION_CHARS].rpartition(" ")[0] or line[:_QUESTION_CHARS]


async def _searched(
    app: App, caller: Principal, question: str
) -> tuple[QuestionVector | None, ContextAnswer, ContextAnswer]:
    async def ask(mode: SearchMode, limit: int) -> ContextAnswer:
        return await answered(app, caller, ContextQuery(question=question, search_type=mode, limit=limit))

    try:
        vector = await app.vectoriser.vectorise(question)
        whole = await ask(SearchMode.HYBRID, MAX_DOOR_MATCH_COUNT)
        return vector, whole, await ask(SearchMode.HYBRID, SHOWN_RESULTS)
    except ModelError:
        whole = await ask(SearchMode.FULLTEXT, MAX_DOOR_MATCH_COUNT)
        return None, whole, await ask(SearchMode.FULLTEXT, SHOWN_RESULTS)


def _last(steps: Sequence[Step]) -> list[Step]:
    """Those of the last attempt."""
    attempt = max((step.attempt for step in steps), default=0)
    return [step for step in steps if step.attempt == attempt and not step.error]
