"""Use cases on knowledge bases."""

from __future__ import annotations

from dataclasses import replace

from opora.domain.enrichment import EnrichmentConfig
from opora.domain.errors import Conflict, InvalidInput, NotFound
from opora.domain.knowledge import BaseType, ChunkingConfig, FaqConfig, IndexingStrategy, KnowledgeBase
from opora.domain.models import ModelKind
from opora.domain.scope import BaseRef, Scope
from opora.domain.work import Work, WorkKind
from opora.knowledge.base_names import check_name, checked_name, free_name
from opora.knowledge.base_settings import Fixed, checked_chunking, checked_enrichment, checked_indexing
from opora.ports import Clock, Database, Jobs, Listed, NewId, Page, Repositories
from opora.text.fold import clean, fold

MAX_DESCRIPTION_CHARS = 2_000


class Bases:
    def __init__(
        self, database: Database, jobs: Jobs, *, clock: Clock, new_id: NewId, store: str = "", model: str = ""
    ) -> None:
        """``store`` is the name of the search engine that holds bases which name none, ``model`` the identity of the
        installation's embedding model, '' without one."""
        self._database = database
        self._jobs = jobs
        self._clock = clock
        self._new_id = new_id
        self._model = model
        self._store = store

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
        vector_store_id: str = "",
        embedding_model_id: str = "",
    ) -> KnowledgeBase:
        """``embedding_model_id`` is an embedding model of the registry; '' takes that of the installation.

        Raises `NotFound` for an unknown one, and `Conflict` with ``details['base_id']`` for a name that another base
        of the tenant has, case aside.
        """
        now = self._clock()
        base = KnowledgeBase(
            base_id=self._new_id(),
            tenant_id=scope.tenant_id,
            name=checked_name(name),
            base_type=base_type,
            description=_description(description),
            chunking=checked_chunking(chunking or ChunkingConfig()),
            indexing=checked_indexing(indexing or IndexingStrategy()),
            faq=faq or FaqConfig(),
            enrichment=checked_enrichment(enrichment or EnrichmentConfig()),
            vector_store_id=self._checked_store(vector_store_id),
            created_at=now,
            updated_at=now,
        )
        async with self._database.begin() as stored:
            await check_name(stored, base)
            base = replace(base, own_model_id=await self._own_model(stored, scope, embedding_model_id))
            await stored.bases.add(base)
        return base

    async def get(self, scope: Scope, base_id: str) -> KnowledgeBase:
        async with self._database.read() as stored:
            return await _found(stored, scope, base_id)

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
        chunking: ChunkingConfig | None = None,
        indexing: IndexingStrategy | None = None,
        fixed: Fixed | None = None,
    ) -> KnowledgeBase:
        """``enrichment`` is for documents to come; `enrich` has those that are there done too. ``chunking`` is for
        documents to come, and for those that are read anew.

        Raises `Conflict` for a name that is taken, for ``fixed`` that are not what the base has, and for another
        embedding model once the base holds vectors.
        """
        async with self._database.begin() as stored:
            before = await _found(stored, scope, base_id)
            (fixed or Fixed()).check(before, self._store)
            base = replace(
                before,
                name=before.name if name is None else checked_name(name),
                description=before.description if description is None else _description(description),
                is_pinned=before.is_pinned if is_pinned is None else is_pinned,
                enrichment=before.enrichment if enrichment is None else checked_enrichment(enrichment),
                chunking=before.chunking if chunking is None else checked_chunking(chunking),
                indexing=before.indexing if indexing is None else checked_indexing(indexing),
                updated_at=self._clock(),
            )
            if fold(base.name) != fold(before.name):
                await check_name(stored, base)
            if embedding_model_id is not None:
                base = await self._with_model(stored, scope, base, embedding_model_id)
            await stored.bases.update(scope, base)
            await self._index_anew(stored, before, base)
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

    async def _index_anew(self, stored: Repositories, before: KnowledgeBase, base: KnowledgeBase) -> None:
        """Words and vectors that a search asks for from now on are written for the documents that are there."""
        if base.indexing.keyword != before.indexing.keyword:
            await stored.work.add_for_documents(WorkKind.REINDEX, self._clock(), self._new_id, base.base_id)
        if base.indexing.graph != before.indexing.graph:
            await stored.work.add_for_documents(WorkKind.GRAPH, self._clock(), self._new_id, base.base_id)
        if base.indexing.vector and not before.indexing.vector:
            await stored.work.add_for_documents(WorkKind.EMBED, self._clock(), self._new_id, base.base_id)

    async def duplicate(self, scope: Scope, base_id: str, *, name: str | None = None) -> KnowledgeBase:
        """Another base with the same settings and nothing in it; without a name, the next free one of the kind."""
        now = self._clock()
        async with self._database.begin() as stored:
            source = await _found(stored, scope, base_id)
            base = replace(
                source,
                base_id=self._new_id(),
                name=await free_name(stored, source.tenant_id, source.name) if name is None else checked_name(name),
                # Whose vectors a base holds is settled by its first ones.
                embedding_model_id="",
                is_pinned=False,
                created_at=now,
                updated_at=now,
            )
            await check_name(stored, base)
            await stored.bases.add(base)
        return base

    def _checked_store(self, name: str) -> str:
        """'' for the installation's own store, so that a base goes with it when another engine is configured."""
        if name in ("", self._store):
            return ""
        raise InvalidInput.of("vector_store_id", f"There is no store {name!r}.", hint=f"This one has {self._store!r}.")

    async def enrich(self, scope: Scope, base_id: str) -> int:
        """Queue what the base's enrichment wants and its documents lack; those that were given up are tried again.

        Returns how many documents were queued.
        """
        base = await self.get(scope, base_id)
        if not base.is_enriched:
            raise Conflict(
                "No enrichment is switched on in this knowledge base.",
                hint="Set its enrichment_config, or graph in its indexing_strategy, first.",
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


async def _found(stored: Repositories, scope: Scope, base_id: str) -> KnowledgeBase:
    found = await stored.bases.find(scope.owner_of(base_id), [base_id])
    if not found:
        raise NotFound("There is no such knowledge base.", details={"base_id": base_id})
    return found[0]


def _description(description: str) -> str:
    if len(description) > MAX_DESCRIPTION_CHARS:
        raise InvalidInput.of("description", f"A description holds at most {MAX_DESCRIPTION_CHARS} characters.")
    return clean(description).strip()
