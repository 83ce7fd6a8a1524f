"""Settings in, a running application out."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self

from opora.access.access import Access
from opora.bootstrap.buses import check_role, make_bus, make_vectoriser, make_work_stream
from opora.bootstrap.checks import (
    check_bus,
    check_chat,
    check_database,
    check_embedder,
    check_engine,
    check_graph,
    check_log,
    check_reranker,
    check_writes,
)
from opora.bootstrap.endpoints import EndpointMaker, make_fetcher
from opora.bootstrap.graphs import make_graph
from opora.bootstrap.models import Models, described, make_models
from opora.bootstrap.outside import make_manager
from opora.bootstrap.sharing import check_folder, is_shared, make_search_engine
from opora.bootstrap.streams import make_log
from opora.bootstrap.tracing import TracedManager, make_tracer
from opora.chat.agents import Agents
from opora.chat.branches import Branches
from opora.chat.choosing import Chooser
from opora.chat.citations import CitationChecker
from opora.chat.direct import Direct
from opora.chat.embedders import BaseEmbedders
from opora.chat.history import HistorySearch
from opora.chat.layers import LayeredSettings
from opora.chat.memory import Memory
from opora.chat.orchestrator import Orchestrator
from opora.chat.registry import ModelRegistry
from opora.chat.searching import RankedSearch
from opora.chat.service import Chat
from opora.chat.sessions import Sessions
from opora.chat.settings import checked, effective
from opora.chat.titles import Titles
from opora.domain.errors import NotFound
from opora.domain.knowledge import KnowledgeBase
from opora.domain.scope import DEFAULT_TENANT_ID, Principal
from opora.domain.settings import Effective
from opora.domain.work import Work
from opora.jobs.ground import Ground
from opora.jobs.runner import JobRunner, Retries
from opora.knowledge.addresses import Addresses
from opora.knowledge.base_copies import BaseCopies
from opora.knowledge.base_index import BaseIndex
from opora.knowledge.bases import Bases
from opora.knowledge.chunk_edits import ChunkEdits
from opora.knowledge.chunks import Chunks
from opora.knowledge.documents import Documents
from opora.knowledge.faq import FaqEntries
from opora.knowledge.faq_imports import FaqImports
from opora.knowledge.tags import Tags
from opora.knowledge.transfers import Transfers
from opora.net.client import GuardedClient
from opora.pipeline.fallback import Fallback
from opora.pipeline.services import Services
from opora.ports import Embedder, EmbedderCard, Jobs, PageReader, Reranker, SearchEngine, StreamLog, Vectoriser
from opora.retrieve.gate import OperatingPoint
from opora.retrieve.search import Search
from opora.retriever.search import ContextSearch
from opora.retriever.vectoriser import LocalVectoriser
from opora.settings import Settings
from opora.store import owner
from opora.store.ids import new_id

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

    from opora.bus.connection import Bus
    from opora.bus.wake import WorkStream
    from opora.ingest.limits import ParseLimits

SHARED_ATTEMPTS = 5
"""How often workers of several processes try a document before they give it up."""
KEY_PRINCIPAL = Principal(tenant_id=DEFAULT_TENANT_ID, user_id="key", is_admin=True)


def now() -> datetime:
    return datetime.now(UTC)


class App:
    """A running installation. Made by `open`; edges reach everything through its attributes."""

    settings: Settings
    access: Access
    bases: Bases
    copies: BaseCopies
    index: BaseIndex
    documents: Documents
    addresses: Addresses
    transfers: Transfers
    chunks: Chunks
    chunk_edits: ChunkEdits
    tags: Tags
    faq: FaqEntries
    faq_imports: FaqImports
    search: Search
    ranked_search: RankedSearch
    vectoriser: Vectoriser
    local_vectoriser: Vectoriser
    """That of this process, whatever its role."""
    context: ContextSearch
    sessions: Sessions
    branches: Branches
    history: HistorySearch
    memory: Memory
    registry: ModelRegistry
    layers: LayeredSettings
    agents: Agents
    titles: Titles
    chat: Chat
    direct: Direct
    log: StreamLog
    jobs: JobRunner

    def __init__(self, settings: Settings, models: Models, engine: SearchEngine, tracer: Tracer | None = None) -> None:
        self.settings = settings
        self._models = models
        self._tracer = tracer
        self._engine = engine
        self._closing = AsyncExitStack()
        self._owner: owner.FolderOwner | None = None
        self._is_alone = True
        self._bus: Bus | None = None
        self._work_stream: WorkStream | None = None

    @classmethod
    async def open(cls, settings: Settings, *, models: Models | None = None, tracer: Tracer | None = None) -> Self:
        """Take the data folder and start everything on it, with the models of the settings or with those given.

        Raises `Busy` when another process has the folder, `InvalidInput` for settings that do not fit.
        """
        installation = checked(settings.retrieval)
        async with AsyncExitStack() as stack:
            folder = owner.FolderOwner.take(settings.data)
            stack.callback(folder.release)
            check_role(settings)
            models = models or await make_models(settings, stack)
            app = cls(settings, models, make_search_engine(settings), tracer)
            app._owner = folder
            stack.push_async_callback(app._engine.close)
            await app._put_together(installation, stack)
            app._closing = stack.pop_all()
        return app

    async def close(self) -> None:
        """Stop what runs, in the reverse order of its start."""
        await self._closing.aclose()

    def announce(self, address: str) -> None:
        """Let other processes find the server that owns the data folder."""
        if self._owner is not None:
            self._owner.announce(address)

    def models(self) -> list[dict[str, Any]]:
        """The configured models, for people and clients to choose from."""
        return described(self._models)

    @property
    def embedder(self) -> Embedder | None:
        return self._models.embedder

    @property
    def reranker(self) -> Reranker | None:
        return self._models.reranker

    def effective(self, tenant: Mapping[str, Any]) -> Effective:
        """Settings in force for a search of a tenant that says nothing else."""
        return effective(card=self._card, installation=self._installation, tenant=tenant, request={})

    @property
    def _card(self) -> EmbedderCard | None:
        return self.embedder.card if self.embedder else None

    async def ready(self) -> dict[str, Any]:
        """What `/readyz` and `opora doctor` show: each part, whether it works, and how to mend it."""
        checks = [
            await check_writes(self.settings.data),
            await check_database(self._database),
            await check_engine(self._engine),
            await check_log(self.log, self.settings.stream_manager),
            await check_embedder(self._models.embedder),
            check_chat(self._models.chat),
            check_reranker(self._models.reranker),
        ]
        # Questions are answered without a graph or a broker too: these are shown, and do not decide.
        beside = [await check_graph(self._graph), *([await check_bus(self._bus)] if self._bus else [])]
        return {"ready": all(check["ok"] for check in checks), "checks": [*checks, *beside]}

    async def _put_together(self, installation: Mapping[str, Any], stack: AsyncExitStack) -> None:
        """In the order in which one stands on the other; workers start last."""
        await self._open_stores(stack)
        self._open_models(stack)
        self._open_knowledge(stack)
        self.log = make_log(self.settings, clock=now, new_id=new_id)
        stack.push_async_callback(self.log.close)
        orchestrator = self._open_pipeline(installation, stack)
        self._open_conversation(orchestrator, installation)
        await self.chat.start()
        stack.push_async_callback(self.chat.close)
        if self.settings.role.works:
            await self.jobs.start(alone=self._is_alone)
        await self._database.started()
        stack.push_async_callback(self.jobs.close)
        if self._bus is not None and self._work_stream is not None:
            stack.push_async_callback(self._bus.close)
            stack.push_async_callback(self._work_stream.close)
            self._bus.start()
            self._work_stream.start()

    async def _open_stores(self, stack: AsyncExitStack) -> None:
        from opora.store.blobs import FileBlobs
        from opora.store.database import SqlDatabase

        self._database = SqlDatabase(self.settings.database)
        stack.push_async_callback(self._database.close)
        await self._database.open()
        shared = is_shared(self.settings)
        self._is_alone = await self._database.own(shared=shared)
        if shared:
            await check_folder(self._database, self.settings.shared_folder, alone=self._is_alone, new_id=new_id)
        self._blobs = FileBlobs(self.settings.shared_folder / "blobs")
        self.access = Access(self._database, api_keys=_keys(self.settings))

    def _open_knowledge(self, stack: AsyncExitStack) -> None:
        """The use cases on documents, and the workers that carry them out."""
        from opora.ingest.split import StructureSplitter
        from opora.ingest.worker import ChildParser

        database, blobs, upload_limit = self._database, self._blobs, self.settings.upload_limit
        self._graph = make_graph(self.settings, database)
        stack.push_async_callback(self._graph.close)
        self._parser = parser = ChildParser(limits=_parse_limits(self.settings))
        stack.push_async_callback(parser.close)
        self._bus = make_bus(self)
        self.jobs = JobRunner(
            Ground(
                database=database,
                engine=self._engine,
                blobs=blobs,
                parser=parser,
                splitter=StructureSplitter(),
                embedders=self._embedders,
                writer=self._models.chat,
                graph=self._graph,
                scope_of=self.access.worker,
                clock=now,
                new_id=new_id,
            ),
            retries=Retries(attempts=SHARED_ATTEMPTS) if self._bus else None,
            given_up=self._bury,
        )
        jobs = self._announced()
        model = self._card.identity if self._card else ""
        self.bases = Bases(database, jobs, clock=now, new_id=new_id, store=self._engine.name, model=model)
        self.copies = BaseCopies(database, jobs, clock=now, new_id=new_id)
        self.index = BaseIndex(database, self._engine, jobs, clock=now, new_id=new_id)
        self.documents = Documents(
            database,
            blobs,
            parser,
            self._engine,
            jobs,
            clock=now,
            new_id=new_id,
            upload_limit=upload_limit,
            queue_limit=self.settings.queue_limit,
        )
        fetcher = make_fetcher(self.settings)
        stack.push_async_callback(fetcher.close)
        self.addresses = Addresses(self.documents, fetcher, limit=upload_limit)
        self.transfers = Transfers(database, blobs, jobs, clock=now, new_id=new_id)
        self.chunks = Chunks(database, self._engine, jobs, clock=now, new_id=new_id)
        self.tags = Tags(database, self._engine, jobs, clock=now, new_id=new_id)
        self.chunk_edits = ChunkEdits(database, self._engine, jobs, embedders=self._embedders, clock=now, new_id=new_id)
        self.faq = FaqEntries(database, self._engine, jobs, embedders=self._embedders, clock=now, new_id=new_id)
        self.faq_imports = FaqImports(database, jobs, parser, clock=now, new_id=new_id)

    def _announced(self) -> Jobs:
        """The workers as use cases see them: those of this process, or of all that hear of work over the bus."""
        if self._bus is None:
            return self.jobs
        from opora.bus.jobs import AnnouncedJobs

        self._work_stream = make_work_stream(self.settings, self._bus, self.jobs.looked)
        return AnnouncedJobs(self.jobs, self._work_stream)

    def _bury(self, work: Work, reason: str) -> None:
        """The reason stands on the document too."""
        if self._work_stream is not None:
            letter = {"kind": work.kind.value, "subject": work.subject, "knowledge_base_id": work.base_id}
            self._work_stream.give_up({**letter, "tenant_id": work.tenant_id, "reason": reason})

    async def base_of(self, tenant_id: str, base_id: str) -> KnowledgeBase | None:
        """For questions of other processes of the installation."""
        if not base_id:
            return None
        async with self._database.read() as stored:
            found = await stored.bases.find(tenant_id, [base_id])
        if not found:
            raise NotFound("There is no such knowledge base.", details={"base_id": base_id})
        return found[0]

    def _open_pipeline(self, installation: Mapping[str, Any], stack: AsyncExitStack) -> Orchestrator:
        """Search, and the plugins that a question goes through."""
        from opora.engines.directory import EngineDirectory
        from opora.models.extractive import SentenceQuoter

        card = self._card
        engines = EngineDirectory({self._engine.name: self._engine}, default=self._engine.name)
        self.search = Search(
            database=self._database,
            engines=engines,
            embedders=self._embedders,
            timeout=self.settings.search_timeout,
            defaults=effective(card=card, installation=installation, request={}),
        )
        self.ranked_search = RankedSearch(self.search, self.registry)
        self.local_vectoriser = LocalVectoriser(self._embedders)
        self.vectoriser = make_vectoriser(self.settings, self._bus, self.local_vectoriser)
        self.context = ContextSearch(
            database=self._database,
            engines=engines,
            vectoriser=self.vectoriser,
            expands=self.settings.expansion,
            seconds=self.settings.search_timeout,
        )
        services = Services(
            database=self._database,
            search=self.search,
            quoter=SentenceQuoter(self.embedder),
            chat_model=self._models.chat,
            vision_model=self._models.vision,
            reranker=self.reranker,
            pages=self._page_reader(stack),
            graph=self._graph,
            gate=OperatingPoint(model_floor=card.vector_threshold if card else 0.0),
        )
        manager = make_manager(services)
        tracer = self._tracer or make_tracer(self.settings, stack)
        if tracer is not None:
            manager = TracedManager(manager, tracer)
        return Orchestrator(manager, fallback=Fallback(services))

    def _page_reader(self, stack: AsyncExitStack) -> PageReader:
        from opora.ingest.page import WebPageReader

        client = GuardedClient()
        stack.push_async_callback(client.close)
        return WebPageReader(client, self._parser)

    def _open_models(self, stack: AsyncExitStack) -> None:
        """The models that tenants keep themselves."""
        from opora.store.secrets import KeyFile

        maker = EndpointMaker(self.settings)
        stack.push_async_callback(maker.close)
        self.registry = ModelRegistry(
            database=self._database,
            secrets=KeyFile(self.settings.shared_folder),
            maker=maker,
            default=self._models.chat,
            reranker=self.reranker,
            clock=now,
            new_id=new_id,
        )
        stack.push_async_callback(self.registry.close)
        self._embedders = BaseEmbedders(self.embedder, self.registry, self.access.worker)

    def _open_conversation(self, orchestrator: Orchestrator, installation: Mapping[str, Any]) -> None:
        database = self._database
        self._installation = installation
        self.layers = LayeredSettings(database)
        self.agents = Agents(database, self.registry, clock=now, new_id=new_id)
        self.memory = Memory(database=database, clock=now, new_id=new_id)
        chooser = Chooser(
            self.registry,
            card=self._card,
            installation=installation,
            has_chat_model=self._models.chat is not None,
        )
        self.direct = Direct(
            orchestrator=orchestrator,
            chooser=chooser,
            clock=now,
            new_id=new_id,
            answer_seconds=self.settings.answer_seconds,
        )
        self.titles = Titles(database, self._models.chat, now)
        self.chat = Chat(
            database=database,
            log=self.log,
            orchestrator=orchestrator,
            checker=CitationChecker(database, self._blobs),
            titles=self.titles,
            layers=self.layers,
            chooser=chooser,
            clock=now,
            new_id=new_id,
            answer_seconds=self.settings.answer_seconds,
        )
        self.history = HistorySearch(
            database=database,
            engine=self._engine,
            places=self.access,
            embedder=self.embedder,
            reranker=self.reranker,
        )
        self.sessions = Sessions(database=database, stopper=self.chat, forgetter=self.history, clock=now, new_id=new_id)
        self.branches = Branches(database=database, stopper=self.chat, forgetter=self.history, clock=now, new_id=new_id)


def _parse_limits(settings: Settings) -> ParseLimits:
    from opora.ingest.limits import ParseLimits

    return ParseLimits(
        upload_bytes=settings.upload_limit,
        seconds=settings.parse_seconds,
        memory_bytes=settings.parse_memory,
        pages=settings.parse_pages,
        ocr=settings.ocr == "auto",
        ocr_languages=settings.ocr_languages,
        libreoffice=settings.libreoffice == "auto",
    )


def _keys(settings: Settings) -> dict[str, Principal]:
    return {settings.api_key.get_secret_value(): KEY_PRINCIPAL} if settings.api_key else {}
