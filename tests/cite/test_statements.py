"""What a citation stands behind, without Markdown's marks."""

import pytest

from opora.cite.statements import plain, readings, statements
from opora.cite.tags import kb_tag

A = kb_tag(title="А", chunk_id="a", base_id="b", document_id="d")
B = kb_tag(title="Б", chunk_id="b", base_id="b", document_id="d")


def last_readings(answer: str) -> list[str]:
    return [parts[-1] if parts else "" for _, parts in statements(answer)]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (f"Первое. Второе.{A}", ["Второе."]),
        (f"Первое{A}, второе{B}.", ["Первое", ", второе"]),
        (f"Одно.{A}{B}", ["Одно.", "Одно."]),
        (f"Одно. {A} {B}", ["Одно.", "Одно."]),
        (f"- **Срок**: три дня{A}\n- _Место_: Москва{B}", ["Срок: три дня", "Место: Москва"]),
        (f"1. Подать заявление{A}", ["Подать заявление"]),
        (f"# Отпуск\n\nДвадцать дней{A}", ["Двадцать дней"]),
        (f"| Город | Сумма |\n|---|---|\n| Москва | 700 {A} |", ["Москва | 700"]),
        (f"См. [правила](https://e.org/x){A}", ["См. правила"]),
        (f"{A} Расходы возмещают. Потом.", ["Расходы возмещают."]),
        (f"{A}{B} Расходы возмещают.", ["Расходы возмещают.", "Расходы возмещают."]),
        (A, [""]),
    ],
)
def test_the_statement_of_each_citation(answer: str, expected: list[str]) -> None:
    assert last_readings(answer) == expected


def test_a_quotation_is_read_as_it_stands_before_marks_are_taken_out() -> None:
    assert readings("> **Срок** три дня.\n> - и ещё два")[0] == "**Срок** три дня.\n- и ещё два"


def test_words_with_underscores_and_signs_stay() -> None:
    assert plain("`max_rounds` is 5 < 7 & snake_case, -5 °C") == "max_rounds is 5 < 7 & snake_case, -5 °C"
