"""The two values that travel through the pipeline: what was asked, and the draft of the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from opora.domain.conversation import NOTHING_BESIDE, Beside, Finish, Quote, Round
from opora.domain.pictures import Picture
from opora.domain.scope import Scope
from opora.domain.search import SearchResult
from opora.domain.settings import Effective
from opora.domain.trace import Drop


class Intent(StrEnum):
    """What kind of question it is; an empty intent is treated as one that needs retrieval."""

    KB_SEARCH = "kb_search"
    WEB_SEARCH = "web_search"
    GREETING = "greeting"
    CHITCHAT = "chitchat"
    FOLLOW_UP = "follow_up"
    IMAGE_ONLY = "image_only"
    DOC_ONLY = "doc_only"
    SUMMARIZE = "summarize"
    CLARIFICATION = "clarification"
    UNKNOWN = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What was asked and every setting that applies to it, resolved once. (Elsewhere: PipelineRequest.)"""

    text: str
    scope: Scope
    session_id: str
    request_id: str
    user_message_id: str
    assistant_message_id: str
    asked_at: datetime
    settings: Effective = field(default_factory=Effective)
    language: str = ""
    """``ru``, ``zh`` or ``en``; decides the language of fixed texts."""
    has_chat_model: bool = False
    explain: bool = False
    history: tuple[Round, ...] | None = None
    """Earlier rounds that came with the question; None: those of its session."""
    beside: Beside = NOTHING_BESIDE
    pictures: tuple[Picture, ...] = ()
    """The pictures of ``beside``, with their bytes."""
    prompts: Mapping[str, str] = field(default_factory=dict)
    """Texts in the place of built-in templates, by their ids."""
    instructions: str = ""
    """What the caller wants of the answer's manner, beside the prompt of the installation."""
    warnings: tuple[str, ...] = ()
    """What was wrong with the choice of what is asked; the answer's trace tells them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The state of one answer, advanced by `dataclasses.replace`. (Elsewhere: PipelineState.)

    ``ranked`` is None when rerank did not run, and empty when it kept nothing: the merge falls back to ``found``
    only for the first. ``nothing_found`` is a value, not an exception.
    """

    question: Question
    rewritten_query: str = ""
    intent: Intent = Intent.UNKNOWN
    entities: tuple[str, ...] = ()
    """What the question speaks of, for the search in a graph."""
    history: tuple[Round, ...] = ()
    memory_prompt: str = ""
    image_description: str = ""
    """What a model saw in the pictures of the question."""
    found: tuple[SearchResult, ...] = ()
    model_floor: float | None = None
    """The floor of the model whose cosines the passages have, 0 where it is not known; None: the installation's."""
    ranked: tuple[SearchResult, ...] | None = None
    merged: tuple[SearchResult, ...] | None = None
    context: tuple[SearchResult, ...] = ()
    """The passages that stand in the prompt; what the token budget cut is in ``merged`` only."""
    user_content: str = ""
    """The rendered message to the model."""
    system_prompt: str = ""
    drops: tuple[Drop, ...] = ()
    warnings: tuple[str, ...] = ()
    diagnostics: Mapping[str, int] = field(default_factory=dict)
    nothing_found: bool = False
    answer: str = ""
    quotes: tuple[Quote, ...] = ()
    finish: Finish | None = None
    error_message: str = ""

    @property
    def query(self) -> str:
        """What is searched: the rewritten question where there is one."""
        return self.rewritten_query or self.question.text

    @property
    def passages(self) -> tuple[SearchResult, ...]:
        """The best list so far: merged, else ranked, else found."""
        if self.merged is not None:
            return self.merged
        return self.found if self.ranked is None else self.ranked
