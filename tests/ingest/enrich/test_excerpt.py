"""The part of a document that a model is shown when all of it is too much."""

from hypothesis import given
from hypothesis import strategies as st

from opora.ingest.enrich.excerpt import MARK, excerpt
from opora.text.token_count import estimate_tokens

TEXTS = st.lists(st.integers(1, 60).map(lambda n: "слово " * n), min_size=1, max_size=40)


def test_a_document_that_fits_is_shown_whole() -> None:
    assert excerpt(["один", "два"], 100) == "один\n\nдва"
    assert excerpt([], 100) == ""


def test_the_beginning_stands_and_the_rest_comes_from_all_over_with_gaps_marked() -> None:
    texts = [f"часть {n} " + "слово " * 20 for n in range(20)]
    one = estimate_tokens(texts[0])
    shown = excerpt(texts, one * 8).split("\n\n")
    numbers = [int(text.split()[1]) for text in shown if text != MARK]
    assert numbers[:4] == [0, 1, 2, 3]
    assert numbers == sorted(numbers)
    assert numbers[-1] == 19
    assert any(8 <= number <= 14 for number in numbers)
    assert MARK in shown


@given(TEXTS, st.integers(50, 400))
def test_the_budget_holds_whatever_the_pieces_and_their_order_stays(texts: list[str], budget: int) -> None:
    shown = excerpt(texts, budget)
    marks = shown.count(MARK) * (estimate_tokens(MARK) + 2)
    assert estimate_tokens(shown.replace(MARK, "")) <= budget + len(texts) + marks
    assert shown.startswith(texts[0].split()[0])
