"""PDF: reading order, whole words, pages and boxes."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from opora.domain.errors import ParseFailed
from opora.domain.knowledge import BlockKind, ParsedDocument
from opora.ingest.limits import ParseLimits
from opora.ingest.parse import pdf
from opora.ingest.parse.pdf_blocks import join_lines

FILES = Path(__file__).parents[2] / "cases/files/pdf"
LIMITS = ParseLimits()


def case(name: str) -> ParsedDocument:
    return pdf.parse((FILES / name).read_bytes(), name, LIMITS)


def folded(document: ParsedDocument) -> str:
    return " ".join(document.text.split())


def drawn(draw: Callable[[Canvas], None], **options: object) -> bytes:
    target = io.BytesIO()
    canvas = Canvas(target, pagesize=(600, 800), **options)
    draw(canvas)
    canvas.save()
    return target.getvalue()


def parsed(draw: Callable[[Canvas], None]) -> ParsedDocument:
    return pdf.parse(drawn(draw), "a.pdf", LIMITS)


def test_columns_are_read_one_after_the_other() -> None:
    document = case("two_column.pdf")
    text = folded(document)
    assert "приёмка идёт по накладной и счёту," in text
    assert "отгрузка идёт после оплаты заказа," in text
    assert text.rindex("Левая") < text.index("Правая")
    assert document.text.startswith("Регламент склада (общий заголовок на две колонки)")


def test_a_turned_page_is_read_line_by_line() -> None:
    text = folded(case("rotated90.pdf"))
    lines = [
        "Строка первая: график обслуживания",
        "Строка вторая: насос каждые 500 часов",
        "Строка третья: фильтр каждые 250 часов",
    ]
    assert [text.index(line) for line in lines] == sorted(text.index(line) for line in lines)


WHOLE = ["интерфейс", "документирования", "efficient", "profile", "traffic conflicts", "offline retries"]


@pytest.mark.parametrize("words", [*WHOLE, "KB-1234", "Санкт-Петербурге"])
def test_broken_words_and_ligatures_are_whole(words: str) -> None:
    text = case("hyphen_ligature.pdf").text
    assert words in text
    assert not [char for char in text if "\ufb00" <= char <= "\ufb06" or char in "\u00ad\ufffe\x02"]


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["интер\u2010", "фейс"], "интерфейс"),
        (["KB-", "1234"], "KB-1234"),
        (["Санкт-", "Петербурге"], "Санкт-Петербурге"),
        (["какой-", "то текст"], "какой-то текст"),
        (["из-", "за дождя"], "из-за дождя"),
        (["слово —", "тире"], "слово — тире"),
        (["один", "два"], "один два"),
        (["差旅费管理", "办法"], "差旅费管理办法"),
    ],
)
def test_joining_lines(lines: list[str], text: str) -> None:
    got, starts = join_lines(lines)
    assert got == text
    assert len(starts) == len(lines)


def test_boxes_lie_on_the_page_from_its_top_left_corner() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 10)
        canvas.drawString(100, 700, "The first line of a paragraph that goes on")
        canvas.drawString(100, 686, "and its second line.")

    (block,) = parsed(draw).blocks
    first, second = block.place.boxes
    assert (block.place.page, block.place.page_end) == (1, 1)
    assert first.x0 == pytest.approx(100, abs=2)
    assert first.y0 < 100 < first.y1 + 2
    assert first.y1 - first.y0 == pytest.approx(11, abs=4)
    assert second.y0 > first.y0 + 10
    assert block.text[block.place.box_starts[1] :] == "and its second line."


def test_boxes_of_a_turned_page_are_as_it_is_shown() -> None:
    (block,) = case("rotated90.pdf").blocks
    tops = [box.y0 for box in block.place.boxes]
    assert tops == sorted(tops)
    assert all(box.x1 - box.x0 > 5 * (box.y1 - box.y0) for box in block.place.boxes)


def test_headings_are_set_larger_and_stand_over_what_follows() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 20)
        canvas.drawString(50, 750, "Travel rules")
        canvas.setFont("Helvetica", 14)
        canvas.drawString(50, 700, "Refunds")
        canvas.setFont("Helvetica", 10)
        for index in range(6):
            canvas.drawString(50, 670 - 14 * index, f"Costs of travel number {index} are refunded against documents")

    document = parsed(draw)
    assert document.title == "Travel rules"
    assert [(block.kind, block.level, block.text) for block in document.blocks[:2]] == [
        (BlockKind.HEADING, 1, "Travel rules"),
        (BlockKind.HEADING, 2, "Refunds"),
    ]
    assert document.blocks[2].place.heading_path == ("Travel rules", "Refunds")


def test_running_headers_and_page_numbers_stand_nowhere_or_once() -> None:
    def draw(canvas: Canvas) -> None:
        for page in range(1, 6):
            canvas.drawString(50, 780, "Internal rules of the company")
            for row in range(8):
                canvas.drawString(
                    50, 700 - 14 * row, f"Rule {8 * page + row} has a sentence of its own, and more words."
                )
            canvas.drawString(300, 20, f"- {page} -")
            canvas.showPage()

    document = parsed(draw)
    assert sum("Internal rules" in block.text for block in document.blocks) == 1
    assert not [block for block in document.blocks if block.text.strip("- ").isdigit()]
    assert all(f"Rule {number} has" in folded(document) for number in range(8, 48))


def test_a_paragraph_that_runs_over_a_page_end_stays_whole() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.drawString(50, 40, "The rule that is spread over")
        canvas.showPage()
        canvas.drawString(50, 780, "two pages ends here.")
        canvas.showPage()

    (block,) = parsed(draw).blocks
    assert block.text == "The rule that is spread over two pages ends here."
    assert (block.place.page, block.place.page_end) == (1, 2)


def test_cells_of_a_table_stay_with_their_row() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.drawString(50, 740, "Prices are given without tax, in the money of the country.")
        rows = [("Item", "Price"), ("Bolt M8", "12.50"), ("Nut M8", "7.10"), ("Washer", "1.20")]
        for index, (name, price) in enumerate(rows):
            canvas.drawString(50, 700 - 20 * index, name)
            canvas.drawString(300, 700 - 20 * index, price)
        canvas.drawString(50, 600, "Prices are good until the end of the year and no longer.")

    document = parsed(draw)
    assert [block.kind for block in document.blocks] == [BlockKind.PARAGRAPH, BlockKind.TABLE, BlockKind.PARAGRAPH]
    table = document.blocks[1]
    assert table.head == "Item | Price"
    assert table.rows == ("Bolt M8 | 12.50", "Nut M8 | 7.10", "Washer | 1.20")
    assert [table.text[start : start + 4] for start in table.place.box_starts] == ["Item", "Bolt", "Nut ", "Wash"]


def test_a_cell_of_two_lines_is_one_cell() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 10)
        for y, name, price in [(700, "Kind", "Who"), (680, "Plane", "directors and"), (640, "Train", "all")]:
            canvas.drawString(50, y, name)
            canvas.drawString(300, y, price)
        canvas.drawString(300, 668, "their deputies")

    (table,) = parsed(draw).blocks
    assert table.rows == ("Plane | directors and their deputies", "Train | all")
    assert table.place.box_starts == ()


def test_long_cells_are_kept_in_rows_where_rules_are_drawn_between_them() -> None:
    def draw(canvas: Canvas) -> None:
        for index in range(5):
            canvas.drawString(50, 700 - 30 * index, f"What is paid for in case {index}")
            canvas.drawString(320, 700 - 30 * index, f"How much is paid in case {index}")
            canvas.line(40, 690 - 30 * index, 560, 690 - 30 * index)

    assert "What is paid for in case 2 | How much is paid in case 2" in parsed(draw).text


def test_list_items_are_told_apart_and_a_number_at_a_line_start_is_not_one() -> None:
    def draw(canvas: Canvas) -> None:
        lines = ["Ask Marina Oblakova, whose inner number is", "214. For reports ask Timur, and for all else:"]
        lines += ["1. the first thing that", "goes on in a second line;", "2. the second thing."]
        for index, line in enumerate(lines):
            canvas.drawString(50, 700 - 14 * index, line)

    assert [(block.kind.value, block.text) for block in parsed(draw).blocks] == [
        ("paragraph", "Ask Marina Oblakova, whose inner number is 214. For reports ask Timur, and for all else:"),
        ("list", "1. the first thing that goes on in a second line;"),
        ("list", "2. the second thing."),
    ]


def test_dots_of_a_table_of_contents_are_folded() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.drawString(50, 700, "Introduction" + " ." * 60 + " 7")

    assert parsed(draw).text == "Introduction … 7"


def test_three_columns_of_uneven_length() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica", 9)
        canvas.drawString(50, 770, "A headline that runs across all the three columns of this page, from left to right")
        for column in range(3):
            for row in range(10 - 2 * column):
                canvas.drawString(
                    50 + 175 * column, 730 - 11.5 * row - 3 * column, f"column {column} line {row} with words"
                )

    text = folded(parsed(draw))
    order = [text.index(f"column {column} line {row} ") for column in range(3) for row in range(10 - 2 * column)]
    assert order == sorted(order)
    assert text.startswith("A headline")


def test_encrypted_damaged_and_too_long() -> None:
    def draw(canvas: Canvas) -> None:
        for _ in range(3):
            canvas.drawString(50, 700, "words")
            canvas.showPage()

    cases = {
        "encrypted": (drawn(draw, encrypt=StandardEncryption("secret", ownerPassword="owner")), LIMITS),
        "damaged_file": (b"%PDF-1.7\n" + b"junk" * 100, LIMITS),
        "page_limit": (drawn(draw), ParseLimits(pages=2)),
    }
    for reason, (data, limits) in cases.items():
        with pytest.raises(ParseFailed) as caught:
            pdf.parse(data, "a.pdf", limits)
        assert caught.value.reason == reason


def test_the_number_of_pages_is_a_fact() -> None:
    assert case("two_column.pdf").metadata == {"pages": 1}
