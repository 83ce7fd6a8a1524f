"""Use cases on the entries of FAQ bases."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from opora.domain.errors import Conflict, EngineError, InvalidInput, NotFound
from opora.domain.faq_entry import FaqDraft, FaqRecord, checked_draft
from opora.domain.knowledge import BaseType, KnowledgeBase
from opora.domain.scope import Scope
from opora.index.faq import FaqWriter
from opora.knowledge.tags import checked_tags
from opora.ports import Clock, Database, Embedders, Jobs, Listed, NewId, Page, Repositories, SearchEngine

log = logging.getLogger(__name__)


class Changed(Conflict):
    """Two people edited one entry: it holds both versions."""

    def __init__(self, *, current: FaqRecord, yours: FaqRecord) -> None:
        super().__init__(
            "Somebody changed this entry since you read it.",
            hint="Both versions are in the data. Put together what should stand, and send it with the current state.",
            details={"entry_id": current.entry_id, "state": current.state},
        )
        self.current = current
        self.yours = yours


class FaqEntries:
    """Every call takes a scope of one FAQ base."""

    def __init__(
        self,
        database: Database,
        engine: SearchEngine,
        jobs: Jobs,
        *,
        embedders: Embedders,
        clock: Clock,
        new_id: NewId,
    ) -> None:
        self._database = database
        self._engine = engine
        self._jobs = jobs
        self._embedders = embedders
        self._clock = clock
        self._new_id = new_id

    async def create(self, scope: Scope, base_id: str, draft: FaqDraft) -> FaqRecord:
        """Raises `Conflict` naming the entry that has one of the questions."""
        draft = checked_draft(draft)
        async with self._database.begin() as stored:
            writer = await self._writer(stored, scope, base_id)
            await checked_tags(stored, scope, base_id, draft.tag_ids)
            await self._check_free(stored, scope, base_id, draft)
            (record,) = await writer.add([draft])
        self._jobs.wake()
        return record

    async def get(self, scope: Scope, base_id: str, ref: str) -> FaqRecord:
        """By its id or its number."""
        async with self._database.read() as stored:
            await faq_base(stored, scope, base_id)
            return await _find(stored, scope, base_id, ref)

    async def browse(
        self,
        scope: Scope,
        base_id: str,
        page: Page,
        *,
        tag_id: str = "",
        is_enabled: bool | None = None,
        is_recommended: bool | None = None,
        keyword: str = "",
    ) -> Listed[FaqRecord]:
        async with self._database.read() as stored:
            await faq_base(stored, scope, base_id)
            return await stored.faq.browse(
                scope,
                base_id,
                page,
                tag_id=tag_id,
                is_enabled=is_enabled,
                is_recommended=is_recommended,
                keyword=keyword,
            )

    async def by_ids(self, scope: Scope, base_id: str, entry_ids: Collection[str]) -> dict[str, FaqRecord]:
        async with self._database.read() as stored:
            await faq_base(stored, scope, base_id)
            found = await stored.faq.get_many(scope, base_id, entry_ids=entry_ids)
        return {record.entry_id: record for record in found}

    async def update(
        self, scope: Scope, base_id: str, ref: str, change: Callable[[FaqDraft], FaqDraft], *, state: str = ""
    ) -> FaqRecord:
        """The entry as ``change`` makes it of what is kept now; only what is new in it is embedded.

        ``state`` is that of the entry which was edited, '' for whatever is kept. Raises `Changed` where somebody else
        changed it first, and `Conflict` naming the entry that has one of the questions.
        """
        async with self._database.begin() as stored:
            writer = await self._writer(stored, scope, base_id)
            before = await _find(stored, scope, base_id, ref)
            draft = checked_draft(change(before.draft))
            if state not in ("", before.state):
                raise Changed(current=before, yours=replace(before, draft=draft))
            if draft.tag_ids != before.draft.tag_ids:
                await checked_tags(stored, scope, base_id, draft.tag_ids)
            await self._check_free(stored, scope, base_id, draft, but=before.entry_id)
            record = replace(before, draft=draft, updated_at=writer.now)
            await self._change(writer, {record.entry_id: record}, [before])
        await self._tell(scope, base_id, [record])
        return record

    async def update_many(
        self, scope: Scope, base_id: str, changes: Mapping[str, Callable[[FaqDraft], FaqDraft]]
    ) -> list[FaqRecord]:
        """Switches and tags of several entries by id or number; none is changed when one is not there."""
        async with self._database.begin() as stored:
            writer = await self._writer(stored, scope, base_id)
            earlier = await _find_all(stored, scope, base_id, list(changes))
            records: dict[str, FaqRecord] = {}
            new_tags: dict[tuple[str, ...], None] = {}
            for before, change in zip(earlier, changes.values(), strict=True):
                before = records.get(before.entry_id, before)
                draft = checked_draft(change(before.draft))
                if draft.tag_ids != before.draft.tag_ids:
                    new_tags[draft.tag_ids] = None
                records[before.entry_id] = replace(before, draft=draft, updated_at=writer.now)
            for tag_ids in new_tags:
                await checked_tags(stored, scope, base_id, tag_ids)
            await self._change(writer, records, earlier)
        await self._tell(scope, base_id, list(records.values()))
        return list(records.values())

    async def delete(self, scope: Scope, base_id: str, refs: Collection[str]) -> list[str]:
        """Ids of what was taken out; raises `NotFound` when one is not there, and takes out none."""
        async with self._database.begin() as stored:
            writer = await self._writer(stored, scope, base_id)
            found = await _find_all(stored, scope, base_id, list(refs))
            gone = list(dict.fromkeys(record.entry_id for record in found))
            await writer.remove(gone)
        self._jobs.wake()
        return gone

    async def _change(self, writer: FaqWriter, records: Mapping[str, FaqRecord], before: Sequence[FaqRecord]) -> None:
        await writer.change(records)
        if any(_switches(records[one.entry_id].draft) != _switches(one.draft) for one in before):
            await writer.rewrite()

    async def _tell(self, scope: Scope, base_id: str, records: Sequence[FaqRecord]) -> None:
        """Switches and tags at once; a worker tells them again, should this process die before."""
        whole = replace(scope, include_disabled=True)
        async with self._database.read() as stored:
            forms = await stored.chunks.forms(whole, [record.entry_id for record in records])
        rows = [row for owned in forms.values() for row in owned]
        try:
            await self._engine.set_enabled(scope, base_id, {row.chunk_id: row.enabled for row in rows})
            await self._engine.set_tags(scope, base_id, {row.chunk_id: row.tag_ids for row in rows})
        except EngineError as error:
            log.warning("The engine is told later that entries of %s changed: %s", base_id, error)
        self._jobs.wake()

    async def _writer(self, stored: Repositories, scope: Scope, base_id: str) -> FaqWriter:
        base = await faq_base(stored, scope, base_id)
        embedder = await self._embedders.of(base)
        return FaqWriter(
            stored=stored,
            scope=replace(scope, include_disabled=True),
            base=base,
            model=None if embedder is None else embedder.card.identity,
            now=self._clock(),
            new_id=self._new_id,
        )

    async def _check_free(
        self, stored: Repositories, scope: Scope, base_id: str, draft: FaqDraft, *, but: str = ""
    ) -> None:
        held = await stored.faq.holders(scope, base_id, draft.hashes)
        other = next((held[mark] for mark in draft.hashes if held.get(mark, but) != but), None)
        if other is not None:
            raise Conflict(
                "The base has an entry with this question already.",
                hint="The existing entry is named in the details.",
                details={"entry_id": other},
            )


def _switches(draft: FaqDraft) -> tuple[bool, tuple[str, ...]]:
    """What an engine knows of a row beside its text: only a change of these has to be told to kept rows."""
    return draft.is_enabled, draft.tag_ids


async def faq_base(stored: Repositories, scope: Scope, base_id: str) -> KnowledgeBase:
    """Raises `InvalidInput` for a base of another type."""
    found = await stored.bases.find(scope.owner_of(base_id), [base_id])
    if not found:
        raise NotFound("There is no such knowledge base.", details={"base_id": base_id})
    if found[0].base_type is not BaseType.FAQ:
        raise InvalidInput.of("base_id", "This knowledge base is not of type faq.", hint="Make one with type 'faq'.")
    return found[0]


async def _find(stored: Repositories, scope: Scope, base_id: str, ref: str) -> FaqRecord:
    return (await _find_all(stored, scope, base_id, [ref]))[0]


async def _find_all(stored: Repositories, scope: Scope, base_id: str, refs: Sequence[str]) -> list[FaqRecord]:
    """The entries by their ids or numbers, in this order; raises `NotFound` for the first that is not there."""
    numbers = {ref: int(ref) for ref in refs if ref.isascii() and ref.isdigit() and len(ref) < 18}
    ids = [ref for ref in refs if ref not in numbers]
    found = await stored.faq.get_many(scope, base_id, entry_ids=ids, seq_ids=set(numbers.values()))
    by_id = {record.entry_id: record for record in found}
    by_number = {record.seq_id: record for record in found}
    records: list[FaqRecord] = []
    for ref in refs:
        record = by_number.get(numbers[ref]) if ref in numbers else by_id.get(ref)
        if record is None:
            raise NotFound("There is no such entry.", details={"entry_id": ref})
        records.append(record)
    return records
