"""The retriever's search over a real database and a real engine, in SQLite and in PostgreSQL."""

from __future__ import annotations

import numpy as np
import pytest

from opora.domain.context import ContextQuery
from opora.domain.errors import EngineError, InvalidInput, ModelError, ModelNotConfigured, NotFound
from opora.domain.knowledge import IndexingStrategy, KnowledgeBase
from opora.domain.scope import LOCAL_PRINCIPAL, BaseRef, Scope
from opora.domain.search import Capability, EngineHit, ScoreKind, SearchMode
from opora.ports import QuestionVector
from opora.retriever.fusion import CANDIDATES

from .conftest import HandVectoriser, Shelf, unit

QUESTION = "Когда возмещают проезд?"
TRAVEL = [
    ("Положение действует для всех сотрудников.", (0, 1, 0, 0)),
    ("Расходы на проезд возмещают после возвращения.", (1, 0.1, 0, 0)),
    ("К отчёту прилагают билеты и чеки.", (1, 0.2, 0.2, 0)),
    ("Отпуск дают по графику.", (0, 0, 1, 0)),
]


async def travel(shelf: Shelf) -> list[str]:
    shelf.vectoriser.vectors[QUESTION] = (1, 0, 0, 0)
    return await shelf.document(await shelf.base("kb"), "travel", TRAVEL)


async def test_semantic_gives_cosines_with_neighbours_and_sources(shelf: Shelf) -> None:
    await travel(shelf)
    answer = await shelf.ask(QUESTION, limit=1)
    assert (answer.query, answer.search_type, answer.results_count) == (QUESTION, SearchMode.SEMANTIC, 2)
    found, neighbour = answer.results
    assert (found.chunk_id, found.kind, found.file_name) == ("travel-1", ScoreKind.COSINE, "travel.pdf")
    assert (found.place.page, found.title, found.ranks) == (2, "Title of travel", {"semantic": 1})
    assert found.score == pytest.approx(1 / np.sqrt(1.01), abs=1e-3)
    assert found.scores == {"semantic": found.score}
    assert (neighbour.chunk_id, neighbour.neighbour_of, neighbour.kind) == (
        "travel-2",
        "travel-1",
        ScoreKind.NEIGHBOUR,
    )
    assert neighbour.score == pytest.approx(1.02 / np.sqrt(1.01 * 1.08), abs=1e-3)
    assert answer.search_metadata == {}
    assert answer.warnings == ()


async def test_fulltext_asks_for_no_vector_and_adds_no_neighbours(shelf: Shelf) -> None:
    await travel(shelf)
    answer = await shelf.ask("возмещение проезда", SearchMode.FULLTEXT)
    assert [one.chunk_id for one in answer.results] == ["travel-1"]
    assert answer.results[0].ranks == {"fulltext": 1}
    assert set(answer.results[0].scores) == {"fulltext"}
    assert shelf.vectoriser.asked == []


async def test_hybrid_adds_places_up_and_tells_each_list(shelf: Shelf) -> None:
    await travel(shelf)
    answer = await shelf.ask(QUESTION, SearchMode.HYBRID)
    best = answer.results[0]
    assert (best.chunk_id, best.kind, best.score) == ("travel-1", ScoreKind.RRF, 2 / 61)
    assert best.ranks == {"semantic": 1, "fulltext": 1}
    assert set(best.scores) == {"rrf", "semantic", "fulltext"}
    assert answer.search_metadata == {
        "semantic_count": 4,
        "fulltext_count": 1,
        "fused_count": 4,
        "candidates": 20,
        "rrf_k": 60,
    }
    by_meaning = next(one for one in answer.results if one.chunk_id == "travel-2")
    assert (by_meaning.score, by_meaning.ranks) == (1 / 62, {"semantic": 2})


async def test_each_list_brings_twenty_and_no_more(shelf: Shelf) -> None:
    """So that a hybrid search has forty results at the most, whatever the limit."""
    shelf.vectoriser.vectors["билет"] = (1, 0)
    base = await shelf.base("kb")
    near = [(f"Страница {n}.", (1, n / 100)) for n in range(30)]
    worded = [(f"Билет {n}.", (-1, n / 100)) for n in range(30)]
    await shelf.document(base, "near", near)
    await shelf.document(base, "worded", worded)
    answer = await shelf.retriever(expands=False).search(
        shelf.scope(), ContextQuery(question="билет", search_type=SearchMode.HYBRID, limit=50)
    )
    assert answer.results_count == 2 * CANDIDATES
    assert {name for one in answer.results for name in one.ranks} == {"semantic", "fulltext"}
    assert max(rank for one in answer.results for rank in one.ranks.values()) == CANDIDATES


async def test_the_limit_comes_before_the_least_similarity(shelf: Shelf) -> None:
    """What fell under the limit is not brought back for what fell under the threshold."""
    shelf.vectoriser.vectors["q"] = (1, 0)
    base = await shelf.base("kb")
    for n, angle in enumerate((0.0, 0.5, 3.0)):
        await shelf.document(base, f"d{n}", [(f"Текст {n}", (np.cos(angle), np.sin(angle)))])
    assert [one.chunk_id for one in (await shelf.ask("q", limit=2)).results] == ["d0-0", "d1-0"]
    kept = await shelf.ask("q", limit=2, min_similarity=0.9)
    assert [one.chunk_id for one in kept.results] == ["d0-0"]
    assert (await shelf.ask("q", limit=3, min_similarity=-1.0)).results_count == 3
    assert (await shelf.ask("q", limit=1, min_similarity=0.999999)).results_count == 1


async def test_words_alone_are_not_judged_by_similarity(shelf: Shelf) -> None:
    await travel(shelf)
    answer = await shelf.ask("проезд", SearchMode.FULLTEXT, min_similarity=1.0)
    assert [one.chunk_id for one in answer.results] == ["travel-1"]
    assert "min_similarity" in answer.warnings[0]


async def test_what_the_threshold_took_has_no_neighbours(shelf: Shelf) -> None:
    await travel(shelf)
    assert (await shelf.ask(QUESTION, limit=1, min_similarity=1.0)).results == ()


async def test_neighbours_stay_inside_what_may_be_seen(shelf: Shelf) -> None:
    shelf.vectoriser.vectors["q"] = (1, 0)
    base = await shelf.base("kb")
    same = [(f"Текст {n}", (1, n / 100)) for n in range(3)]
    await shelf.document(base, "off", same, disabled=(1,))
    await shelf.document(base, "tagged", same, tags={0: ("t",)})
    only_off = await shelf.ask("q", scope=shelf.scope(document_ids=frozenset({"off"})), limit=1)
    assert [one.chunk_id for one in only_off.results] == ["off-0"]
    only_tagged = await shelf.ask("q", scope=shelf.scope(tag_ids=frozenset({"t"})), limit=1)
    assert [one.chunk_id for one in only_tagged.results] == ["tagged-0"]
    whole = await shelf.ask("q", scope=shelf.scope(document_ids=frozenset({"tagged"})), limit=1)
    assert [one.chunk_id for one in whole.results] == ["tagged-0", "tagged-1", "tagged-2"]


async def test_neighbours_can_be_switched_off(shelf: Shelf) -> None:
    await travel(shelf)
    answer = await shelf.retriever(expands=False).search(shelf.scope(), ContextQuery(question=QUESTION, limit=1))
    assert [one.chunk_id for one in answer.results] == ["travel-1"]


async def test_an_engine_that_keeps_no_vectors_to_read_costs_a_warning(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    await travel(shelf)
    less = shelf.engine.capabilities - {Capability.STORED_VECTORS}
    monkeypatch.setattr(type(shelf.engine), "capabilities", less)
    answer = await shelf.ask(QUESTION, limit=1)
    assert [one.chunk_id for one in answer.results] == ["travel-1"]
    assert "kb" in answer.warnings[0]


@pytest.mark.parametrize("mode", [SearchMode.SEMANTIC, SearchMode.HYBRID])
async def test_without_a_vector_meaning_fails_and_words_go_on(shelf: Shelf, mode: SearchMode) -> None:
    await travel(shelf)
    shelf.vectoriser.vectors.clear()
    with pytest.raises(ModelNotConfigured):
        await shelf.ask(QUESTION, mode)
    assert (await shelf.ask(QUESTION, SearchMode.FULLTEXT)).results_count == 1


async def test_a_vectoriser_that_fails_is_never_an_empty_answer(shelf: Shelf) -> None:
    class Broken(HandVectoriser):
        async def vectorise(self, question: str, base: object = None) -> object:  # type: ignore[override]
            raise ModelError("Nobody answers.")

    await travel(shelf)
    retriever = shelf.retriever(vectoriser=Broken({}))
    for mode in (SearchMode.SEMANTIC, SearchMode.HYBRID):
        with pytest.raises(ModelError, match="Nobody answers"):
            await retriever.search(shelf.scope(), ContextQuery(question=QUESTION, search_type=mode))
    words = ContextQuery(question=QUESTION, search_type=SearchMode.FULLTEXT)
    assert (await retriever.search(shelf.scope(), words)).results_count == 1


@pytest.mark.parametrize("mode", [SearchMode.SEMANTIC, SearchMode.HYBRID])
async def test_vectors_of_another_model_are_not_compared(shelf: Shelf, mode: SearchMode) -> None:
    shelf.vectoriser.vectors["q"] = (1, 0)
    base = await shelf.base("kb", embedding_model_id="another model")
    await shelf.document(base, "d", [("q", (1, 0))])
    with pytest.raises(ModelNotConfigured):
        await shelf.ask("q", mode)


async def test_bases_of_words_only_are_searched_by_words_and_it_is_told(shelf: Shelf) -> None:
    shelf.vectoriser.vectors["билет"] = (1, 0)
    worded = await shelf.base("worded", indexing=IndexingStrategy(vector=False))
    await shelf.document(worded, "w", [("Билет туда.", None)])
    with pytest.raises(ModelNotConfigured):
        await shelf.ask("билет")
    alone = await shelf.ask("билет", SearchMode.HYBRID)
    assert [one.chunk_id for one in alone.results] == ["w-0"]
    assert "words only" in alone.warnings[0]
    assert shelf.vectoriser.asked == []
    both = await shelf.base("both")
    await shelf.document(both, "b", [("Обратно.", (1, 0))])
    mixed = await shelf.ask("билет", SearchMode.HYBRID)
    assert {one.chunk_id for one in mixed.results} == {"w-0", "b-0"}
    assert "worded" in mixed.warnings[0]


async def test_an_engine_that_fails_is_an_error(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    await travel(shelf)

    async def failing(*args: object, **kwargs: object) -> list[EngineHit]:
        raise EngineError("down")

    for method in ("search_vector", "vectors"):
        with monkeypatch.context() as patch:
            patch.setattr(type(shelf.engine), method, failing)
            with pytest.raises(EngineError):
                await shelf.ask(QUESTION, SearchMode.HYBRID, limit=1)


async def test_deleted_pieces_that_the_engine_still_has_are_not_returned(shelf: Shelf) -> None:
    ids = await travel(shelf)
    async with shelf.database.begin() as repos:
        await repos.chunks.delete(shelf.scope(), ids[1:2])
    for mode in SearchMode:
        assert ids[1] not in [one.chunk_id for one in (await shelf.ask(QUESTION, mode)).results]


async def test_a_small_base_is_filtered_before_the_cut(shelf: Shelf) -> None:
    """Sixty nearer pieces of another tenant's base take no place from three of this one, nor do two that are off."""
    shelf.vectoriser.vectors["билет"] = (1, 0, 0, 0)
    theirs = await shelf.base("x", tenant_id="b")
    await shelf.document(theirs, "x", [(f"билет {n}", (1, 0.001 * n, 0, 0)) for n in range(60)])
    mine = await shelf.base("y")
    pieces = [(f"билет {n}", (0.6, 0.8, 0, 0.01 * n)) for n in range(3)] + [("билет", (1, 0, 0, 0))] * 2
    await shelf.document(mine, "y", pieces, disabled=(3, 4))
    inside = Scope(principal=LOCAL_PRINCIPAL, bases=(BaseRef(base_id="y", tenant_id="default"),))
    for threshold, ids in ((None, ["y-0", "y-1", "y-2"]), (0.5, ["y-0", "y-1", "y-2"]), (0.7, [])):
        answer = await shelf.ask("билет", scope=inside, limit=5, min_similarity=threshold)
        assert [one.chunk_id for one in answer.results if not one.neighbour_of] == ids
    words = await shelf.ask("билет", SearchMode.FULLTEXT, scope=inside, limit=5)
    assert sorted(one.chunk_id for one in words.results) == ["y-0", "y-1", "y-2"]


@pytest.mark.parametrize(
    ("field", "options"),
    [
        ("query", {"question": "ж" * 10_001}),
        ("limit", {"question": "q", "limit": 0}),
        ("limit", {"question": "q", "limit": 51}),
        ("min_similarity", {"question": "q", "min_similarity": 1.5}),
        ("min_similarity", {"question": "q", "min_similarity": float("nan")}),
    ],
)
def test_a_query_that_does_not_fit_names_the_field(field: str, options: dict[str, object]) -> None:
    with pytest.raises(InvalidInput) as caught:
        ContextQuery(**options)  # type: ignore[arg-type]
    assert caught.value.details["field"] == field


async def test_a_blank_question_is_refused_and_a_lost_base_is_not_found(shelf: Shelf) -> None:
    await travel(shelf)
    with pytest.raises(InvalidInput) as caught:
        await shelf.ask(" \u200b\n")
    assert caught.value.details["field"] == "query"
    gone = Scope(principal=LOCAL_PRINCIPAL, bases=(BaseRef(base_id="gone", tenant_id="default"),))
    with pytest.raises(NotFound):
        await shelf.ask(QUESTION, scope=gone)


async def test_nothing_to_search_says_so(shelf: Shelf) -> None:
    nothing = await shelf.ask("q", scope=Scope(principal=LOCAL_PRINCIPAL))
    assert (nothing.results, nothing.warnings) == ((), ("There is no knowledge base to search.",))
    await travel(shelf)
    none_fits = await shelf.ask("q", scope=shelf.scope(document_ids=frozenset()))
    assert "No document" in none_fits.warnings[0]


async def test_ten_thousand_characters_are_taken(shelf: Shelf) -> None:
    await travel(shelf)
    assert (await shelf.ask("ж" * 10_000, SearchMode.FULLTEXT)).results == ()


async def test_full_text_is_the_engines_own_where_it_has_one(shelf: Shelf) -> None:
    """The shape is the same everywhere; the score says what it is."""
    await travel(shelf)
    has_own = Capability.FULLTEXT in shelf.engine.capabilities
    (found,) = (await shelf.ask("проездом", SearchMode.FULLTEXT)).results
    assert found.kind is (ScoreKind.TS_RANK if has_own else ScoreKind.BM25)
    assert found.scores == {"fulltext": found.score}


@pytest.mark.parametrize(("query", "wanted"), [("employee", "d-0"), ("手册", "d-1"), ("расчет", "d-2")])
async def test_full_text_is_of_use_in_english_and_chinese_too(shelf: Shelf, query: str, wanted: str) -> None:
    base = await shelf.base("kb")
    texts = ["The handbook is for all employees.", "员工手册：报销制度", "Расчёт отпускных"]
    await shelf.document(base, "d", [(text, None) for text in texts])
    assert [one.chunk_id for one in (await shelf.ask(query, SearchMode.FULLTEXT)).results] == [wanted]


async def test_bases_of_several_models_are_each_asked_by_their_own(shelf: Shelf) -> None:
    class ByBase(HandVectoriser):
        async def vectorise(self, question: str, base: KnowledgeBase | None = None) -> QuestionVector:
            assert base is not None
            self.asked.append(base.own_model_id)
            numbers = (1, 0, 0) if base.own_model_id else (0, 1)
            return QuestionVector(identity=base.embedding_model_id, vector=unit(*numbers))

    first = await shelf.base("first", embedding_model_id="two")
    also = await shelf.base("also", embedding_model_id="two")
    other = await shelf.base("other", embedding_model_id="three", own_model_id="m-3")
    await shelf.document(first, "a", [("Первый", (0.1, 1))])
    await shelf.document(also, "b", [("Второй", (0, 1))])
    await shelf.document(other, "c", [("Третий", (1, 0.3, 0)), ("Третий, дальше", (1, 0.3, 0.1))])
    vectoriser = ByBase({})
    query = ContextQuery(question="q", limit=3)
    answer = await shelf.retriever(vectoriser=vectoriser).search(shelf.scope(), query)
    assert [one.chunk_id for one in answer.results if not one.neighbour_of] == ["b-0", "a-0", "c-0"]
    assert [(one.chunk_id, one.neighbour_of) for one in answer.results if one.neighbour_of] == [("c-1", "c-0")]
    assert sorted(vectoriser.asked) == ["", "m-3"], "one vector for each model"
