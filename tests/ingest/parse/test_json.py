"""JSON and JSON Lines: records are rows that name their fields, and nothing is rounded."""

from __future__ import annotations

import pytest

from opora.domain.errors import ParseFailed
from opora.domain.knowledge import BlockKind, ParseReason
from opora.ingest.limits import ParseLimits
from opora.ingest.read import read_document


def read(text: str, name: str = "данные.json", **limits: int):
    return read_document(text.encode(), name, ParseLimits(**limits))


def test_a_list_of_records_is_rows_that_name_their_fields() -> None:
    parsed = read(
        '[{"город": "Казань", "адрес": {"улица": "Баумана", "дом": 5}}, {"город": "Тверь", "теги": ["а", "б"]}]'
    )
    (block,) = parsed.blocks
    assert block.kind is BlockKind.TABLE
    assert block.rows == ("город: Казань | адрес.улица: Баумана | адрес.дом: 5", "город: Тверь | теги: а, б")
    assert (block.place.row, block.place.row_end) == (1, 2)


def test_numbers_stand_as_they_were_written() -> None:
    text = read('{"a": 12345678901234567890123, "b": 1.10, "c": 1e400, "d": true, "e": null}').text
    assert text == "a: 12345678901234567890123\nb: 1.10\nc: 1e400\nd: true"


def test_inner_objects_stand_under_their_names() -> None:
    blocks = read(
        '{"название": "Прайс", "товары": [{"имя": "болт"}, {"имя": "гайка"}], "склад": {"город": "Омск"}}'
    ).blocks
    assert [(block.kind, block.text) for block in blocks] == [
        (BlockKind.PARAGRAPH, "название: Прайс"),
        (BlockKind.HEADING, "товары"),
        (BlockKind.TABLE, "имя: болт\nимя: гайка"),
        (BlockKind.HEADING, "склад"),
        (BlockKind.PARAGRAPH, "город: Омск"),
    ]
    assert blocks[-1].place.heading_path == ("склад",)


@pytest.mark.parametrize("name", ["строки.jsonl", "строки.ndjson", "строки.json"])
def test_lines_are_records_by_their_number(name: str) -> None:
    parsed = read('{"a": "раз"}\n\n{"a": "три"}\n{"a": "四"}\n', name)
    assert parsed.file_type == "jsonl"
    assert [(b.rows, b.place.row, b.place.row_end) for b in parsed.blocks] == [
        (("a: раз",), 1, 1),
        (("a: три", "a: 四"), 3, 4),
    ]


@pytest.mark.parametrize(
    ("text", "name", "line"),
    [
        ('{"a": 1,\n "b": }', "x.json", "line 2"),
        ('{"a": 1}\n{"a": 2\n', "x.jsonl", "line 2"),
        ('{"a": NaN}', "x.json", "line 1"),
        ('[1, 2', "x.json", "line 1"),
    ],
)  # fmt: skip
def test_what_is_broken_is_named_by_its_line(text: str, name: str, line: str) -> None:
    with pytest.raises(ParseFailed, match=line) as told:
        read(text, name)
    assert told.value.reason == ParseReason.DAMAGED


@pytest.mark.parametrize("text", ["[" * 100_000 + "]" * 100_000, '{"a":' * 300 + "1" + "}" * 300])
def test_endless_nesting_is_refused(text: str) -> None:
    with pytest.raises(ParseFailed, match="deep"):
        read(text)


def test_a_json_that_says_nothing_is_no_text() -> None:
    with pytest.raises(ParseFailed) as told:
        read("[{}, [], null]")
    assert told.value.reason == ParseReason.NO_TEXT
