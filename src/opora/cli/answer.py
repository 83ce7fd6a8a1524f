"""Follows a streamed answer to its one end and folds it into what `opora ask` prints."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field
from typing import Any

import typer

from opora.cli.citations import Numbers
from opora.cli.client import ApiError, Client
from opora.cli.show import QUOTES_HEAD
from opora.cli.words import plain

FINISHES = frozenset({"complete", "truncated", "stopped", "nothing_found", "error"})
INTERRUPTED = "The answer broke off: its server stopped. What was written until then is kept."
STOP_SECONDS = 3.0


@dataclass(slots=True)
class Answer:
    session_id: str
    message_id: str = ""
    text: str = ""
    references: list[dict[str, Any]] = field(default_factory=list)
    finish: str = ""
    error: str = ""
    extractive: bool = False

    def as_dict(self) -> dict[str, Any]:
        """The documented fields; ``error`` beside them where something went wrong."""
        told = {
            "answer": self.text,
            "references": self.references,
            "session_id": self.session_id,
            "message_id": self.message_id,
            "finish": self.finish,
        }
        return told | ({"error": self.error} if self.error else {})

    def take(self, event: dict[str, Any]) -> str:
        """Fold one event in; what it adds to the text."""
        data = event.get("data") or {}
        match event["response_type"]:
            case "agent_query":
                self.message_id = event.get("assistant_message_id") or data.get("assistant_message_id", "")
            case "references":
                self.references = event.get("knowledge_references", [])
            case "answer":
                piece = str(event.get("content", ""))
                self.text += piece
                self.extractive = self.extractive or bool(data.get("extractive"))
                return piece
            case "error":
                self.error = event.get("content", "")
            case "complete":
                self.end(str(data.get("finish", "complete")))
        return ""

    def end(self, finish: str) -> None:
        """An answer whose server went away is an error here: scripts know five ends."""
        if finish not in FINISHES:
            finish, self.error = "error", self.error or INTERRUPTED
        self.finish = finish


class Printer:
    """Shows an answer while it is written."""

    def __init__(self) -> None:
        self._numbers = Numbers()
        self._begun = False

    def show(self, piece: str, *, extractive: bool) -> None:
        self._write(self._numbers.feed(piece), extractive=extractive)

    def end(self, *, extractive: bool) -> None:
        self._write(self._numbers.rest().rstrip(), extractive=extractive)
        if self._begun:
            typer.echo()

    def _write(self, text: str, *, extractive: bool) -> None:
        if not self._begun:
            text = text.lstrip()
            if text and extractive:
                typer.echo(QUOTES_HEAD)
        self._begun = self._begun or bool(text)
        typer.echo(plain(text), nl=False)


async def answer_of(client: Client, session_id: str, body: dict[str, Any], *, printer: Printer | None = None) -> Answer:
    """Ask and follow to the terminal event. A connection that breaks leaves what was written, flagged as an error.

    Whoever interrupts the command stops the answer too.
    """
    answer = Answer(session_id)
    try:
        async for event in client.events(f"/knowledge-chat/{session_id}", body):
            piece = answer.take(event)
            if printer is not None and piece:
                printer.show(piece, extractive=answer.extractive)
    except ApiError as exc:
        if exc.status or not answer.message_id:
            raise
        answer.error = f"{exc.message} {INTERRUPTED}"
    except asyncio.CancelledError:
        await _stop(client, answer)
        raise
    if not answer.message_id:
        raise ApiError("The service sent no answer.", status=502, code="unavailable")
    if not answer.finish:
        answer.end("interrupted")
    if printer is not None:
        printer.end(extractive=answer.extractive)
    return answer


async def citations_of(client: Client, answer: Answer) -> list[dict[str, Any]]:
    """The checked citations, where they can say more than the references: quotes of table rows."""
    if not any((result.get("place") or {}).get("row") for result in answer.references) or "<kb " not in answer.text:
        return []
    found: list[dict[str, Any]] = await client.call("GET", f"/messages/{answer.message_id}/citations")
    return found


async def _stop(client: Client, answer: Answer) -> None:
    """With a server the answer would go on being written, and paid for, without its reader."""
    if not answer.message_id:
        return
    path = f"/sessions/{answer.session_id}/stop"
    with contextlib.suppress(ApiError, TimeoutError):
        async with asyncio.timeout(STOP_SECONDS):
            await client.call("POST", path, json={"message_id": answer.message_id})
