"""The verdict that nothing was found, from its signals."""

from __future__ import annotations

from dataclasses import replace

import pytest

from opora.domain.search import SearchResult
from opora.retrieve.gate import OperatingPoint, Signals, coverage, decide, nothing_found, signals

PASSAGES = (
    "Компания возмещает расходы на проезд по документам после возвращения сотрудника.",
    "Отпуск предоставляют по графику, который утверждает директор.",
    "Суточные выплачивают за каждый день поездки.",
)


def result(number: int, content: str, cosine: float | None) -> SearchResult:
    scores = {} if cosine is None else {"vector": cosine}
    return SearchResult(
        chunk_id=f"c{number}", base_id="b", tenant_id="t", document_id="d", content=content, scores=scores
    )


def results(*cosines: float | None) -> list[SearchResult]:
    return [result(n, text, cosine) for n, (text, cosine) in enumerate(zip(PASSAGES, cosines, strict=True))]


def test_an_empty_list_is_nothing_found() -> None:
    assert nothing_found("вопрос", []).nothing_found


@pytest.mark.parametrize(
    ("seen", "nothing"),
    [
        (Signals(found=3, best_vector=0.9, margin=0.1, coverage=0.0), False),
        (Signals(found=3, best_vector=0.9, margin=0.01, coverage=0.0), True),
        (Signals(found=3, best_vector=0.7, margin=0.2, coverage=0.0), True),
        (Signals(found=3, best_vector=0.7, margin=0.0, coverage=0.6), False),
        (Signals(found=3, best_vector=None, margin=0.0, coverage=0.6), False),
        (Signals(found=3, best_vector=None, margin=0.0, coverage=0.1), True),
    ],
)
def test_meaning_or_words_must_come_near(seen: Signals, nothing: bool) -> None:
    verdict = decide(seen, OperatingPoint(floor=0.8, min_margin=0.05, min_coverage=0.5))
    assert verdict.nothing_found is nothing
    assert bool(verdict.reason) is nothing


def test_the_margin_is_the_best_over_the_median() -> None:
    seen = signals("проезд", results(0.9, 0.8, 0.7))
    assert (seen.found, seen.best_vector) == (3, 0.9)
    assert seen.margin == pytest.approx(0.1)
    assert signals("проезд", results(0.9, None, None)).margin == 0.0
    assert signals("проезд", results(None, None, None)).best_vector is None


def test_coverage_counts_word_forms_and_weighs_rare_words_most() -> None:
    assert coverage("Какой расход на проезды?", PASSAGES) > 0.9
    assert coverage("Рецепт борща со свёклой", PASSAGES) == 0.0
    half = coverage("проезд и борщ", PASSAGES)
    assert 0.0 < half < 0.5
    assert coverage("", PASSAGES) == coverage("проезд", ()) == 0.0


@pytest.mark.parametrize("cosines", [(0.9, 0.8, 0.7), (0.7, 0.7, 0.7), (0.9, None, None), (None, None, None)])
@pytest.mark.parametrize("question", ["расходы на проезд", "Рецепт борща", ""])
@pytest.mark.parametrize("point", [OperatingPoint(), OperatingPoint(floor=0.8), OperatingPoint(min_margin=0.05)])
def test_words_that_are_not_looked_at_would_change_nothing(
    cosines: tuple[float | None, ...], question: str, point: OperatingPoint
) -> None:
    found = results(*cosines)
    assert nothing_found(question, found, point) == decide(signals(question, found), point)


def test_the_verdict_depends_on_nothing_else() -> None:
    found = results(0.5, 0.4, 0.4)
    point = OperatingPoint(floor=0.8)
    other = [replace(r, score=99.0, chunk_id=f"x{r.chunk_id}") for r in found]
    assert nothing_found("Рецепт борща", found, point) == nothing_found("Рецепт борща", other, point)
    assert nothing_found("Рецепт борща", found, point).nothing_found
    assert not nothing_found("расходы на проезд", found, point).nothing_found
