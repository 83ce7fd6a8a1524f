"""Reads a conversation as OpenAI's clients send it: the question, the rounds before it, the wishes of the caller."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from opora.api.openai.sources import without_sources
from opora.domain.conversation import Round
from opora.domain.errors import InvalidInput

MAX_MESSAGES = 1_000
PICTURES = "[pictures]"
"""Stands in earlier rounds for a question that had no words."""


class ImageUrl(BaseModel):
    url: str


class Part(BaseModel):
    type: str
    text: str = ""
    image_url: ImageUrl | None = None


class MessageBody(BaseModel):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[Part] | None = None

    @property
    def text(self) -> str:
        """Raises `InvalidInput` for sounds and files."""
        if not isinstance(self.content, list):
            return self.content or ""
        for part in self.content:
            if part.type not in ("text", "image_url"):
                raise InvalidInput.of(
                    "messages", f"This server takes no '{part.type}' parts.", hint="Send text and pictures."
                )
        return "\n".join(part.text for part in self.content if part.type == "text")

    @property
    def image_urls(self) -> list[str]:
        parts = self.content if isinstance(self.content, list) else []
        return [part.image_url.url if part.image_url else "" for part in parts if part.type == "image_url"]


class StreamOptions(BaseModel):
    include_usage: bool = False


class ChatBody(BaseModel):
    model: Annotated[str, Field(max_length=1_000)]
    messages: Annotated[list[MessageBody], Field(min_length=1, max_length=MAX_MESSAGES)]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    temperature: Annotated[float | None, Field(ge=0, le=2, allow_inf_nan=False)] = None
    max_tokens: Annotated[int | None, Field(ge=1, le=1_000_000)] = None
    max_completion_tokens: Annotated[int | None, Field(ge=1, le=1_000_000)] = None
    n: Annotated[int | None, Field(ge=1, le=1, description="One answer is given.")] = None
    tools: Annotated[list[Any] | None, Field(max_length=0, description="The model calls no tools.")] = None

    def overrides(self) -> dict[str, Any]:
        chosen: dict[str, Any] = {}
        if self.temperature is not None:
            chosen["temperature"] = self.temperature
        if (limit := self.max_completion_tokens or self.max_tokens) is not None:
            chosen["max_completion_tokens"] = limit
        return chosen


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    query: str
    history: tuple[Round, ...]
    instructions: str
    image_urls: tuple[str, ...] = ()


def read(messages: Sequence[MessageBody]) -> Conversation:
    """The last message is the question; pictures of earlier ones are not looked at again.

    Lists of sources that earlier answers ended with are taken off.
    """
    if messages[-1].role != "user":
        raise InvalidInput.of("messages", "The last message is not the user's.", hint="End with the question.")
    instructions: list[str] = []
    asked: list[str] = []
    history: list[Round] = []
    for message in messages:
        text = message.text.strip()
        if message.role in ("tool", "function"):
            raise InvalidInput.of("messages", "This server takes no results of tools.")
        if not text:
            if message.role == "user" and message.image_urls and message is not messages[-1]:
                # A round of pictures alone: what was answered to it is what is left of it.
                asked.append(PICTURES)
            continue
        if message.role in ("system", "developer"):
            instructions.append(text)
        elif message.role == "user":
            asked.append(text)
        elif asked:
            history.append(_round(len(history), asked, without_sources(text)))
            asked = []
    return Conversation(
        query="\n\n".join(asked),
        history=tuple(history),
        instructions="\n\n".join(instructions),
        image_urls=tuple(messages[-1].image_urls),
    )


def _round(number: int, asked: Sequence[str], answer: str) -> Round:
    return Round(request_id=f"given-{number}", question="\n\n".join(asked), answer=answer)
