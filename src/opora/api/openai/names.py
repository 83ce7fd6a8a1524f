"""What a request means by the name of its model: knowledge bases, which a header may name too, and a chat model."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator

from opora.api.envelope import MAX_ID_CHARS, MAX_PAGE_SIZE
from opora.api.principal import App
from opora.chat.registry import EXTRACTIVE
from opora.domain.errors import InvalidInput, NotFound
from opora.domain.knowledge import KnowledgeBase
from opora.domain.models import ModelEntry, ModelKind
from opora.domain.scope import Principal, Scope
from opora.ports import Page

EVERYTHING = "opora"
"""The model over all bases of the caller; ``opora:NAME`` or ``opora:ID`` is the one over a base."""
HEADER = "X-Knowledge-Base-IDs"
_OF_ONE = f"{EVERYTHING}:"
_BY = f"@{EVERYTHING}"
"""Stands between a chat model and the bases: ``CHAT@opora``, ``CHAT@opora:NAME``."""


async def asked(app: App, caller: Principal, model: str, header: str) -> tuple[Scope, str]:
    """The scope and the id of the chat model, '' for that of the installation.

    Raises `NotFound` for a model or base that is not there for the caller, `InvalidInput` for a name of several.
    """
    chat, bases = _parts(model)
    scope = await scope_of(app, caller, bases, header)
    ready = {EXTRACTIVE, *(one["id"] for one in app.models() if one["type"] == ModelKind.CHAT)}
    if not chat or chat in ready:
        return scope, chat
    return scope, (await entry_of(app, caller, ModelKind.CHAT, chat)).model_id


def _parts(model: str) -> tuple[str, str]:
    """The names of the chat model, '' for none, and of what is asked."""
    if model == EVERYTHING or model.startswith(_OF_ONE):
        return "", model
    chat, mark, rest = model.partition(_BY)
    return (chat, f"{EVERYTHING}{rest}") if chat and mark else ("", model)


async def entry_of(app: App, caller: Principal, kind: ModelKind, name: str) -> ModelEntry:
    """The model of the registry by its id or its name. Raises `NotFound` where there is none."""
    entry: ModelEntry | None = await app.registry.named(await app.access.tenant(caller), kind, name)
    if entry is None:
        raise NotFound("There is no such model.")
    return entry


async def entries_of(app: App, caller: Principal) -> list[tuple[str, int]]:
    """Names of the registry's models as `asked` and `entry_of` take them, each with when it was kept, in seconds."""
    entries = await app.registry.all(await app.access.tenant(caller))
    shared = Counter((entry.kind, entry.name) for entry in entries)
    named = []
    for entry in entries:
        name = entry.name if shared[entry.kind, entry.name] == 1 and _BY not in entry.name else entry.model_id
        is_chat = entry.kind is ModelKind.CHAT
        named.append((f"{name}{_BY}" if is_chat else name, int(entry.created_at.timestamp())))
    return named


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
