"""Spans: one an event, none around the stream, one trace a question, sent where the settings say."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import uvicorn
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from opora.bootstrap import App, Models, tracing
from opora.domain.errors import EngineError
from opora.domain.scope import LOCAL_PRINCIPAL
from opora.models.scripted import ScriptedChat
from opora.settings import Settings

TEXT = "Расходы на проезд возмещают после возвращения."


async def answered(app: App, question: str = "Когда возмещают проезд?") -> str:
    tenant = await app.access.tenant(LOCAL_PRINCIPAL)
    scope = await app.access.bases(LOCAL_PRINCIPAL)
    if not scope.bases:
        base = await app.bases.create(tenant, name="б")
        scope = await app.access.bases(LOCAL_PRINCIPAL)
        document = await app.documents.add_text(scope, base.base_id, title="Тайна", content=TEXT)
        await app.documents.wait(scope, [document.document_id], timeout=30)
    session = await app.sessions.create(tenant, title="т")
    asked = await app.chat.ask(scope, session.session_id, question)
    async for _ in app.chat.follow(scope, session.session_id, asked.assistant_message_id):
        pass
    return session.session_id


@pytest.fixture
def spans() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
async def app(tmp_path: Path, spans: InMemorySpanExporter) -> AsyncIterator[App]:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(spans))
    opened = await App.open(
        Settings(data=tmp_path, embedding="none"),
        models=Models(embedder=None, chat=ScriptedChat(["Да"])),
        tracer=provider.get_tracer("test"),
    )
    yield opened
    await opened.close()
    provider.shutdown()


def named(spans: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    return {span.name: span for span in spans.get_finished_spans()}


async def test_one_span_an_event_and_none_around_the_stream(app: App, spans: InMemorySpanExporter) -> None:
    session_id = await answered(app)
    found = [span.name for span in spans.get_finished_spans()]
    assert found == [
        "pipeline.load_history",
        "pipeline.memory_recall",
        "pipeline.query_understand",
        "pipeline.chunk_search_parallel",
        "pipeline.chunk_rerank",
        "pipeline.chunk_merge",
        "pipeline.filter_top_k",
        "pipeline.into_chat_message",
    ]
    search = named(spans)["pipeline.chunk_search_parallel"].attributes or {}
    assert search["gen_ai.operation.name"] == "retrieval"
    assert search["gen_ai.conversation.id"] == search["session.id"] == session_id
    assert search["user.id"] == LOCAL_PRINCIPAL.user_id
    assert search["opora.found"] == 1
    assert (named(spans)["pipeline.into_chat_message"].attributes or {})["opora.in_context"] == 1


async def test_the_spans_of_a_question_share_a_trace_and_hold_no_text(app: App, spans: InMemorySpanExporter) -> None:
    await answered(app)
    first = {span.context.trace_id for span in spans.get_finished_spans() if span.context}
    spans.clear()
    await answered(app, "А когда возмещают гостиницу и проезд?")
    second = {span.context.trace_id for span in spans.get_finished_spans() if span.context}
    assert len(first) == len(second) == 1
    assert first != second
    told = " ".join(span.to_json() for span in spans.get_finished_spans())
    for word in ("проезд", "возмещают", "Тайна"):
        assert word not in told
        assert word.encode("unicode_escape").decode() not in told


async def test_a_stage_that_fails_is_marked(
    app: App, spans: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch
) -> None:
    await answered(app)
    spans.clear()

    async def down(*args: object, **kwargs: object) -> None:
        raise EngineError("it is down")

    monkeypatch.setattr(app._engine, "search_keyword", down)
    await answered(app)
    assert named(spans)["pipeline.chunk_search_parallel"].status.status_code is StatusCode.ERROR
    assert named(spans)["pipeline.query_understand"].status.status_code is StatusCode.UNSET


class Collector:
    """A server that takes spans as a collector and as Langfuse do."""

    def __init__(self) -> None:
        self.url = ""
        self.names: dict[str, set[str]] = {}
        self.keys: dict[str, str] = {}

    async def __call__(self, request: Request) -> Response:
        sent = ExportTraceServiceRequest.FromString(await request.body())
        path = request.url.path
        self.keys[path] = request.headers.get("authorization", "")
        names = {span.name for one in sent.resource_spans for two in one.scope_spans for span in two.spans}
        self.names.setdefault(path, set()).update(names)
        return Response(b"", media_type="application/x-protobuf")


@pytest.fixture
async def collector() -> AsyncIterator[Collector]:
    made = Collector()
    routes = [Route(path, made.__call__, methods=["POST"]) for path in ("/v1/traces", "/api/public/otel/v1/traces")]
    config = uvicorn.Config(Starlette(routes=routes), host="127.0.0.1", port=0, log_level="critical", lifespan="off")
    server = uvicorn.Server(config)
    config.load()
    server.lifespan = config.lifespan_class(config)
    await server.startup()
    made.url = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    loop = asyncio.create_task(server.main_loop())
    yield made
    server.should_exit = True
    await loop
    await server.shutdown()


async def test_they_are_sent_to_a_collector_and_to_langfuse(tmp_path: Path, collector: Collector) -> None:
    settings = Settings(
        data=tmp_path,
        embedding="none",
        OTEL_EXPORTER_OTLP_ENDPOINT=f"{collector.url}/",
        LANGFUSE_PUBLIC_KEY="pk-1",
        LANGFUSE_SECRET_KEY="sk-1",
        LANGFUSE_HOST=collector.url,
    )
    app = await App.open(settings)
    await answered(app)
    await app.close()
    assert "pipeline.chunk_search_parallel" in collector.names["/v1/traces"]
    assert collector.names["/v1/traces"] == collector.names["/api/public/otel/v1/traces"]
    expected = base64.b64encode(b"pk-1:sk-1").decode()
    assert collector.keys == {"/v1/traces": "", "/api/public/otel/v1/traces": f"Basic {expected}"}


async def test_unset_there_is_no_tracer_and_without_the_libraries_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    app = await App.open(Settings(data=tmp_path / "a", embedding="none"))
    assert not isinstance(app.chat._answering._orchestrator._manager, tracing.TracedManager)
    await app.close()
    monkeypatch.setattr(tracing, "PACKAGES", ("no_such_package.sdk",))
    app = await App.open(
        Settings(data=tmp_path / "b", embedding="none", OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:1")
    )
    assert not isinstance(app.chat._answering._orchestrator._manager, tracing.TracedManager)
    await app.close()
    assert "install the extra 'otel'" in caplog.text
