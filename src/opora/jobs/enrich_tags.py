"""Has a model choose the tags of a document: among those of its base, and new ones where the base allows it."""

from __future__ import annotations

from opora.domain.enrichment import MAX_CHOSEN_TAGS, Enrichment, EnrichmentStep
from opora.domain.tags import Tag
from opora.domain.work import WorkKind
from opora.ingest.enrich.excerpt import excerpt
from opora.ingest.enrich.replies import read_tags
from opora.jobs.desk import Desk
from opora.ports import Repositories
from opora.prompt.library import template_text

EXCERPT_TOKENS = 2_000
"""How much of a document a model is shown for its tags."""
SHOWN_TAGS = 200
MOST_ON_DOCUMENT = 50


async def choose_tags(desk: Desk, state: Enrichment) -> Enrichment:
    """Tags are added to those that people put on, and none is taken off. Without any to choose, no model is asked."""
    config = desk.base.enrichment
    async with desk.ground.database.read() as stored:
        there = [one.tag.name for one in await stored.tags.browse(desk.scope, desk.base.base_id)][:SHOWN_TAGS]
    chosen: tuple[str, ...] = ()
    if there or config.new_tags:
        values = {
            "title": desk.document.title,
            "content": excerpt([chunk.search_text for chunk in desk.chunks], EXCERPT_TOKENS),
            "tags": "\n".join(there),
            "count": str(MAX_CHOSEN_TAGS),
            "new_tags": _allowance(desk) if config.new_tags else "",
        }
        reply, state = await desk.ask("generate_tags", values, state)
        chosen = read_tags(reply, there, may_be_new=config.new_tags)
    async with desk.ground.database.begin() as stored:
        state = await desk.save(stored, state, done=EnrichmentStep.TAGS)
        if chosen:
            await _put_on(desk, stored, chosen)
    return state


async def _put_on(desk: Desk, stored: Repositories, names: tuple[str, ...]) -> None:
    document = await stored.documents.get(desk.scope, desk.document.document_id)
    own = [tag.tag_id for name in names if (tag := await _tag(desk, stored, name)) is not None]
    tag_ids = tuple(dict.fromkeys((*document.tag_ids, *own)))[:MOST_ON_DOCUMENT]
    if tag_ids != document.tag_ids:
        await stored.tags.set_on_document(desk.scope, document.document_id, tag_ids)
        await stored.work.add(desk.ground.follow_up(desk.work, WorkKind.REINDEX))


async def _tag(desk: Desk, stored: Repositories, name: str) -> Tag | None:
    """The tag of this name. One that is not there is made where the base allows new ones; else somebody took it out
    while the model thought about it."""
    there = await stored.tags.by_name(desk.scope, desk.base.base_id, name)
    if there is not None or not desk.base.enrichment.new_tags:
        return there
    now = desk.ground.clock()
    tag = Tag(
        tag_id=desk.ground.new_id(),
        tenant_id=desk.base.tenant_id,
        base_id=desk.base.base_id,
        name=name,
        created_at=now,
        updated_at=now,
    )
    await stored.tags.add(desk.scope, tag)
    return tag


def _allowance(desk: Desk) -> str:
    return template_text("generate_tags", "new_tags", language=desk.language)
