"""Counts and queries are read once, the same at every door: left out means ten, out of range is refused by name."""

from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
import pytest_asyncio

from opora.bootstrap import App
from opora.domain.scope import LOCAL_PRINCIPAL, Scope
from opora.domain.search import SearchMode, SearchRequest, SearchResult
from opora.domain.settings import Effective
from opora.domain.trace import Drop, Stage

from .conftest import add_base, add_text, client_of, scope_of

pytestmark = pytest.mark.asyncio(loop_scope="module")

MISSING = object()


class Noted:
    """Stands before the search and notes what reaches it."""

    def __init__(self) -> None:
        self.calls: list[tuple[Scope, SearchRequest]] = []
        self.stage = Stage()

    async def search(self, scope: Scope, request: SearchRequest, *, settings: Effective) -> Stage:
        self.calls.append((scope, request))
        return self.stage


@pytest.fixture
def app(shared_app: App) -> App:
    return shared_app


@pytest.fixture
def noted(app: App, monkeypatch: pytest.MonkeyPatch) -> Noted:
    noted = Noted()
    monkeypatch.setattr(app.search, "search", noted.search)
    return noted


@pytest_asyncio.fixture(loop_scope="module")
async def base_id(app: App) -> str:
    return (await add_base(app, LOCAL_PRINCIPAL)).base_id


@pytest_asyncio.fixture(loop_scope="module")
async def doors(app: App, base_id: str) -> AsyncIterator[list[Any]]:
    """Both ways of searching over HTTP, as functions of a query and the rest of the body."""
    async with client_of(app) as http:

        async def over_all(query: str, **body: Any) -> httpx2.Response:
            return await http.post("/api/v1/knowledge-search", json={"query": query, **body})

        async def in_base(query: str, **body: Any) -> httpx2.Response:
            path = f"/api/v1/knowledge-bases/{base_id}/hybrid-search"
            return await http.post(path, json={"query_text": query, **body})

        yield [over_all, in_base]


@pytest.mark.parametrize(("count", "taken"), [(MISSING, 10), (None, 10), (1, 1), (10, 10), (50, 50)])
async def test_counts_that_fit(doors: list[Any], noted: Noted, count: object, taken: int) -> None:
    for search in doors:
        body = {} if count is MISSING else {"match_count": count}
        assert (await search("проезд", **body)).status_code == 200
    assert [request.match_count for _, request in noted.calls] == [taken, taken]


@pytest.mark.parametrize("count", [0, -1, 51, 100_000, "10", 1.5, "abc", True, [10]])
async def test_counts_that_do_not_fit(doors: list[Any], noted: Noted, count: object) -> None:
    for search in doors:
        response = await search("проезд", match_count=count)
        assert response.status_code == 422
        error = response.json()["error"]
        assert error["details"]["field"] == "match_count"
        assert "match_count" in error["message"]
        assert error["code"] == 1010
    assert noted.calls == []


@pytest.mark.parametrize("query", ["", "   \n", "\t", "\u200b\ufeff \u2060", "\0", "ж" * 10_001, "🍸" * 10_001])
async def test_queries_that_are_refused_before_anything_is_searched(doors: list[Any], noted: Noted, query: str) -> None:
    for search, field in zip(doors, ("query", "query_text"), strict=True):
        response = await search(query)
        assert response.status_code == 422
        assert response.json()["error"]["details"]["field"] == field
        assert len(response.text) < 1000, "the refused text is not sent back"
    assert noted.calls == []


@pytest.mark.parametrize("query", ["ж" * 10_000, "🍸" * 10_000])
async def test_length_is_counted_in_characters(doors: list[Any], noted: Noted, query: str) -> None:
    for search in doors:
        assert (await search(query)).status_code == 200
    assert [request.query for _, request in noted.calls] == [query, query]


@pytest.mark.parametrize(
    ("body", "mode"),
    [
        ({}, SearchMode.HYBRID),
        ({"mode": "hybrid"}, SearchMode.HYBRID),
        ({"mode": "semantic"}, SearchMode.SEMANTIC),
        ({"mode": "fulltext"}, SearchMode.FULLTEXT),
        ({"disable_vector_match": True}, SearchMode.FULLTEXT),
        ({"disable_keywords_match": True}, SearchMode.SEMANTIC),
        ({"mode": "semantic", "disable_keywords_match": True}, SearchMode.SEMANTIC),
    ],
)
async def test_modes(doors: list[Any], noted: Noted, body: dict[str, Any], mode: SearchMode) -> None:
    for search in doors:
        assert (await search("q", **body)).status_code == 200
    assert {request.mode for _, request in noted.calls} == {mode}


@pytest.mark.parametrize(
    "body",
    [
        {"disable_vector_match": True, "disable_keywords_match": True},
        {"mode": "semantic", "disable_vector_match": True},
        {"mode": "other"},
        {"vector_threshold": 1.5},
        {"vector_threshold": "NaN"},
        {"keyword_threshold": -0.1},
        {"knowledge_ids": "not a list"},
    ],
)
async def test_what_makes_no_sense_is_refused(doors: list[Any], noted: Noted, body: dict[str, Any]) -> None:
    for search in doors:
        assert (await search("q", **body)).status_code == 422
    assert noted.calls == []


@pytest.mark.parametrize("threshold", [None, 0, -0.5, 0.3])
async def test_a_threshold_of_zero_is_not_taken_for_none(
    doors: list[Any], noted: Noted, threshold: float | None
) -> None:
    for search in doors:
        await search("q", vector_threshold=threshold)
    assert [request.vector_threshold for _, request in noted.calls] == [threshold, threshold]


async def test_restrictions_reach_the_scope(app: App, doors: list[Any], noted: Noted, base_id: str) -> None:
    scope = scope_of(LOCAL_PRINCIPAL, base_id)
    tags = [(await app.tags.create(scope, base_id, name=name)).tag_id for name in ("один", "два")]
    for search in doors:
        await search("q", knowledge_ids=["d1"], tag_ids=tags)
        await search("q", knowledge_ids=[], tag_ids=None)
    restricted, open_ = noted.calls[0][0], noted.calls[1][0]
    assert (restricted.document_ids, restricted.tag_ids) == (frozenset({"d1"}), frozenset(tags))
    assert (open_.document_ids, open_.tag_ids) == (None, None)
    assert base_id in restricted.base_ids
    assert {scope.base_ids for scope, _ in noted.calls[2:]} == {(base_id,)}


async def test_warnings_and_candidates_stand_beside_the_results(doors: list[Any], noted: Noted) -> None:
    result = SearchResult(chunk_id="c1", base_id="b", tenant_id="t", document_id="d", content="x", score=0.5)
    drop = Drop(chunk_id="c2", stage="found", reason="below_threshold")
    noted.stage = Stage(results=(result,), drops=(drop,), warnings=("One arm is down.",))
    for search in doors:
        plain = (await search("q")).json()
        assert [shown["id"] for shown in plain["data"]] == ["c1"]
        assert plain["warnings"] == ["One arm is down."]
        assert "candidates" not in plain
        explained = (await search("q", explain=True)).json()["candidates"]
        assert [(c["chunk_id"], c["reason"]) for c in explained] == [("c1", ""), ("c2", "below_threshold")]


async def test_twelve_chunks_and_no_count_give_ten(app: App) -> None:
    sections = "\n\n".join(f"# Раздел {n}\n\nПункт {n}: проезд оплачивают по тарифу номер {n}." for n in range(12))
    base_id, document_id = await add_text(app, LOCAL_PRINCIPAL, sections)
    body = {"query": "проезд", "knowledge_base_ids": [base_id]}
    async with client_of(app) as http:
        listed = (await http.get(f"/api/v1/chunks/{document_id}")).json()
        found = (await http.post("/api/v1/knowledge-search", json=body)).json()["data"]
        one = (await http.post("/api/v1/knowledge-search", json=body | {"match_count": 1})).json()["data"]
    assert listed["total"] > 1
    assert len(found) == min(10, listed["total"])
    assert one == found[:1]
    assert {shown["knowledge_base_id"] for shown in found} == {base_id}
    assert "тарифу" in found[0]["content"]
