"""What can be quoted by itself, with exact offsets."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opora.models.quote_units import MAX_QUOTE_CHARS, quote_units


def texts(content: str) -> list[str]:
    return [content[unit.start : unit.end] for unit in quote_units(content)]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("Первое предложение. Второе предложение.", ["Первое предложение.", "Второе предложение."]),
        ("第一句话在这里。第二句话在那里。", ["第一句话在这里。", "第二句话在那里。"]),
        ("# Заголовок\nТекст под заголовком.", ["Текст под заголовком."]),
        ("Список покупок:\n- первое дело\n- второе дело", ["Список покупок:", "- первое дело", "- второе дело"]),
        ("Целое предложение. 1.2. Ещё предложение.", ["Целое предложение.", "Ещё предложение."]),
        ("Да.", ["Да."]),
        ("", []),
        (" \n\n --- \n", []),
    ],
)
def test_sentences_and_items(content: str, expected: list[str]) -> None:
    assert texts(content) == expected


def test_a_line_wrapped_sentence_stays_whole() -> None:
    assert texts("Это предложение\nперенесено на строку.") == ["Это предложение\nперенесено на строку."]


@pytest.mark.parametrize(
    "table",
    [
        "| Город | Суточные |\n|---|---|\n| Москва | 1500 |\n| Казань | 1200 |",
        "Город | Суточные\nМосква | 1500\nКазань | 1200",
        "Город\tСуточные\nМосква\t1500\nКазань\t1200",
    ],
)
def test_a_row_is_a_unit_scored_with_its_head(table: str) -> None:
    lines = table.split("\n")
    units = quote_units(table)
    assert [table[unit.start : unit.end] for unit in units] == lines[-2:]
    assert [unit.scored for unit in units] == [f"{lines[0]}\n{row}" for row in lines[-2:]]


def test_a_table_after_text_and_a_second_table_have_their_own_heads() -> None:
    content = (
        "Таблица ниже показывает всё.\n\nА имя | Б имя\n1 | 2\n\nДальше идёт обычный текст.\n\nВ имя | Г имя\n3 | 4"
    )
    assert [unit.scored for unit in quote_units(content)] == [
        "Таблица ниже показывает всё.",
        "А имя | Б имя\n1 | 2",
        "Дальше идёт обычный текст.",
        "В имя | Г имя\n3 | 4",
    ]


def test_a_head_without_rows_is_itself_quotable() -> None:
    assert texts("| Город назначения | Суточные |") == ["| Город назначения | Суточные |"]


@pytest.mark.parametrize(
    "rows",
    [
        ["Город: Москва | Суточные: 1500", "Город: Казань | Суточные: 1200"],
        ["city: Springfield, IL | population: 114394 | mayor: Jane Doe", "city: Portland | mayor: John Roe"],
        ["Деталь: клапан | Цена: 40", "Деталь: насос | без названия | Цена: 90", "Цена: 15 | Склад: второй"],
        ["城市: 苏州 | 每日补贴: 三百二十", "城市: 上海 | 每日补贴: 三百八十"],
    ],
)
def test_rows_that_name_their_columns_are_units_alone_and_the_first_is_no_head(rows: list[str]) -> None:
    units = quote_units("\n".join(rows))
    assert [unit.scored for unit in units] == rows


def test_a_first_row_with_a_value_is_quotable_too() -> None:
    assert texts("Сидоров Олег | 12-99\nКим Лариса | 55-01") == ["Сидоров Олег | 12-99", "Ким Лариса | 55-01"]


@pytest.mark.parametrize("head", ["Показатель | 2025 | 2026", "| Показатель | 100 | 200 |\n|---|---|---|"])
def test_years_and_what_stands_over_a_rule_are_heads(head: str) -> None:
    (unit,) = quote_units(f"{head}\nВыручка за год | 5 | 7")
    assert unit.scored == f"{head.partition(chr(10))[0]}\nВыручка за год | 5 | 7"


def test_a_long_sentence_is_cut_at_a_clause() -> None:
    content = "слово за словом, " * 100 + "конец."
    units = texts(content)
    assert len(units) > 1
    assert all(len(unit) <= MAX_QUOTE_CHARS for unit in units)
    assert all(unit.endswith((",", ".")) for unit in units)


@settings(max_examples=80, deadline=None)
@given(st.text(alphabet="абв .,\n|\t#-中文。1🙂\u0301", max_size=1500))
def test_units_are_ordered_disjoint_bounded_and_bare(content: str) -> None:
    place = 0
    for unit in quote_units(content):
        assert place <= unit.start < unit.end <= len(content)
        place = unit.end
        text = content[unit.start : unit.end]
        assert text == text.strip()
        assert len(text) <= MAX_QUOTE_CHARS
        assert unit.scored.endswith(text)
