"""What only Qdrant does: order by words without scores, collections by size, a server that is away."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from qdrant_client import AsyncQdrantClient
from tests.servers.redis import free_port

from opora.bootstrap.sharing import is_shared, make_search_engine
from opora.domain.errors import EngineError
from opora.domain.scope import BaseRef, Principal, Scope
from opora.domain.search import IndexRow
from opora.engines.qdrant import QdrantEngine
from opora.engines.qdrant.ranking import by_words
from opora.settings import Settings

SCOPE = Scope(principal=Principal(tenant_id="t", user_id="u"), bases=(BaseRef(base_id="b", tenant_id="t"),))
pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")


def row(chunk_id: str, text: str, vector: Sequence[float] = ()) -> IndexRow:
    data = np.array(vector, np.float32).tobytes() if vector else None
    common = {"base_id": "b", "tenant_id": "t", "document_id": "d"}
    return IndexRow(chunk_id=chunk_id, text=text, vector=data, dimension=len(vector), **common)  # type: ignore[arg-type]


def payload(chunk_id: str, *terms: str) -> dict[str, object]:
    return {"chunk_id": chunk_id, "terms": list(terms)}


def test_more_words_come_before_fewer_and_rare_before_common() -> None:
    found = [payload("c1", "a"), payload("c2", "a", "b"), payload("c3", "b"), payload("c4", "a")]
    assert [one["chunk_id"] for one in by_words(found, ["a", "b", "z"])] == ["c2", "c3", "c1", "c4"]


@given(st.lists(st.sets(st.sampled_from("abcd"), min_size=1), max_size=8), st.randoms())
def test_the_order_does_not_depend_on_the_order_of_rows(terms: list[set[str]], random: object) -> None:
    found = [payload(f"c{number}", *sorted(own)) for number, own in enumerate(terms)]
    mixed = list(found)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    assert by_words(found, "abc") == by_words(mixed, "abc")


async def test_a_collection_for_each_size_and_a_row_in_one_of_them() -> None:
    client = AsyncQdrantClient(":memory:")
    engine = QdrantEngine(lambda: client, prefix="x")
    await engine.write(SCOPE, [row("a", "alpha"), row("b", "beta", [1, 0]), row("c", "gamma", [1, 0, 0])])
    counts = {one.name: (await client.count(one.name)).count for one in (await client.get_collections()).collections}
    assert counts == {"x_words": 1, "x_2": 1, "x_3": 1}
    await engine.write(SCOPE, [row("a", "alpha", [0, 1]), row("c", "other")])
    counts = {name: (await client.count(name)).count for name in counts}
    assert counts == {"x_words": 1, "x_2": 2, "x_3": 0}
    await engine.close()


async def test_a_server_that_is_away_raises_and_never_finds_nothing(tmp_path: Path) -> None:
    settings = {"data": tmp_path, "RETRIEVE_DRIVER": "qdrant", "QDRANT_HOST": "127.0.0.1", "QDRANT_PORT": free_port()}
    engine = make_search_engine(Settings.model_validate(settings))
    for call in (
        engine.search_keyword(SCOPE, "alpha", top_k=1),
        engine.search_vector(SCOPE, np.array([1, 0], np.float32), top_k=1, threshold=0.0),
        engine.write(SCOPE, [row("a", "alpha", [1, 0])]),
        engine.delete_base(SCOPE, "b"),
        engine.generation(),
    ):
        with pytest.raises(EngineError, match="Qdrant"):
            await call
    await engine.close()


@pytest.mark.parametrize(("database", "shared"), [("postgresql://u@h/d", True), (None, False)])
def test_servers_share_it_with_a_shared_database(tmp_path: Path, database: str | None, shared: bool) -> None:
    values = {"data": tmp_path, "RETRIEVE_DRIVER": "qdrant", "STREAM_MANAGER_TYPE": "redis", "database_url": database}
    assert is_shared(Settings.model_validate(values)) is shared
