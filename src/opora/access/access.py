"""Decides once, before anything is read, who asks and what they may touch."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from opora.domain.errors import Forbidden, NotFound, Unauthenticated
from opora.domain.filters import Filter
from opora.domain.scope import LOCAL_PRINCIPAL, BaseRef, Principal, Scope
from opora.ports import Database

WORKER_USER_ID = "worker"


class Access:
    """Keys are kept as digests only. Without any key there is one local principal, who owns everything."""

    def __init__(self, database: Database, *, api_keys: Mapping[str, Principal] | None = None) -> None:
        self._database = database
        self._principals = {_digest(key): principal for key, principal in (api_keys or {}).items()}

    def authenticate(self, api_key: str | None) -> Principal:
        """Raises `Unauthenticated` when keys are configured and this is none of them."""
        if not self._principals:
            return LOCAL_PRINCIPAL
        principal = self._principals.get(_digest(api_key)) if api_key else None
        if principal is None:
            hint = "Send a configured key in the header X-API-Key, or as 'Authorization: Bearer'."
            raise Unauthenticated("This server needs an API key.", hint=hint)
        return principal

    async def tenant(self, principal: Principal) -> Scope:
        """For what belongs to a user or a tenant and to no base: sessions, messages, making a base."""
        return Scope(principal=principal)

    def history(self, scope: Scope) -> Scope:
        """The caller's own rounds in the search engine: a base that stands in no list and in no other scope."""
        mine = hashlib.sha256(f"{scope.tenant_id}\0{scope.principal.user_id}".encode("utf-8", "surrogatepass"))
        ref = BaseRef(base_id=f"history-{mine.hexdigest()[:40]}", tenant_id=scope.tenant_id)
        return Scope(principal=scope.principal, bases=(ref,))

    async def bases(
        self,
        principal: Principal,
        base_ids: Sequence[str] | None = None,
        *,
        document_ids: Collection[str] | None = None,
        tag_ids: Collection[str] | None = None,
        folder: str | None = None,
        fits: Filter | None = None,
        include_disabled: bool = False,
    ) -> Scope:
        """The given bases, or all of the tenant's; raises `NotFound` (or `Forbidden`) when one is not theirs.

        ``folder`` and ``fits`` leave the documents that lie in a folder and that a filter lets through.
        """
        async with self._database.read() as stored:
            if base_ids is None:
                refs = await stored.bases.refs(tenant_id=principal.tenant_id)
            else:
                refs = _owned(principal, base_ids, await stored.bases.refs(base_ids=base_ids))
            if tag_ids is not None:
                whole = Scope(principal=principal, bases=tuple(refs))
                _check_tags(tag_ids, await stored.tags.known(whole, tag_ids))
            scope = Scope(
                principal=principal,
                bases=tuple(refs),
                document_ids=None if document_ids is None else frozenset(document_ids),
                tag_ids=None if tag_ids is None else frozenset(tag_ids),
                include_disabled=include_disabled,
            )
            if not folder and fits is None:
                return scope
            left = await stored.documents.fitting(scope, folder=folder or "", fits=fits)
        is_filtered = document_ids is None and not folder
        return replace(scope, document_ids=left, is_filtered=is_filtered)

    async def document(self, principal: Principal, document_id: str, *, include_disabled: bool = True) -> Scope:
        """One document and nothing else of its base."""
        async with self._database.read() as stored:
            base_id = await stored.documents.owner(principal.tenant_id, document_id)
        return self._one(principal, base_id, document_id, include_disabled)

    async def documents(self, principal: Principal, document_ids: Sequence[str]) -> Scope:
        """Several documents and nothing else of their bases; raises `NotFound` naming one that is not there."""
        async with self._database.read() as stored:
            owners = await stored.documents.owners(principal.tenant_id, document_ids)
        for document_id in document_ids:
            if document_id not in owners:
                raise NotFound("There is no such document.", details={"document_id": document_id})
        refs = [BaseRef(base_id=base_id, tenant_id=principal.tenant_id) for base_id in sorted(set(owners.values()))]
        return Scope(
            principal=principal, bases=tuple(refs), document_ids=frozenset(document_ids), include_disabled=True
        )

    async def chunk(self, principal: Principal, chunk_id: str) -> Scope:
        """The document that holds the chunk, disabled chunks too: whoever switches one on must see it."""
        async with self._database.read() as stored:
            try:
                base_id, document_id = await stored.chunks.owner(principal.tenant_id, chunk_id)
            except NotFound:
                # An earlier state of an edited chunk: what was cited by it can still be shown.
                base_id, document_id = await stored.revisions.owner(principal.tenant_id, chunk_id)
        return self._one(principal, base_id, document_id, True)

    async def faq_import(self, principal: Principal, task_id: str) -> Scope:
        """The base that an import goes to."""
        async with self._database.read() as stored:
            base_id = await stored.faq.import_base(principal.tenant_id, task_id)
        return await self.bases(principal, [base_id], include_disabled=True)

    def worker(self, tenant_id: str, base_id: str) -> Scope:
        """For work that waits in the database and was authorised when it was queued: the whole of one base."""
        principal = Principal(tenant_id=tenant_id, user_id=WORKER_USER_ID)
        return Scope(principal=principal, bases=(BaseRef(base_id=base_id, tenant_id=tenant_id),), include_disabled=True)

    def _one(self, principal: Principal, base_id: str, document_id: str, include_disabled: bool) -> Scope:
        scope = self.worker(principal.tenant_id, base_id)
        return replace(
            scope, principal=principal, document_ids=frozenset({document_id}), include_disabled=include_disabled
        )


def _check_tags(tag_ids: Collection[str], known: Collection[str]) -> None:
    """A search limited to a tag that is gone would find nothing, and nobody would know why."""
    for tag_id in tag_ids:
        if tag_id not in known:
            raise NotFound("There is no such tag.", details={"tag_id": tag_id})


def _owned(principal: Principal, base_ids: Sequence[str], refs: Sequence[BaseRef]) -> list[BaseRef]:
    by_id = {ref.base_id: ref for ref in refs}
    owned: dict[str, BaseRef] = {}
    for base_id in base_ids:
        ref = by_id.get(base_id)
        if ref is None:
            raise NotFound("There is no such knowledge base.", details={"base_id": base_id})
        if ref.tenant_id != principal.tenant_id:
            raise Forbidden("There is no such knowledge base.", details={"base_id": base_id})
        owned[base_id] = ref
    return list(owned.values())


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()
