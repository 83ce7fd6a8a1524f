"""Names of knowledge bases: one line, one base a name in each tenant, whatever its case."""

from __future__ import annotations

from opora.domain.errors import Conflict, InvalidInput
from opora.domain.knowledge import KnowledgeBase
from opora.ports import Repositories
from opora.text.names import clean_label, numbered_names

MAX_NAME_CHARS = 200


def checked_name(name: str) -> str:
    cleaned = clean_label(name)
    if not cleaned:
        raise InvalidInput.of("name", "A knowledge base needs a name.")
    if len(cleaned) > MAX_NAME_CHARS:
        raise InvalidInput.of("name", f"A name holds at most {MAX_NAME_CHARS} characters.")
    return cleaned


async def check_name(stored: Repositories, base: KnowledgeBase) -> None:
    """Inside a writing transaction, of which there is one at a time: two bases can't take a name together."""
    others = [one for one in await stored.bases.by_name(base.tenant_id, base.name) if one.base_id != base.base_id]
    if others:
        raise Conflict(
            f"There is a knowledge base called '{others[0].name}' already.",
            hint="Take another name, or use the one that is there.",
            details={"base_id": others[0].base_id},
        )


async def free_name(stored: Repositories, tenant_id: str, name: str) -> str:
    """The name, or with the first number behind it that makes it one of its own."""
    if not await stored.bases.by_name(tenant_id, name):
        return name
    for candidate in numbered_names(name, most=MAX_NAME_CHARS):
        if not await stored.bases.by_name(tenant_id, candidate):
            return candidate
    raise AssertionError("numbers do not end")
