"""The verdict that nothing was found, from its signals."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opora.domain.search import SearchResult
from opora.domain.settings import RetrievalSettings
from opora.retrieve import gate
from opora.retrieve.gate import OperatingPoint, Signals, confidence, coverage, decide, nothing_found, signals

FLOOR = 0.72
POINT = OperatingPoint(model_floor=FLOOR)
PASSAGES = (
    "Компания возмещает расходы на проезд по документам после возвращения сотрудника.",
    "Отпуск предоставляют по графику, который утверждает директор.",
    "Суточные выплачивают за каждый день поездки.",
    "Заявку на пропуск подают за день до визита.",
    "Испытательный срок длится три месяца.",
)


def result(number: int, content: str, cosine: float | None) -> SearchResult:
    scores = {} if cosine is None else {"vector": cosine}
    return SearchResult(
        chunk_id=f"c{number}", base_id="b", tenant_id="t", document_id="d", content=content, scores=scores
    )


def results(*cosines: float | None, texts: tuple[str, ...] = PASSAGES) -> list[SearchResult]:
    return [result(n, texts[n], cosine) for n, cosine in enumerate(cosines)]


def seen(best: float | None, *, margin: float = 0.1, coverage: float = 0.0, across: bool = False) -> Signals:
    return Signals(found=50, best=best, margin=margin, coverage=coverage, across=across)


def test_an_empty_list_is_nothing_found() -> None:
    assert nothing_found("вопрос", []).nothing_found
    assert nothing_found("вопрос", [], OperatingPoint(confidence=0.0)).nothing_found
    assert confidence(Signals(found=0), FLOOR) == 0.0


@pytest.mark.parametrize(
    ("what", "answerable", "off_topic"),
    [
        # Near the medians of the best cosine, margin and coverage, and high among the questions of another set.
        ("xquad-ru", seen(0.870, margin=0.39, coverage=0.70), seen(0.847, margin=0.20, coverage=0.30)),
        ("xquad-en", seen(0.863, margin=0.40, coverage=0.79), seen(0.834, margin=0.18, coverage=0.40)),
        ("fastapi-ru", seen(0.896, margin=0.23, coverage=0.74), seen(0.832, margin=0.13, coverage=0.28)),
        ("cmrc2018-zh", seen(0.907, margin=0.36, coverage=0.45), seen(0.875, margin=0.17, coverage=0.14)),
    ],
)
def test_no_one_signal_decides(what: str, answerable: Signals, off_topic: Signals) -> None:
    assert not decide(answerable, POINT).nothing_found
    assert decide(off_topic, POINT).nothing_found
    assert "confidence" in decide(off_topic, POINT).reason


def test_words_make_up_for_distance_and_nearness_for_other_words() -> None:
    far = seen(0.82, margin=0.15)
    assert decide(far, POINT).nothing_found
    assert not decide(replace(far, coverage=0.9), POINT).nothing_found
    assert not decide(seen(0.87, margin=0.4, coverage=0.0), POINT).nothing_found
    assert decide(seen(0.87, margin=0.05, coverage=0.0), POINT).nothing_found


def test_across_languages_words_are_not_asked_for() -> None:
    near = seen(0.83, margin=0.25)
    assert decide(near, POINT).nothing_found
    assert not decide(replace(near, across=True), POINT).nothing_found


def test_without_vectors_words_decide() -> None:
    assert not decide(seen(None, coverage=0.6), POINT).nothing_found
    assert decide(seen(None, coverage=0.2), POINT).nothing_found
    assert not decide(replace(seen(None, coverage=0.3), unspaced=True), POINT).nothing_found


def test_a_model_that_nobody_measured_is_judged_by_margin_and_words() -> None:
    point = OperatingPoint()
    assert not decide(seen(0.45, margin=0.3, coverage=0.5), point).nothing_found
    assert decide(seen(0.45, margin=0.1, coverage=0.2), point).nothing_found
    assert decide(seen(0.99, margin=0.1, coverage=0.2), point).nothing_found
    assert confidence(seen(0.5, margin=0.2, across=True), 0.0) > confidence(seen(0.5, margin=0.2), 0.0)


@pytest.mark.parametrize("scale", [0.5, 0.8, 1.0])
def test_the_scale_of_a_model_does_not_matter_once_its_floor_is_known(scale: float) -> None:
    cosines = (0.87, 0.80, 0.79, 0.78, 0.78)
    other = tuple(1 - scale * (1 - cosine) for cosine in cosines)
    one = confidence(signals("расходы", results(*cosines)), FLOOR)
    assert confidence(signals("расходы", results(*other)), 1 - scale * (1 - FLOOR)) == pytest.approx(one)


@settings(max_examples=60, deadline=None)
@given(
    best=st.floats(0, 1),
    margin=st.floats(0, 1),
    share=st.floats(0, 1),
    more=st.floats(0, 1),
    floor=st.sampled_from([0.0, FLOOR]),
    across=st.booleans(),
)
def test_more_of_a_signal_never_lowers_the_confidence(
    best: float, margin: float, share: float, more: float, floor: float, across: bool
) -> None:
    one = seen(best, margin=margin, coverage=share, across=across)
    value = confidence(one, floor)
    assert 0.0 <= value <= 1.0
    for name, now in (("best", best), ("margin", margin), ("coverage", share)):
        assert confidence(replace(one, **{name: min(1.0, now + more)}), floor) >= value - 1e-12


def test_the_margin_is_the_way_from_the_median_to_one() -> None:
    found = signals("проезд", results(0.9, 0.85, 0.8, 0.7, 0.6))
    assert (found.found, found.best) == (5, 0.9)
    assert found.margin == pytest.approx((0.9 - 0.8) / (1 - 0.8))
    short = signals("проезд", results(0.9, 0.8, None, None, None))
    assert short.margin == gate.NEUTRAL_MARGIN
    assert signals("проезд", results(None, None, None)).best is None
    assert signals("проезд", results(1.0, 1.0, 1.0, 1.0, 1.0)).margin == gate.NEUTRAL_MARGIN


def test_coverage_counts_word_forms_and_weighs_rare_words_most() -> None:
    assert coverage("Какой расход на проезды?", PASSAGES) > 0.9
    assert coverage("Рецепт борща со свёклой", PASSAGES) == 0.0
    assert 0.0 < coverage("проезд и борщ", PASSAGES) <= 0.5
    assert coverage("проезд и день", PASSAGES) > 0.5
    assert coverage("", PASSAGES) == coverage("проезд", ()) == 0.0


def test_one_passage_must_hold_the_words() -> None:
    apart = coverage("отпуск и пропуск", PASSAGES)
    assert apart == pytest.approx(0.5, abs=0.05)
    assert coverage("расходы на проезд", PASSAGES) > 0.99


def test_only_the_best_passages_may_hold_the_words() -> None:
    texts = ("ничего",) * gate.COVERAGE_PASSAGES + ("отпуск",)
    assert coverage("отпуск", texts) == 0.0
    assert coverage("отпуск", texts[1:]) == 1.0
    assert coverage("отпуск", ("x " * gate.COVERAGE_CHARS + "отпуск",)) == 0.0


def test_a_short_list_does_not_make_every_word_common() -> None:
    assert coverage("проезд борщ", PASSAGES[:1]) == pytest.approx(0.44, abs=0.05)


@pytest.mark.parametrize(
    ("question", "closest", "across"),
    [
        ("Когда вернут деньги за проезд?", "Компания возмещает расходы на проезд.", False),
        ("When is travel refunded?", "Компания возмещает расходы на проезд.", True),
        ("出差费用怎么报销", "The company refunds travel costs on documents.", True),
        ("FastAPI OpenAPI Pydantic Starlette 响应模型", "响应模型用来声明返回的数据。", False),
        ("KB-1234", "Компания возмещает расходы на проезд.", True),
        ("12345", "Компания возмещает расходы на проезд.", False),
    ],
)
def test_a_question_is_across_languages_when_the_closest_passage_is(question: str, closest: str, across: bool) -> None:
    assert signals(question, [result(1, "12345", 0.7), result(2, closest, 0.9)]).across is across


@pytest.mark.parametrize(
    "cosines", [(0.9, 0.8, 0.7, 0.7, 0.7), (0.75,) * 5, (0.9, None, None), (None, None, None), (0.8, 0.74, 0.74)]
)
@pytest.mark.parametrize("question", ["расходы на проезд", "Рецепт борща", "borscht recipe", ""])
@pytest.mark.parametrize(
    "point",
    [
        POINT,
        OperatingPoint(),
        replace(POINT, cosine=0.85),
        replace(POINT, confidence=0.0),
        replace(POINT, confidence=1.0),
    ],
)
def test_words_that_are_not_looked_at_would_change_nothing(
    cosines: tuple[float | None, ...], question: str, point: OperatingPoint
) -> None:
    found = results(*cosines)
    assert nothing_found(question, found, point) == decide(signals(question, found), point)


def test_a_floor_that_somebody_set_holds_unless_the_words_cover_the_question() -> None:
    point = replace(POINT, cosine=0.9)
    near = seen(0.89, margin=0.5, coverage=0.1)
    assert not decide(near, POINT).nothing_found
    assert decide(near, point).nothing_found
    assert not decide(replace(near, coverage=gate.MIN_COVERAGE), point).nothing_found
    assert not decide(replace(near, best=0.9), point).nothing_found


def test_the_operating_point_moves_the_verdict() -> None:
    doubtful = seen(0.85, margin=0.22, coverage=0.3)
    value = confidence(doubtful, FLOOR)
    assert 0.05 < value < 0.95
    assert not decide(doubtful, replace(POINT, confidence=value)).nothing_found
    assert decide(doubtful, replace(POINT, confidence=value + 0.01)).nothing_found
    assert not decide(seen(0.1), replace(POINT, confidence=0.0)).nothing_found


def test_the_setting_and_the_gate_have_one_default() -> None:
    assert RetrievalSettings().answer_confidence == gate.CONFIDENCE == OperatingPoint().confidence


def test_the_verdict_depends_on_nothing_else() -> None:
    found = results(0.8, 0.78, 0.77, 0.77, 0.77)
    other = [replace(r, score=99.0, chunk_id=f"x{r.chunk_id}") for r in found]
    assert nothing_found("Рецепт борща", found, POINT) == nothing_found("Рецепт борща", other, POINT)
    assert nothing_found("Рецепт борща", found, POINT).nothing_found
    assert not nothing_found("расходы на проезд", found, POINT).nothing_found
