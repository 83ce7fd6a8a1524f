"""Spans for the events of a question, sent by OTLP to a collector, to Langfuse, or to both. Nothing is loaded unset."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import logging
from collections.abc import Mapping
from contextlib import AsyncExitStack
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from opora.domain.question import Draft
from opora.pipeline.events import EventType
from opora.pipeline.manager import EventManager
from opora.pipeline.run import Run
from opora.settings import Settings

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Tracer

_log = logging.getLogger(__name__)

UNSPANNED = frozenset({EventType.CHAT_COMPLETION_STREAM})
"""A stream lasts as long as somebody writes; a span around it would say nothing about a stage."""
OPERATIONS: Mapping[EventType, str] = {
    EventType.QUERY_UNDERSTAND: "chat",
    EventType.CHUNK_SEARCH_PARALLEL: "retrieval",
    EventType.CHUNK_RERANK: "rerank",
    EventType.CHAT_COMPLETION: "chat",
}
"""``gen_ai.operation.name`` of the stages that have one."""
PACKAGES = ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")


class TracedManager(EventManager):
    """An `EventManager` whose events have a span each; those of one question share a trace.

    Spans carry ids and counts, and no text of questions, documents or answers.
    """

    def __init__(self, inner: EventManager, tracer: Tracer) -> None:
        super().__init__()
        self._inner = inner
        self._tracer = tracer

    def chain(self, event: EventType) -> tuple[Any, ...]:
        return self._inner.chain(event)

    async def trigger(self, event: EventType, draft: Draft, run: Run) -> Draft:
        if event in UNSPANNED:
            return await self._inner.trigger(event, draft, run)
        with self._tracer.start_as_current_span(
            f"pipeline.{event.value}", context=_context_of(draft), attributes=_before(event, draft)
        ) as span:
            draft = await self._inner.trigger(event, draft, run)
            span.set_attributes(_after(draft))
            return draft


def make_tracer(settings: Settings, stack: AsyncExitStack) -> Tracer | None:
    """A tracer for the endpoints that the settings name; None when they name none, or the libraries are missing."""
    targets = list(_targets(settings))
    if not targets:
        return None
    if not all(_is_there(package) for package in PACKAGES):
        _log.warning("Traces are set up, and the OpenTelemetry libraries are missing: install the extra 'otel'.")
        return None
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider(resource=Resource.create({"service.name": "opora"}), shutdown_on_exit=False)
    for endpoint, headers in targets:
        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint, headers=headers)))

    async def shut_down() -> None:
        # It sends what still waits.
        await asyncio.to_thread(provider.shutdown)

    stack.push_async_callback(shut_down)
    return provider.get_tracer("opora")


def _targets(settings: Settings) -> list[tuple[str, dict[str, str]]]:
    """Addresses to send spans to, with their headers."""
    found: list[tuple[str, dict[str, str]]] = []
    if settings.otel_endpoint:
        found.append((f"{settings.otel_endpoint.rstrip('/')}/v1/traces", {}))
    public, secret = settings.langfuse_public_key, settings.langfuse_secret_key
    if public and secret is not None:
        token = base64.b64encode(f"{public}:{secret.get_secret_value()}".encode()).decode("ascii")
        address = f"{settings.langfuse_host.rstrip('/')}/api/public/otel/v1/traces"
        found.append((address, {"Authorization": f"Basic {token}"}))
    return found


def _is_there(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False


def _context_of(draft: Draft) -> Context:
    """One trace a question, told from its request: the events have no span above them that would last as long."""
    from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context

    digest = hashlib.sha256(draft.question.request_id.encode("utf-8", "surrogatepass")).digest()
    parent = SpanContext(
        trace_id=int.from_bytes(digest[:16], "big") or 1,
        span_id=int.from_bytes(digest[16:24], "big") or 1,
        is_remote=True,
        trace_flags=TraceFlags(TraceFlags.SAMPLED),
    )
    return set_span_in_context(NonRecordingSpan(parent))


def _before(event: EventType, draft: Draft) -> dict[str, Any]:
    question = draft.question
    attributes: dict[str, Any] = {
        "opora.event": event.value,
        "opora.request.id": question.request_id,
        "opora.tenant.id": question.scope.tenant_id,
        "user.id": question.scope.principal.user_id,
        "langfuse.trace.name": "question",
    }
    if question.session_id:
        attributes |= {"gen_ai.conversation.id": question.session_id, "session.id": question.session_id}
    if event in OPERATIONS:
        attributes["gen_ai.operation.name"] = OPERATIONS[event]
    return attributes


def _after(draft: Draft) -> dict[str, Any]:
    return {
        "opora.history.rounds": len(draft.history),
        "opora.found": len(draft.found),
        "opora.kept": len(draft.passages),
        "opora.in_context": len(draft.context),
        "opora.dropped": len(draft.drops),
        "opora.warnings": len(draft.warnings),
        "opora.nothing_found": draft.nothing_found,
        "opora.intent": draft.intent.value,
    }
