"""Bases by the model of their vectors."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from opora.domain.errors import InvalidInput
from opora.domain.knowledge import IndexingStrategy, KnowledgeBase
from opora.domain.search import SearchRequest
from opora.domain.settings import Effective, Origin, RetrievalSettings
from opora.engines.directory import EngineDirectory
from opora.models.null import NullEmbedder
from opora.ports import Embedder, EmbedderCard
from opora.retrieve.search import Search
from opora.retrieve.spaces import by_space, model_floor, require_one_space

from .conftest import AxisEmbedder

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def base(base_id: str, *, vector: bool = True) -> KnowledgeBase:
    return KnowledgeBase(
        base_id=base_id,
        tenant_id="default",
        name=base_id,
        indexing=IndexingStrategy(vector=vector),
        created_at=NOW,
        updated_at=NOW,
    )


class Named(NullEmbedder):
    def __init__(self, identity: str, floor: float = 0.0) -> None:
        super().__init__(4)
        self._named = EmbedderCard(identity=identity, dimension=4, max_tokens=100, vector_threshold=floor)

    @property
    def card(self) -> EmbedderCard:
        return self._named


def spaces(*bases: tuple[KnowledgeBase, Embedder | None]) -> list[tuple[str | None, tuple[str, ...]]]:
    return [(space.identity, tuple(one.base_id for one in space.bases)) for space in by_space(bases)]


def test_bases_are_grouped_by_the_identity_of_their_model() -> None:
    m, same, n = Named("m"), Named("m"), Named("n")
    assert spaces((base("a"), m), (base("b"), n), (base("c"), same), (base("d"), None)) == [
        ("m", ("a", "c")),
        ("n", ("b",)),
        (None, ("d",)),
    ]


def test_a_base_without_vectors_goes_with_the_first_in_its_place() -> None:
    wordy = base("w", vector=False)
    assert spaces((wordy, None), (base("a"), Named("m")), (base("b"), Named("n"))) == [
        ("m", ("w", "a")),
        ("n", ("b",)),
    ]
    assert spaces((wordy, Named("m"))) == [(None, ("w",))]


def test_bases_of_different_models_are_refused_but_bases_without_vectors_do_not_count() -> None:
    wordy = (base("w", vector=False), Named("other"))
    require_one_space(by_space([(base("a"), Named("m")), (base("b"), Named("m")), (base("c"), None), wordy]))
    with pytest.raises(InvalidInput, match=r"different models \(m, n\)"):
        require_one_space(by_space([(base("a"), Named("m")), (base("b"), Named("n"))]))


@pytest.mark.parametrize(
    ("models", "floor"),
    [
        ([Named("m", 0.8)], 0.8),
        ([Named("m", 0.8), None], 0.8),
        ([Named("m", 0.8), Named("n", 0.3)], 0.0),
        ([None], None),
    ],
)
def test_the_floor_of_cosines_is_known_where_one_model_made_them(
    models: list[Embedder | None], floor: float | None
) -> None:
    found = by_space([(base(str(place)), model) for place, model in enumerate(models)])
    assert model_floor(found) == floor


class Two:
    """`first` is embedded by its own model, everything else by the other."""

    def __init__(self, own: Embedder, default: Embedder) -> None:
        self._own = own
        self.default: Embedder | None = default

    async def of(self, base: KnowledgeBase) -> Embedder | None:
        return self._own if base.own_model_id else self.default


@pytest.mark.parametrize(("origin", "found"), [(Origin.MODEL, {"a", "b"}), (Origin.INSTALLATION, {"b"})])
async def test_a_floor_of_a_model_card_holds_for_that_model_alone(house: Any, origin: Origin, found: set[str]) -> None:
    """A floor that somebody set holds for all."""
    await house.add("own", {"a": "проезд отпуск"}, own_model_id="m")
    await house.add("shared", {"b": "проезд"})
    house.embedder._card = EmbedderCard(identity="axis", dimension=8, max_tokens=100, vector_threshold=0.9)
    own = AxisEmbedder({"проезд": 0, "отпуск": 1}, threshold=0.2)
    own._card = EmbedderCard(identity="own", dimension=8, max_tokens=100, vector_threshold=0.2)
    search = Search(
        database=house.database,
        engines=EngineDirectory({"sqlite": house.engine}, default="sqlite"),
        embedders=Two(own, house.embedder),
    )
    settings = Effective(
        values=RetrievalSettings(vector_threshold=0.9, keyword_threshold=1.0), origins={"vector_threshold": origin}
    )
    stage = await search.search(house.scope(), SearchRequest(query="проезд"), settings=settings)
    assert {result.chunk_id for result in stage.results if "vector" in result.scores} == found
    assert stage.model_floor == 0.0
