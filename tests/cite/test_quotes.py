"""A quote is found where it stands, and one that was changed in a word is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opora.cite.quotes import locate

SOURCE = "Глава 1. «Сроки» — это\nважно…  Выплата в тече\u00adние 5,5 дней.\n提交差旅\n报销单。 End"


@pytest.mark.parametrize(
    ("quote", "found", "exact"),
    [
        ("Выплата в", "Выплата в", True),
        ('"Сроки" - это важно...', "Сроки» — это\nважно", False),
        ("течение 5,5 дней", "тече\u00adние 5,5 дней", False),
        ("提交差旅报销单", "提交差旅\n报销单", False),
        ("  Глава 1.  ", "Глава 1.", True),
        ("“важно”", "важно", False),
    ],
)
def test_found_with_offsets(quote: str, found: str, exact: bool) -> None:
    located = locate(quote, SOURCE)
    assert located is not None
    assert SOURCE[located.start : located.end] == found
    assert located.exact is exact


@pytest.mark.parametrize(
    "quote", ["", "   ", "«»", "Выплата за", "55 дней", "выплата", "5.5 дней", "ней", "a", "-Сроки"]
)
def test_not_found(quote: str) -> None:
    assert locate(quote, SOURCE) is None


@given(st.text(alphabet=' «»"–.\n\u00ad中文。', min_size=1, max_size=40), st.data())
def test_every_slice_of_a_source_without_letters_is_found_exactly(source: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(source) - 1))
    end = data.draw(st.integers(start + 1, len(source)))
    quote = source[start:end]
    located = locate(quote, source)
    if quote.strip():
        assert located is not None
        assert source[located.start : located.end] == quote.strip()
    else:
        assert located is None


def test_a_quote_is_not_found_inside_a_longer_number_or_word() -> None:
    assert locate("5 дней", "15 дней") is None
    assert locate("5 дней", "15 дней, потом 5 дней") is not None
