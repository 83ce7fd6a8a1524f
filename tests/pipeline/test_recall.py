"""What is recalled for a question: at most five items and 600 characters, by words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from opora.domain.memory import MAX_MEMORY_CHARS, MAX_RECALLED_ITEMS, MemoryItem
from opora.pipeline.recall import recalled

START = datetime(2026, 1, 2, tzinfo=UTC)


def item(number: int, content: str, *, always: bool = False) -> MemoryItem:
    moment = START + timedelta(minutes=number)
    return MemoryItem(
        item_id=f"i-{number}", tenant_id="t", user_id="u", content=content, always=always, created_at=moment,
        updated_at=moment,
    )  # fmt: skip


def ids(question: str, *items: MemoryItem) -> list[str]:
    return [one.item_id for one in recalled(question, items)]


def test_numbers_of_the_specification() -> None:
    assert (MAX_RECALLED_ITEMS, MAX_MEMORY_CHARS) == (5, 600)


def test_by_words_in_any_form_and_none_without() -> None:
    branch, leave = item(1, "Я работаю в казанском филиале."), item(2, "Отпуск беру в июле.")
    assert ids("Какие филиалы закрыты?", branch, leave) == ["i-1"]
    assert ids("Сколько дней отпуска осталось?", branch, leave) == ["i-2"]
    assert ids("Как оформить пропуск?", branch, leave) == []


def test_function_words_recall_nothing() -> None:
    assert ids("Что это и где оно?", item(1, "Что это где оно — мой девиз")) != ids(
        "Где касса?", item(1, "Что это где оно — мой девиз")
    )
    assert ids("Где касса?", item(1, "Где бы то ни было")) == []


def test_rare_words_count_more() -> None:
    items = [item(n, f"Проект «Север», заметка {n}") for n in range(6)] + [item(9, "Сервер стоит в Казани")]
    assert ids("Проект и сервер", *items)[0] == "i-9"


def test_what_is_meant_for_every_question_comes_first_and_the_newest_of_it() -> None:
    items = [
        item(1, "Отвечай кратко.", always=True),
        item(2, "Отпуск в июле"),
        item(3, "Называй на «вы».", always=True),
    ]
    assert ids("Когда отпуск?", *items) == ["i-3", "i-1", "i-2"]
    assert ids("Погода", *items) == ["i-3", "i-1"]


def test_an_item_that_no_longer_fits_is_passed_over() -> None:
    items = [item(1, "отпуск " + "а" * 590, always=True), item(2, "отпуск " * 10), item(3, "Да", always=True)]
    assert ids("отпуск", *items) == ["i-3", "i-1"]


texts = st.text(alphabet="абв где отпуск,.", min_size=1, max_size=MAX_MEMORY_CHARS)


@given(st.lists(st.tuples(texts, st.booleans()), max_size=12), texts)
def test_the_limits_hold_whatever_is_remembered(stored: list[tuple[str, bool]], question: str) -> None:
    items = [item(n, content, always=always) for n, (content, always) in enumerate(stored)]
    found = recalled(question, items)
    assert len(found) <= MAX_RECALLED_ITEMS
    assert sum(len(one.content) for one in found) <= MAX_MEMORY_CHARS
    assert found == recalled(question, list(reversed(items)))
