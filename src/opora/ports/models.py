"""What models promise, and the cards, messages and options that go with them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from opora.domain.conversation import Quote
from opora.domain.knowledge import KnowledgeBase
from opora.domain.pictures import Picture
from opora.domain.search import SearchResult
from opora.ports.values import Vectors


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderCard:
    """What is known of an embedding model. ``vector_threshold`` is its own floor for cosine scores, measured."""

    identity: str
    """Model, quantisation, prefixing: vectors of equal identity share a space."""
    dimension: int
    max_tokens: int
    vector_threshold: float
    answer_floor: float = 0.0
    """The best cosine from which retrieval may hold an answer without any of the question's words; 0: not known."""
    description: str = ""


class Embedder(Protocol):
    """Turns text into vectors. Count, size, NaN and zero are checked by the wrapper in `opora.models.checked`."""

    @property
    def card(self) -> EmbedderCard: ...

    async def embed_query(self, text: str) -> Vectors:
        """Shape (dimension,), length 1."""
        ...

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), dimension), each of length 1."""
        ...

    async def close(self) -> None: ...


class Embedders(Protocol):
    """Which model a base is embedded by: one of the registry that was chosen for it, or the installation's."""

    @property
    def default(self) -> Embedder | None:
        """That of the installation, if any."""
        ...

    async def of(self, base: KnowledgeBase) -> Embedder | None:
        """None where no model is configured. The model is not called, so its being down is no error here, and nothing
        is written, so it may be asked inside a transaction.

        Raises `ModelError` where the base's own model can't be made: that is never the same as having none.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionVector:
    """A question as a model sees it. ``identity`` is that of the model's card: only its vectors can be compared."""

    identity: str
    vector: Vectors
    """Shape (dimension,), length 1."""


class Vectoriser(Protocol):
    """Makes the vector of a question, in this process or in another that has the model."""

    async def vectorise(self, question: str, base: KnowledgeBase | None = None) -> QuestionVector:
        """By the model that embeds ``base``, or that of the installation.

        Raises `ModelNotConfigured` where there is no model, `ModelError` where it can't be reached or fails,
        `DimensionMismatch` for a vector of another size than its model's.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankerCard:
    """What is known of a reranking model; limits of 0 mean that none is known."""

    identity: str
    max_passage_chars: int = 0
    sees_images: bool = False


class Reranker(Protocol):
    """Scores passages for a query. Count, order and scale are checked by its own adapter."""

    @property
    def card(self) -> RerankerCard: ...

    async def rerank(self, query: str, passages: Sequence[str]) -> list[float]:
        """One score in [0, 1] for each passage, in their order."""
        ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    role: str
    """``system``, ``user`` or ``assistant``."""
    content: str
    pictures: tuple[Picture, ...] = ()
    """Only for a model that sees."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatOptions:
    """What is None is left to the model's provider."""

    temperature: float = 0.3
    max_tokens: int = 2048
    top_p: float | None = None
    seed: int | None = None
    thinking: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatDelta:
    """A piece of a model's stream; ``finish_reason`` stands on the last one, in the provider's own word."""

    content: str = ""
    thinking: str = ""
    finish_reason: str = ""


class ChatModel(Protocol):
    @property
    def identity(self) -> str: ...

    @property
    def sees_images(self) -> bool:
        """Whether messages to it may have pictures."""
        ...

    def stream(self, messages: Sequence[ChatMessage], options: ChatOptions) -> AsyncIterator[ChatDelta]:
        """Raises `ModelError` when the model fails, also in mid-stream, or when the stream ends without a finish."""
        ...

    async def close(self) -> None: ...


class ExtractiveAnswerer(Protocol):
    """Answers without a chat model: the sentences that best answer, word for word."""

    async def quotes(self, question: str, passages: Sequence[SearchResult]) -> list[Quote]:
        """Quotes best first, in passages' own words; empty when no sentence answers."""
        ...


class Secrets(Protocol):
    """Makes a key unreadable for whoever has the database alone."""

    def seal(self, text: str) -> str: ...
    def unseal(self, token: str) -> str:
        """Raises `Unavailable` when it was sealed by another installation."""
        ...
