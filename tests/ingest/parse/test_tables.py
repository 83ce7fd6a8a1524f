"""CSV and workbooks: rows that can be understood, cut and cited one by one."""

from __future__ import annotations

import datetime
import io

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opora.domain.errors import ParseFailed
from opora.domain.knowledge import Block, BlockKind, ParsedDocument
from opora.ingest.delimiters import find_delimiter
from opora.ingest.limits import ParseLimits
from opora.ingest.parse import csv, rows, xlsx

LIMITS = ParseLimits()


def csv_of(text: str, encoding: str = "utf-8") -> ParsedDocument:
    return csv.parse(text.encode(encoding), "a.csv", LIMITS)


def workbook(sheets: dict[str, list[list[object]]], merged: str = "") -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, content in sheets.items():
        sheet = book.create_sheet(name)
        for row in content:
            sheet.append(row)
        if merged:
            sheet.merge_cells(merged)
    target = io.BytesIO()
    book.save(target)
    return target.getvalue()


def all_rows(document: ParsedDocument) -> list[tuple[int, str]]:
    return [
        (block.place.row + index, row)
        for block in document.blocks
        if block.place.row is not None
        for index, row in enumerate(block.rows or (block.text,))
    ]


@pytest.mark.parametrize("delimiter", [";", ",", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1251", "utf-16"])
def test_rows_name_their_columns_and_keep_their_numbers(delimiter: str, encoding: str) -> None:
    lines = ["Город;Суточные", "Казань;700", "", "Пермь;600"]
    document = csv_of("\n".join(lines).replace(";", delimiter), encoding)
    assert all_rows(document) == [(2, "Город: Казань | Суточные: 700"), (4, "Город: Пермь | Суточные: 600")]
    assert {block.kind for block in document.blocks} == {BlockKind.TABLE}
    assert document.file_type == ("tsv" if delimiter == "\t" else "csv")


def test_russian_decimal_commas_do_not_beat_semicolons() -> None:
    text = "Товар;Цена;Вес\nБолт;12,50;0,1\nГайка;7,10;0,2\n"
    assert find_delimiter(text) == ";"
    assert all_rows(csv_of(text))[0] == (2, "Товар: Болт | Цена: 12,50 | Вес: 0,1")


def test_quotes_line_ends_inside_them_and_huge_fields() -> None:
    huge = "слово " * 50_000
    document = csv_of(f'a;b\n"x; ""y""\nz";1\n"{huge}";2\n')
    first, second = all_rows(document)
    assert first == (2, 'a: x; "y" z | b: 1')
    assert second[1].count("слово") == 50_000


def test_a_quote_that_is_never_closed_swallows_no_rows() -> None:
    lines = [f"Болт {number};{number}" for number in range(1_000)]
    lines[500] = '"Болт 500;500'
    document = csv_of("\n".join(["Товар;Цена", *lines]))
    assert len(all_rows(document)) == 1_000
    assert all_rows(document)[-1] == (1_001, "Товар: Болт 999 | Цена: 999")


def test_a_declared_separator_is_believed_and_is_no_row() -> None:
    assert all_rows(csv_of("sep=|\na|b\n1|2\n")) == [(3, "a: 1 | b: 2")]


def test_tables_without_a_head_keep_plain_rows() -> None:
    assert [row for _, row in all_rows(csv_of("1;2\n3;4\n"))] == ["1 | 2", "3 | 4"]


def test_a_title_over_the_table_is_not_its_head() -> None:
    document = xlsx.parse(workbook({"Лист": [["Отчёт за март", None], ["Город", "Сумма"], ["Казань", 7]]}), "", LIMITS)
    assert document.blocks[0].kind is BlockKind.PARAGRAPH
    assert all_rows(document) == [(1, "Отчёт за март"), (3, "Город: Казань | Сумма: 7")]


def test_huge_tables_name_their_columns_once_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "DESCRIBED_CHARS", 0)
    (block,) = csv_of("Город;Сумма\nКазань;1\nПермь;2\n").blocks
    assert block.head == "Город | Сумма"
    assert block.rows == ("Казань | 1", "Пермь | 2")
    assert block.text == "Город | Сумма\nКазань | 1\nПермь | 2"


def test_blocks_of_a_long_table_are_few_and_outlive_an_inserted_row() -> None:
    lines = [f"Город {number};{number}" for number in range(20_000)]
    before = csv_of("\n".join(["Город;Номер", *lines]))
    after = csv_of("\n".join(["Город;Номер", "Новый;0", *lines]))
    assert len(before.blocks) < 300
    assert len({block.text for block in after.blocks} - {block.text for block in before.blocks}) == 1
    assert [row for _, row in all_rows(before)][-1] == "Город: Город 19999 | Номер: 19999"


def test_a_workbook_cites_sheet_and_row() -> None:
    day, moment = datetime.date(2025, 3, 1), datetime.datetime(2025, 3, 1, 10, 30)
    content = [["Дата", "Когда", "Сумма", "Доля", "Да"], [day, moment, 7.0, 0.1, True], [None] * 5, [day, None, 12.5]]
    document = xlsx.parse(workbook({"Расходы": content, "Пусто": [], "Ещё": [["а", "б"], ["в", "г"]]}), "", LIMITS)
    assert all_rows(document) == [
        (2, "Дата: 2025-03-01 | Когда: 2025-03-01 10:30 | Сумма: 7 | Доля: 0.1 | Да: TRUE"),
        (4, "Дата: 2025-03-01 | Сумма: 12.5"),
        (2, "а: в | б: г"),
    ]
    assert [block.place.sheet for block in document.blocks] == ["Расходы", "Расходы", "Ещё"]
    assert document.metadata["sheets"] == ["Расходы", "Пусто", "Ещё"]


def test_a_cell_merged_over_rows_speaks_for_each_of_them() -> None:
    content = [["Регион", "Город"], ["Волга", "Казань"], [None, "Пермь"], ["Юг", "Сочи"]]
    document = xlsx.parse(workbook({"Лист": content}, merged="A2:A3"), "", LIMITS)
    assert [row for _, row in all_rows(document)] == [
        "Регион: Волга | Город: Казань",
        "Регион: Волга | Город: Пермь",
        "Регион: Юг | Город: Сочи",
    ]


def test_cells_are_limited() -> None:
    data = workbook({"Лист": [["а", "б"]] * 10})
    with pytest.raises(ParseFailed) as caught:
        xlsx.parse(data, "", ParseLimits(cells=19))
    assert caught.value.reason == "size_limit"
    assert xlsx.parse(data, "", ParseLimits(cells=20)).blocks


def test_a_broken_workbook_is_a_reason() -> None:
    import zipfile

    source = zipfile.ZipFile(io.BytesIO(workbook({"Лист": [["а", "б"]]})))
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as broken:
        for name in source.namelist():
            broken.writestr(name, b"<broken" if "sheet1" in name else source.read(name))
    with pytest.raises(ParseFailed) as caught:
        xlsx.parse(target.getvalue(), "", LIMITS)
    assert caught.value.reason == "damaged_file"


def test_a_cell_of_bars_is_not_taken_for_the_seam_between_cells() -> None:
    assert rows.row_text(["", "|", ""], None) == " | |"
    assert rows.row_text(["a", "", ""], None) == "a"


cells = st.text(alphabet=st.characters(codec="utf-8", exclude_categories=("Cc", "Zs", "Zl", "Zp", "Cf")), max_size=8)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.lists(cells, min_size=2, max_size=4), min_size=1, max_size=6))
def test_every_filled_cell_comes_out_and_blocks_are_consistent(table: list[list[str]]) -> None:
    blocks: list[Block] = list(rows.table_blocks(iter(enumerate(table, start=1)), expected_rows=len(table)))
    text = "\n".join(block.text for block in blocks)
    head = next((row for row in table if sum(map(bool, row)) > 1), [])
    for row in table:
        if row is head and rows.is_head(row):
            continue
        assert all(cell in text for cell in row)
    for block in blocks:
        if block.rows:
            assert block.text == "\n".join((block.head, *block.rows) if block.head else block.rows)
            assert block.place.row is not None
            assert block.place.row_end == block.place.row + len(block.rows) - 1
