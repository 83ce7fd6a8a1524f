"""Use cases on knowledge bases."""

from __future__ import annotations

from dataclasses import replace

from opora.domain.enrichment import MAX_QUESTION_COUNT, EnrichmentConfig
from opora.domain.errors import Conflict, InvalidInput, NotFound
from opora.domain.knowledge import BaseType, ChunkingConfig, FaqConfig, IndexingStrategy, KnowledgeBase
from opora.domain.models import ModelKind
from opora.domain.scope import BaseRef, Scope
from opora.domain.work import Work, WorkKind
from opora.ingest.split.config import validate_chunking
from opora.ports import Clock, Database, Jobs, Listed, NewId, Page, Repositories
from opora.text.fold import clean
from opora.text.names import clean_label

MAX_NAME_CHARS = 200
MAX_DESCRIPTION_CHARS = 2_000
MIN_CHUNK_SIZE = 50


class Bases:
    def __init__(self, database: Database, jobs: Jobs, *, clock: Clock, new_id: NewId, model: str = "") -> None:
        """``model`` is the identity of the installation's embedding model, '' without one."""
        self._database = database
        self._jobs = jobs
        self._clock = clock
        self._new_id = new_id
        self._model = model

    async def create(
        self,
        scope: Scope,
        *,
        name: str,
        base_type: BaseType = BaseType.DOCUMENT,
        description: str = "",
        chunking: ChunkingConfig | None = None,
        indexing: IndexingStrategy | None = None,
        faq: FaqConfig | None = None,
        enrichment: EnrichmentConfig | None = None,
        embedding_model_id: str = "",
    ) -> KnowledgeBase:
        """``embedding_model_id`` is an embedding model of the registry; '' takes that of the installation.

        Raises `NotFound` for an unknown one.
        """
        now = self._clock()
        base = KnowledgeBase(
            base_id=self._new_id(),
            tenant_id=scope.tenant_id,
            name=_name(name),
            base_type=base_type,
            description=_description(description),
            chunking=_checked(chunking or ChunkingConfig()),
            indexing=_searchable(indexing or IndexingStrategy()),
            faq=faq or FaqConfig(),
            enrichment=_enrichment(enrichment or EnrichmentConfig()),
            created_at=now,
            updated_at=now,
        )
        async with self._database.begin() as stored:
            base = replace(base, own_model_id=await self._own_model(stored, scope, embedding_model_id))
            await stored.bases.add(base)
        return base

    async def get(self, scope: Scope, base_id: str) -> KnowledgeBase:
        async with self._database.read() as stored:
            found = await stored.bases.find(scope.owner_of(base_id), [base_id])
        if not found:
            raise NotFound("There is no such knowledge base.", details={"base_id": base_id})
        return found[0]

    async def browse(self, scope: Scope, page: Page, name: str = "") -> Listed[KnowledgeBase]:
        async with self._database.read() as stored:
            return await stored.bases.browse(scope.tenant_id, page, name=name)

    async def update(
        self,
        scope: Scope,
        base_id: str,
        *,
        name: str | None = None,
        description: str | None = None,
        is_pinned: bool | None = None,
        enrichment: EnrichmentConfig | None = None,
        embedding_model_id: str | None = None,
    ) -> KnowledgeBase:
        """``enrichment`` is for documents to come; `enrich` has those that are there done too.

        Raises `Conflict` for another embedding model once the base holds vectors.
        """
        async with self._database.begin() as stored:
            found = await stored.bases.find(scope.owner_of(base_id), [base_id])
            if not found:
                raise NotFound("There is no such knowledge base.", details={"base_id": base_id})
            base = replace(
                found[0],
                name=found[0].name if name is None else _name(name),
                description=found[0].description if description is None else _description(description),
                is_pinned=found[0].is_pinned if is_pinned is None else is_pinned,
                enrichment=found[0].enrichment if enrichment is None else _enrichment(enrichment),
                updated_at=self._clock(),
            )
            if embedding_model_id is not None:
                base = await self._with_model(stored, scope, base, embedding_model_id)
            await stored.bases.update(scope, base)
        self._jobs.wake()
        return base

    async def _with_model(
        self, stored: Repositories, scope: Scope, base: KnowledgeBase, model_id: str
    ) -> KnowledgeBase:
        if model_id == base.embedding_model_id and not base.own_model_id:
            return base
        own = await self._own_model(stored, scope, model_id)
        if own == base.own_model_id:
            return base
        if models := await stored.chunks.models(replace(scope, include_disabled=True)):
            raise Conflict(
                f"This knowledge base holds vectors of the model {', '.join(sorted(models))}, which vectors of another "
                "one could not be compared with.",
                hint="Make another knowledge base with the new model, and add the documents to it.",
                details={"embedding_model_id": base.own_model_id or base.embedding_model_id},
            )
        await stored.work.add_for_documents(WorkKind.EMBED, self._clock(), self._new_id, base.base_id)
        return replace(base, own_model_id=own, embedding_model_id="")

    async def _own_model(self, stored: Repositories, scope: Scope, model_id: str) -> str:
        """The id of a model of the registry; '' for that of the installation, which has an id too."""
        if model_id in ("", self._model):
            return ""
        entry = await stored.models.get(scope, model_id)
        if entry.kind is not ModelKind.EMBEDDING:
            raise InvalidInput.of("embedding_model_id", f"'{entry.name}' is no embedding model.")
        return entry.model_id

    async def enrich(self, scope: Scope, base_id: str) -> int:
        """Queue what the base's enrichment wants and its documents lack; those that were given up are tried again.

        Returns how many documents were queued.
        """
        base = await self.get(scope, base_id)
        if not base.enrichment.is_wanted:
            raise Conflict(
                "No enrichment is switched on in this knowledge base.", hint="Set its enrichment_config first."
            )
        async with self._database.begin() as stored:
            await stored.enrichments.forget_reasons(scope, base_id)
            queued = await stored.work.add_for_documents(WorkKind.ENRICH, self._clock(), self._new_id, base_id)
        self._jobs.wake()
        return queued

    async def delete(self, scope: Scope, base_id: str) -> None:
        """Hidden at once, with all its documents; taken out of engine, files and database by a worker."""
        ref = BaseRef(base_id=base_id, tenant_id=scope.owner_of(base_id))
        work = Work.new(WorkKind.DELETE_BASE, base_id, of=ref, work_id=self._new_id(), now=self._clock())
        # A scope limited to one document must not take the whole base along.
        whole = replace(scope, bases=(ref,))
        if whole.document_ids is not None or whole.tag_ids is not None:
            raise NotFound("There is no such knowledge base.", details={"base_id": base_id})
        async with self._database.begin() as stored:
            await stored.bases.hide(whole, base_id)
            await stored.work.add(work)
        self._jobs.wake()


def _name(name: str) -> str:
    cleaned = clean_label(name)
    if not cleaned:
        raise InvalidInput.of("name", "A knowledge base needs a name.")
    if len(cleaned) > MAX_NAME_CHARS:
        raise InvalidInput.of("name", f"A name holds at most {MAX_NAME_CHARS} characters.")
    return cleaned


def _description(description: str) -> str:
    if len(description) > MAX_DESCRIPTION_CHARS:
        raise InvalidInput.of("description", f"A description holds at most {MAX_DESCRIPTION_CHARS} characters.")
    return clean(description).strip()


def _enrichment(config: EnrichmentConfig) -> EnrichmentConfig:
    if not 1 <= config.question_count <= MAX_QUESTION_COUNT:
        raise InvalidInput.of("question_count", f"A chunk gets from 1 to {MAX_QUESTION_COUNT} questions.")
    if config.token_budget < 0:
        raise InvalidInput.of("token_budget", "A budget is not negative.", hint="0 is no limit.")
    return config


def _checked(config: ChunkingConfig) -> ChunkingConfig:
    validate_chunking(config)
    for field in ("size", "child_size"):
        if getattr(config, field) < MIN_CHUNK_SIZE:
            raise InvalidInput.of(field, f"A chunk of fewer than {MIN_CHUNK_SIZE} characters says nothing by itself.")
    return config


def _searchable(indexing: IndexingStrategy) -> IndexingStrategy:
    if not (indexing.vector or indexing.keyword):
        hint = "Switch on vector or keyword search, or both."
        raise InvalidInput.of("indexing", "A knowledge base without any search finds nothing.", hint=hint)
    return indexing
