"""Has a chat model describe a base by the titles and descriptions of its documents, where nobody has described it."""

from __future__ import annotations

import logging
from dataclasses import replace

from opora.domain.enrichment import EnrichmentConfig
from opora.domain.errors import OporaError
from opora.domain.knowledge import Document
from opora.domain.work import Work
from opora.ingest.enrich.replies import read_text
from opora.jobs.desk import OPTIONS
from opora.jobs.ground import Ground
from opora.ports import ChatMessage, Page
from opora.prompt.escape import escape_text
from opora.prompt.library import LANGUAGE_NAMES, template_text
from opora.prompt.placeholders import render
from opora.text.language import detect_language

log = logging.getLogger(__name__)

SHOWN = 50
"""How many documents the model is shown, newest first."""
DESCRIPTION_CHARS = 200
MAX_CHARS = 500


async def describe_base(ground: Ground, work: Work) -> None:
    """A model that fails leaves the base without a description; the next document asks again."""
    scope = ground.scope_of(work.tenant_id, work.base_id)
    description = ""
    async with ground.database.read() as stored:
        bases = await stored.bases.find(work.tenant_id, [work.base_id])
        shown = (await stored.documents.browse(scope, Page(page=1, page_size=SHOWN))).items if bases else ()
    if ground.writer is not None and shown and _is_wanted(bases[0].enrichment, bases[0].description):
        listed = "\n".join(_line(document) for document in shown)
        language = detect_language(listed)
        values = {"content": escape_text(listed), "language": LANGUAGE_NAMES.get(language, LANGUAGE_NAMES["en"])}
        prompt = render(template_text("generate_kb_description", language=language), values)
        try:
            asked = [ChatMessage(role="user", content=prompt)]
            reply = "".join([delta.content async for delta in ground.writer.stream(asked, OPTIONS)])
            description = read_text(reply, limit=MAX_CHARS)
        except OporaError as error:
            log.warning("The base %s was not described: %s", work.base_id, error)
    async with ground.database.begin() as stored:
        await ground.hold(stored, work)
        await stored.work.finish(work.work_id)
        bases = await stored.bases.find(work.tenant_id, [work.base_id])
        if description and bases and not bases[0].description:
            await stored.bases.update(scope, replace(bases[0], description=description))


def _is_wanted(config: EnrichmentConfig, description: str) -> bool:
    return config.base_description and not description


def _line(document: Document) -> str:
    about = " ".join(document.description.split())[:DESCRIPTION_CHARS]
    return f"- {document.title}: {about}" if about else f"- {document.title}"
