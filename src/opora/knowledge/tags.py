"""Use cases on tags: keep them, put them on documents, take them off everything."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from opora.domain.errors import Conflict, EngineError, InvalidInput, NotFound
from opora.domain.knowledge import BaseType, Document
from opora.domain.scope import Scope
from opora.domain.tags import Tag, Tagged
from opora.domain.work import Work, WorkKind
from opora.knowledge.intake import visible
from opora.ports import Clock, Database, Jobs, NewId, Repositories, SearchEngine
from opora.text.names import clean_label

log = logging.getLogger(__name__)

MAX_NAME_CHARS = 100
MAX_COLOR_CHARS = 32
MAX_TAGS_OF_DOCUMENT = 50


class Tags:
    """The database decides at once; the engine is told at once too, and again by a worker."""

    def __init__(self, database: Database, engine: SearchEngine, jobs: Jobs, *, clock: Clock, new_id: NewId) -> None:
        self._database = database
        self._engine = engine
        self._jobs = jobs
        self._clock = clock
        self._new_id = new_id

    async def browse(self, scope: Scope, base_id: str) -> list[Tagged]:
        async with self._database.read() as stored:
            return await stored.tags.browse(scope, base_id)

    async def create(self, scope: Scope, base_id: str, *, name: str, color: str = "", position: int = 0) -> Tag:
        """Raises `Conflict` naming the tag of the base that has this name."""
        now = self._clock()
        tag = Tag(
            tag_id=self._new_id(),
            tenant_id=scope.owner_of(base_id),
            base_id=base_id,
            name=checked_name(name),
            color=_color(color),
            position=position,
            created_at=now,
            updated_at=now,
        )
        async with self._database.begin() as stored:
            await _check_free(stored, scope, tag)
            await stored.tags.add(scope, tag)
        return tag

    async def update(
        self,
        scope: Scope,
        base_id: str,
        tag_id: str,
        *,
        name: str | None = None,
        color: str | None = None,
        position: int | None = None,
    ) -> Tag:
        async with self._database.begin() as stored:
            before = await _of_base(stored, scope, base_id, tag_id)
            tag = replace(
                before,
                name=before.name if name is None else checked_name(name),
                color=before.color if color is None else _color(color),
                position=before.position if position is None else position,
                updated_at=self._clock(),
            )
            await _check_free(stored, scope, tag)
            await stored.tags.update(scope, tag)
        return tag

    async def delete(self, scope: Scope, base_id: str, tag_id: str) -> None:
        """Taken off every document and entry of its base."""
        async with self._database.begin() as stored:
            tag = await _of_base(stored, scope, base_id, tag_id)
            left, document_ids = await stored.tags.take_off(scope, tag)
            await stored.tags.delete(scope, tag_id)
            for document_id in sorted(document_ids):
                await stored.work.add(self._rewrite(tag, document_id))
        await self._tell(scope, base_id, left)

    async def put_on(self, scope: Scope, tag_ids_by_document: Mapping[str, Sequence[str]]) -> list[Document]:
        """Give documents exactly these tags, which their chunks have too; none is changed where a tag is not there."""
        told: list[tuple[str, dict[str, tuple[str, ...]]]] = []
        documents: list[Document] = []
        async with self._database.begin() as stored:
            for document_id, given in tag_ids_by_document.items():
                document = visible(await stored.documents.get(scope, document_id))
                document, rows = await put_tags(stored, scope, document, given)
                documents.append(document)
                await stored.work.add(self._rewrite(document, document_id))
                told.append((document.base_id, rows))
        for base_id, rows_of_base in told:
            await self._tell(scope, base_id, rows_of_base)
        return documents

    async def _tell(self, scope: Scope, base_id: str, tags: Mapping[str, tuple[str, ...]]) -> None:
        try:
            if tags:
                await self._engine.set_tags(scope, base_id, tags)
        except EngineError as error:
            log.warning("The engine is told later that tags in %s changed: %s", base_id, error)
        self._jobs.wake()

    def _rewrite(self, of: Tag | Document, document_id: str) -> Work:
        return Work.new(WorkKind.REINDEX, document_id, of=of, work_id=self._new_id(), now=self._clock())


async def put_tags(
    stored: Repositories, scope: Scope, document: Document, given: Collection[str]
) -> tuple[Document, dict[str, tuple[str, ...]]]:
    """Give a document exactly these tags; returns it, and what the engine is to be told of its searched rows."""
    tag_ids = await fitting_tags(stored, scope, document, given)
    rows = await stored.tags.set_on_document(scope, document.document_id, tag_ids)
    return replace(document, tag_ids=tag_ids), {key: tag_ids for key, is_searched in rows.items() if is_searched}


async def fitting_tags(
    stored: Repositories, scope: Scope, document: Document, given: Collection[str]
) -> tuple[str, ...]:
    """The tags as the document may have them; raises `InvalidInput` for one that is not there, and in a FAQ."""
    await _check_taggable(stored, document)
    return await checked_tags(stored, scope, document.base_id, given)


async def checked_tags(stored: Repositories, scope: Scope, base_id: str, tag_ids: Collection[str]) -> tuple[str, ...]:
    """Each once, in the given order. Raises `InvalidInput` naming one that the base does not have."""
    wanted = tuple(dict.fromkeys(tag_ids))
    if len(wanted) > MAX_TAGS_OF_DOCUMENT:
        raise InvalidInput.of("tag_ids", f"At most {MAX_TAGS_OF_DOCUMENT} tags are put on one thing.")
    known = {one.tag.tag_id for one in await stored.tags.browse(scope, base_id)} if wanted else set()
    for tag_id in wanted:
        if tag_id not in known:
            raise InvalidInput.of("tag_ids", f"This knowledge base has no tag '{tag_id}'.", hint="List its tags.")
    return wanted


async def _check_taggable(stored: Repositories, document: Document) -> None:
    bases = await stored.bases.find(document.tenant_id, [document.base_id])
    if bases and bases[0].base_type is BaseType.FAQ:
        raise InvalidInput.of("tag_ids", "Tags of a FAQ are put on its entries.", hint="Use the entries' routes.")


async def _of_base(stored: Repositories, scope: Scope, base_id: str, tag_id: str) -> Tag:
    tag = await stored.tags.get(scope, tag_id)
    if tag.base_id != base_id:
        raise NotFound("There is no such tag.", details={"tag_id": tag_id})
    return tag


async def _check_free(stored: Repositories, scope: Scope, tag: Tag) -> None:
    other = await stored.tags.by_name(scope, tag.base_id, tag.name)
    if other is not None and other.tag_id != tag.tag_id:
        raise Conflict(
            f"The knowledge base has a tag '{other.name}' already.",
            hint="It is named in the details.",
            details={"tag_id": other.tag_id},
        )


def checked_name(name: str) -> str:
    cleaned = clean_label(name)
    if not cleaned:
        raise InvalidInput.of("name", "A tag needs a name.")
    if len(cleaned) > MAX_NAME_CHARS:
        raise InvalidInput.of("name", f"A tag's name has at most {MAX_NAME_CHARS} characters.")
    return cleaned


def _color(color: str) -> str:
    cleaned = clean_label(color)
    if len(cleaned) > MAX_COLOR_CHARS:
        raise InvalidInput.of("color", f"A colour has at most {MAX_COLOR_CHARS} characters.")
    return cleaned
