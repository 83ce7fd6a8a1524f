"""Who asks and what they may see: the frozen value that every port call takes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from opora.domain.errors import Forbidden

DEFAULT_TENANT_ID = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Somebody signed in: a person or a key, always of one tenant."""

    tenant_id: str
    user_id: str
    is_admin: bool = False


LOCAL_PRINCIPAL = Principal(tenant_id=DEFAULT_TENANT_ID, user_id="local", is_admin=True)


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class BaseRef:
    """A knowledge base with the tenant that owns it; a shared base is filtered by its owner's id."""

    base_id: str
    tenant_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What one call may touch. Made only by `opora.access`; a filter of ``None`` means 'no restriction'.

    ``document_ids`` and ``tag_ids`` restrict further; disabled chunks are outside unless ``include_disabled``.
    ``is_filtered`` says that a filter gave the ``document_ids``, and nobody picked them.
    """

    principal: Principal
    bases: tuple[BaseRef, ...] = ()
    document_ids: frozenset[str] | None = None
    tag_ids: frozenset[str] | None = None
    include_disabled: bool = False
    is_filtered: bool = False

    @property
    def is_explicit(self) -> bool:
        """Whether someone picked documents, a folder or tags: such a scope is trusted, and recall thresholds do not
        apply to it."""
        return self.tag_ids is not None or (self.document_ids is not None and not self.is_filtered)

    @property
    def tenant_id(self) -> str:
        return self.principal.tenant_id

    @property
    def base_ids(self) -> tuple[str, ...]:
        return tuple(base.base_id for base in self.bases)

    def owner_of(self, base_id: str) -> str:
        """The tenant that owns ``base_id``; raises `Forbidden` when the base is outside this scope."""
        for base in self.bases:
            if base.base_id == base_id:
                return base.tenant_id
        raise Forbidden("This knowledge base is not available.", details={"base_id": base_id})

    def narrowed(
        self,
        *,
        base_ids: tuple[str, ...] | None = None,
        document_ids: frozenset[str] | None = None,
        tag_ids: frozenset[str] | None = None,
    ) -> Scope:
        """A scope of the same principal that sees no more than this one."""
        bases = self.bases if base_ids is None else tuple(b for b in self.bases if b.base_id in base_ids)
        return replace(
            self,
            bases=bases,
            document_ids=_both(self.document_ids, document_ids),
            tag_ids=_both(self.tag_ids, tag_ids),
        )


def _both(mine: frozenset[str] | None, other: frozenset[str] | None) -> frozenset[str] | None:
    if mine is None or other is None:
        return mine if other is None else other
    return mine & other
