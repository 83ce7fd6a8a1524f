"""Which knowledge bases a request means: by the name of its model, or by a header."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator

from opora.api.envelope import MAX_ID_CHARS, MAX_PAGE_SIZE
from opora.api.principal import App
from opora.domain.errors import InvalidInput, NotFound
from opora.domain.knowledge import KnowledgeBase
from opora.domain.scope import Principal, Scope
from opora.ports import Page

EVERYTHING = "opora"
"""The model over all bases of the caller; ``opora:NAME`` or ``opora:ID`` is the one over a base."""
HEADER = "X-Knowledge-Base-IDs"
_OF_ONE = f"{EVERYTHING}:"


async def scope_of(app: App, caller: Principal, model: str, header: str) -> Scope:
    """Raises `NotFound` for a model or base that is not there for the caller, `InvalidInput` for a name of several."""
    if model != EVERYTHING and not model.startswith(_OF_ONE):
        raise NotFound("There is no such model.")
    ids = [one.strip() for one in header.split(",") if one.strip()]
    if any(len(one) > MAX_ID_CHARS for one in ids):
        raise NotFound("This is not an id.")
    if not ids and model != EVERYTHING:
        ids = [await _base_of(app, caller, model.removeprefix(_OF_ONE))]
    scope: Scope = await app.access.bases(caller, ids or None)
    return scope


async def models_of(app: App, caller: Principal) -> list[tuple[str, int]]:
    """Names of the models that answer questions, each with when it was made, in seconds; ids where names are shared."""
    bases = [base async for base in _bases(app, caller)]
    shared = Counter(base.name for base in bases)
    named = [
        (f"{_OF_ONE}{base.name if shared[base.name] == 1 else base.base_id}", int(base.created_at.timestamp()))
        for base in bases
    ]
    return [(EVERYTHING, 0), *named]


async def _base_of(app: App, caller: Principal, name: str) -> str:
    found = [base.base_id async for base in _bases(app, caller, name=name) if base.name == name]
    if len(found) > 1:
        raise InvalidInput.of(
            "model",
            f"{len(found)} knowledge bases have this name.",
            hint=f"Name one by its id: {', '.join(_OF_ONE + one for one in found)}.",
        )
    return found[0] if found else name


async def _bases(app: App, caller: Principal, *, name: str = "") -> AsyncIterator[KnowledgeBase]:
    scope = await app.access.tenant(caller)
    page = Page(page_size=MAX_PAGE_SIZE)
    while True:
        listed = await app.bases.browse(scope, page, name=name)
        for base in listed.items:
            yield base
        if page.offset + len(listed.items) >= listed.total or not listed.items:
            return
        page = Page(page=page.page + 1, page_size=MAX_PAGE_SIZE)
