"""Sorts the bases of a search by the model whose vectors they hold: only vectors of one model can be compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from opora.domain.errors import InvalidInput
from opora.domain.knowledge import KnowledgeBase
from opora.domain.trace import Stage
from opora.ports import Embedder
from opora.retrieve.targets import has_vectors


@dataclass(frozen=True, slots=True, kw_only=True)
class Space:
    """Bases that one query vector searches; ``embedder`` is None where words alone are searched."""

    embedder: Embedder | None
    bases: tuple[KnowledgeBase, ...]

    @property
    def identity(self) -> str | None:
        return None if self.embedder is None else self.embedder.card.identity


def by_space(bases: Iterable[tuple[KnowledgeBase, Embedder | None]]) -> list[Space]:
    """One space for each identity of a model (its name and where it is served), in the order of the bases.

    Models of different owners may be the same one. A base without vectors goes with the first space.
    """
    members: dict[str | None, list[KnowledgeBase]] = {}
    embedders: dict[str | None, Embedder | None] = {}
    wordy: list[KnowledgeBase] = []
    bases = list(bases)
    for base, embedder in bases:
        if not has_vectors(base):
            wordy.append(base)
            continue
        identity = None if embedder is None else embedder.card.identity
        embedders.setdefault(identity, embedder)
        members.setdefault(identity, []).append(base)
    spaces = [Space(embedder=embedders[identity], bases=tuple(found)) for identity, found in members.items()]
    if not spaces:
        return [Space(embedder=None, bases=tuple(wordy))]
    first = {base.base_id for base in (*spaces[0].bases, *wordy)}
    return [replace(spaces[0], bases=tuple(base for base, _ in bases if base.base_id in first)), *spaces[1:]]


def require_one_space(spaces: Sequence[Space]) -> None:
    """Refuse bases whose vectors come from different models; bases without vectors don't count."""
    models = sorted(space.identity for space in spaces if space.identity is not None)
    if len(models) > 1:
        raise InvalidInput.of(
            "knowledge_base_ids",
            f"These knowledge bases hold vectors of different models ({', '.join(models)}).",
            hint="Search them one by one, or by a search that takes each model by itself.",
        )


def model_floor(spaces: Sequence[Space]) -> float | None:
    """The floor of the cosines that a search gives: 0, not known, for those of several models; None without any."""
    floors = [space.embedder.card.vector_threshold for space in spaces if space.embedder is not None]
    return None if not floors else floors[0] if len(floors) == 1 else 0.0


def united(stages: Sequence[Stage]) -> Stage:
    """The stages of all spaces as one, best first: whatever made them, their scores are from 0 to 1."""
    results = sorted((one for stage in stages for one in stage.results), key=lambda one: (-one.score, one.chunk_id))
    return Stage(
        results=tuple(results),
        drops=tuple(drop for stage in stages for drop in stage.drops),
        warnings=tuple(dict.fromkeys(warning for stage in stages for warning in stage.warnings)),
    )
