"""The funnel over a real database and a real engine."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from opora.domain.errors import DimensionMismatch, EngineError, InvalidInput, ModelNotConfigured, NotFound
from opora.domain.knowledge import BaseType
from opora.domain.scope import LOCAL_PRINCIPAL, BaseRef, Scope
from opora.domain.search import EngineHit, MatchType, ScoreKind, SearchMode, SearchRequest
from opora.domain.settings import Effective, RetrievalSettings
from opora.domain.work import Work, WorkKind
from opora.engines.directory import EngineDirectory
from opora.engines.sqlite import SqliteEngine
from opora.models.single import SingleEmbedder
from opora.ports import Vectors
from opora.retrieve.search import Search

NOW = datetime(2026, 1, 1, tzinfo=UTC)

TWELVE = {f"c{n:02}": f"Правило номер {n}: проезд оплачивают." for n in range(12)}
QUESTIONS = {
    "q1": {
        "standard_question": "Как вернуть товар?",
        "negative_questions": ["Как вернуть товар по гарантии?", " "],
        "answers": ["Заполните форму."],
    },
    "q2": {"standard_question": "Как вернуть товар по гарантии", "answers": ["Обратитесь в сервис."]},
}
FAQ = {chunk_id: str(entry["standard_question"]) for chunk_id, entry in QUESTIONS.items()}


@pytest.mark.parametrize("count", [0, -1, 1, 5, 50, 100_000])
async def test_any_count_gives_results(house, count: int) -> None:
    await house.add("kb", TWELVE)
    stage = await house.search.search(house.scope(), SearchRequest(query="проезд", match_count=count))
    assert len(stage.results) == (min(count, 12) if count > 0 else 12)
    assert {d.reason for d in stage.drops} <= {"over_match_count"}
    assert len(stage.results) + len(stage.drops) == 12


@pytest.mark.parametrize("query", ["", "   \n", "\0\0", "ж" * 10_001, "🍸" * 10_001])
async def test_a_bad_question_is_refused_before_anything_is_asked(house, query: str) -> None:
    await house.add("kb", TWELVE)
    with pytest.raises(InvalidInput) as caught:
        await house.search.search(house.scope(), SearchRequest(query=query))
    assert caught.value.details["field"] == "query"
    assert house.embedder.calls == []


@pytest.mark.parametrize("query", ["ж" * 10_000, "🍸" * 10_000, "про\0езд"])
async def test_length_is_counted_in_characters_and_nul_is_cleaned(house, query: str) -> None:
    await house.add("kb", TWELVE)
    await house.search.search(house.scope(), SearchRequest(query=query))
    assert house.embedder.calls == [query.replace("\0", "")]


async def test_hybrid_fuses_and_remembers_each_arm(house) -> None:
    await house.add("kb", {"a": "проезд оплачивают", "b": "отпуск дают", "c": "проезд и отпуск"})
    stage = await house.search.search(house.scope(), SearchRequest(query="проезд"))
    best = stage.results[0]
    assert [r.chunk_id for r in stage.results] == ["a", "c"]
    assert (best.kind, best.match_type, best.title, best.score) == (ScoreKind.RRF, MatchType.VECTOR, "Title of kb", 1.0)
    assert best.ranks == {"fused": 1, "vector": 1, "keyword": 1}
    assert set(best.scores) == {"fused", "vector", "keyword"}
    assert best.scores["vector"] == pytest.approx(1.0, abs=1e-3)
    assert len(house.embedder.calls) == 1


async def test_semantic_keeps_cosine_and_fulltext_the_share_of_the_best(house) -> None:
    await house.add("kb", {"a": "проезд оплачивают", "b": "отпуск дают", "c": "проезд и отпуск"})
    semantic = await house.search.search(house.scope(), SearchRequest(query="проезд", mode=SearchMode.SEMANTIC))
    assert [(r.chunk_id, r.kind) for r in semantic.results] == [("a", ScoreKind.COSINE), ("c", ScoreKind.COSINE)]
    assert semantic.results[1].score == pytest.approx(0.7071, abs=1e-3)
    words = await house.search.search(house.scope(), SearchRequest(query="проезд", mode=SearchMode.FULLTEXT))
    assert (words.results[0].kind, words.results[0].score) == (ScoreKind.BM25, 1.0)
    assert words.results[0].match_type is MatchType.KEYWORD
    assert len(house.embedder.calls) == 1


async def test_the_keyword_threshold_is_a_share_of_the_best(house) -> None:
    await house.add("kb", {"a": "проезд отпуск больничный", "b": "проезд по делам разных служб и отделов " * 8})
    ask = SearchRequest(query="проезд отпуск больничный", mode=SearchMode.FULLTEXT, keyword_threshold=0.9)
    stage = await house.search.search(house.scope(), ask)
    assert [r.chunk_id for r in stage.results] == ["a"]
    assert [(d.chunk_id, d.reason) for d in stage.drops] == [("b", "below_threshold")]


async def test_the_card_of_the_model_sets_the_floor_and_zero_switches_it_off(house) -> None:
    await house.add("kb", {"a": "проезд", "b": "отпуск"})
    ask = SearchRequest(query="проезд", mode=SearchMode.SEMANTIC)
    assert [r.chunk_id for r in (await house.search.search(house.scope(), ask)).results] == ["a"]
    off = SearchRequest(query="проезд", mode=SearchMode.SEMANTIC, vector_threshold=0.0)
    assert len((await house.search.search(house.scope(), off)).results) == 2
    picked = house.scope(document_ids=frozenset({"doc-kb"}))
    assert len((await house.search.search(picked, ask)).results) == 2


async def test_what_the_database_no_longer_holds_is_dropped_and_its_place_filled(house) -> None:
    await house.add("kb", {"a": "проезд один", "b": "проезд два", "c": "проезд три"})
    async with house.database.begin() as repos:
        await repos.chunks.delete(house.scope(), ["a"])
    stage = await house.search.search(house.scope(), SearchRequest(query="проезд", match_count=2))
    assert [r.chunk_id for r in stage.results] == ["b", "c"]
    assert [(d.chunk_id, d.reason) for d in stage.drops] == [("a", "not_in_database")]


async def test_a_base_that_is_gone_is_an_error_and_no_base_a_warning(house) -> None:
    await house.add("kb", TWELVE)
    gone = Scope(principal=LOCAL_PRINCIPAL, bases=(*house.scope().bases, BaseRef(base_id="x", tenant_id="default")))
    with pytest.raises(NotFound):
        await house.search.search(gone, SearchRequest(query="проезд"))
    stage = await house.search.search(Scope(principal=LOCAL_PRINCIPAL), SearchRequest(query="проезд"))
    assert (stage.results, len(stage.warnings)) == ((), 1)


async def test_a_base_of_another_owner_is_searched_as_that_owner(house) -> None:
    await house.add("mine", {"a": "проезд мой"})
    await house.add("theirs", {"b": "проезд их"}, tenant_id="other")
    stage = await house.search.search(house.scope(), SearchRequest(query="проезд"))
    assert {r.chunk_id: r.tenant_id for r in stage.results} == {"a": "default", "b": "other"}


async def test_without_a_model_words_are_searched_and_meaning_is_refused(house) -> None:
    await house.add("kb", TWELVE)
    engines = EngineDirectory({"s": house.engine}, default="s")
    search = Search(database=house.database, engines=engines, embedders=SingleEmbedder(None))
    stage = await search.search(house.scope(), SearchRequest(query="проезд"))
    assert len(stage.results) == 12
    assert "words only" in stage.warnings[0]
    assert (await search.search(house.scope(), SearchRequest(query="проезд", mode=SearchMode.FULLTEXT))).warnings == ()
    with pytest.raises(ModelNotConfigured):
        await search.search(house.scope(), SearchRequest(query="проезд", mode=SearchMode.SEMANTIC))


async def test_a_base_of_another_model_is_searched_by_words_with_a_warning(house) -> None:
    await house.add("new", {"a": "проезд новый"})
    await house.add("old", {"b": "проезд старый"}, embedding_model_id="other")
    stage = await house.search.search(house.scope(), SearchRequest(query="проезд"))
    assert {r.chunk_id: "vector" in r.scores for r in stage.results} == {"a": True, "b": False}
    assert "old" in stage.warnings[0]


async def test_a_vector_of_another_size_is_an_error(house, monkeypatch: pytest.MonkeyPatch) -> None:
    await house.add("kb", TWELVE)
    monkeypatch.setattr(house.embedder, "_size", 4)
    with pytest.raises(DimensionMismatch) as caught:
        await house.search.search(house.scope(), SearchRequest(query="проезд"))
    assert (caught.value.details["expected"], caught.value.details["actual"]) == (8, 4)


class Broken(SqliteEngine):
    """An engine one arm of which is down."""

    arm = ""

    async def search_vector(self, scope: Scope, vector: Vectors, *, top_k: int, threshold: float) -> list[EngineHit]:
        if self.arm == "vector":
            raise EngineError("The vectors are down.")
        return await super().search_vector(scope, vector, top_k=top_k, threshold=threshold)

    async def search_keyword(self, scope: Scope, query: str, *, top_k: int) -> list[EngineHit]:
        if self.arm == "keyword":
            raise ConnectionError("no route")
        return await super().search_keyword(scope, query, top_k=top_k)


@pytest.mark.parametrize("arm", ["vector", "keyword"])
async def test_an_arm_that_fails_is_an_error_and_never_an_empty_result(house, tmp_path, arm: str) -> None:
    await house.engine.close()
    house.engine = Broken(tmp_path / "index.db")
    await house.add("kb", TWELVE)
    house.engine.arm = arm
    with pytest.raises(EngineError):
        await house.search.search(house.scope(), SearchRequest(query="проезд"))


@pytest.mark.parametrize("scope_of", ["alone", "mixed", "shared"])
@pytest.mark.parametrize("query", ["Как вернуть товар по гарантии?", "  КАК ВЕРНУТЬ ТОВАР ПО ГАРАНТИИ?  "])
async def test_a_silenced_entry_is_in_no_result_whatever_the_scope(house, scope_of: str, query: str) -> None:
    tenant = "other" if scope_of == "shared" else "default"
    await house.add("faq", FAQ, base_type=BaseType.FAQ, metadata=QUESTIONS, tenant_id=tenant)
    if scope_of == "mixed":
        await house.add("doc", {"d1": "Отпуск дают по графику."})
    for count in (1, 10):
        stage = await house.search.search(house.scope(), SearchRequest(query=query, match_count=count))
        assert "q1" not in [r.chunk_id for r in stage.results]
        assert stage.results[0].chunk_id == "q2"
    assert ("q1", "negative_question") in {(d.chunk_id, d.reason) for d in stage.drops}


@pytest.mark.parametrize("query", ["Как вернуть товар по гарантии? Срочно", "Как вернуть товар?"])
async def test_other_wordings_are_answered(house, query: str) -> None:
    await house.add("faq", FAQ, base_type=BaseType.FAQ, metadata=QUESTIONS)
    stage = await house.search.search(house.scope(), SearchRequest(query=query))
    assert {r.chunk_id for r in stage.results} == {"q1", "q2"}


async def test_an_entry_silent_on_the_users_own_words_stays_so_under_another_wording(house) -> None:
    await house.add("faq", FAQ, base_type=BaseType.FAQ, metadata=QUESTIONS)
    request = SearchRequest(query="вернуть товар", asked="Как вернуть товар по гарантии?", match_count=1)
    assert [r.chunk_id for r in (await house.search.search(house.scope(), request)).results] == ["q2"]


async def test_a_query_of_stop_words_still_has_the_hits_of_the_vectors(house) -> None:
    await house.add("kb", TWELVE)
    for query in ("и в на", "х", "?!", "🍸"):
        hybrid = await house.search.search(house.scope(), SearchRequest(query=query, vector_threshold=-1.0))
        assert len(hybrid.results) == 12, query


class Repeating(SqliteEngine):
    """An engine whose rows are wordings: the best ones all belong to one chunk."""

    depths: Sequence[int] = ()

    async def search_vector(self, scope: Scope, vector: Vectors, *, top_k: int, threshold: float) -> list[EngineHit]:
        self.depths = (*self.depths, top_k)
        found = await super().search_vector(scope, vector, top_k=top_k, threshold=threshold)
        return ([found[0]] * 150 + found[1:])[:top_k]


async def test_a_faq_base_is_searched_deeper_where_wordings_fill_the_list(house, tmp_path) -> None:
    await house.engine.close()
    house.engine = Repeating(tmp_path / "index.db")
    await house.add("faq", {f"q{n}": f"Как вернуть {n}" for n in range(5)}, base_type=BaseType.FAQ)
    stage = await house.search.search(house.scope(), SearchRequest(query="вернуть", match_count=5))
    assert len(stage.results) == 5
    assert house.engine.depths == (50, 100, 200)


async def test_expansion_adds_what_other_wordings_find_after_what_was_found(house) -> None:
    await house.add("kb", {"a": "проезд оплачивают", "b": "дорогу сотруднику компенсируют"})
    settings = Effective(values=RetrievalSettings(enable_query_expansion=True, vector_threshold=0.5))
    request = SearchRequest(query="Оплачивают ли проезд и дорогу?")
    stage = await house.search.search(house.scope(), request, settings=settings)
    assert [r.chunk_id for r in stage.results] == ["a", "b"]


async def test_the_same_question_gives_the_same_results_again(house) -> None:
    await house.add("kb", TWELVE)
    first = await house.search.search(house.scope(), SearchRequest(query="проезд"))
    for _ in range(5):
        assert await house.search.search(house.scope(), SearchRequest(query="проезд")) == first


async def test_an_index_that_is_still_being_filled_does_not_look_like_one_without_an_answer(house) -> None:
    await house.add("kb", {"a": "совсем другое"})
    request = SearchRequest(query="проезд", mode=SearchMode.FULLTEXT)
    assert (await house.search.search(house.scope(), request)).warnings == ()
    waiting = Work(
        work_id="w",
        kind=WorkKind.REINDEX,
        tenant_id="default",
        base_id="kb",
        subject="doc-kb",
        not_before=NOW,
        created_at=NOW,
    )
    async with house.database.begin() as repos:
        await repos.work.add(waiting)
    stage = await house.search.search(house.scope(), request)
    assert stage.results == ()
    assert "still being processed" in stage.warnings[0]
