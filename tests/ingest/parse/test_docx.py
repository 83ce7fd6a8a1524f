"""Word documents: changes accepted, and nothing outside the main flow lost or doubled."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import docx
import pytest
from docx.document import Document
from PIL import Image

from opora.domain.errors import ParseFailed
from opora.domain.knowledge import BlockKind, ParsedDocument
from opora.ingest.limits import MIB, ParseLimits
from opora.ingest.parse import docx as reader
from opora.ingest.read import read_document

FILES = Path(__file__).parents[2] / "cases/files/office"
LIMITS = ParseLimits()
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def parsed(data: bytes) -> ParsedDocument:
    return reader.parse(data, "a.docx", LIMITS)


def saved(document: Document) -> bytes:
    target = io.BytesIO()
    document.save(target)
    return target.getvalue()


def with_body(body: str, **parts: str) -> bytes:
    """A small document of the given body; other parts by their name in the folder ``word``."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", f"<w:document {W}><w:body>{body}</w:body></w:document>")
        for name, content in parts.items():
            archive.writestr(f"word/{name}.xml", content)
    return target.getvalue()


def run(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def test_tracked_changes_are_accepted() -> None:
    text = parsed((FILES / "tracked_changes.docx").read_bytes()).text
    assert "Срок оплаты 30 дней с даты счёта." in text
    assert "Новый пункт вставлен целиком: штраф 2 процента." in text
    assert "10 дней" not in text
    assert "Старый пункт удалён" not in text
    assert text.count("Перенесённая фраза о гарантии.") == 1
    assert text.index("Приложение:") < text.index("Перенесённая фраза о гарантии.")


def test_structure_stays_in_order() -> None:
    document = parsed((FILES / "structure.docx").read_bytes())
    text = document.text
    assert text.index("Абзац до таблицы") < text.index("Болт М8") < text.index("Абзац после таблицы")
    assert document.title == "Регламент поставки"
    assert [(b.level, b.text) for b in document.blocks if b.kind is BlockKind.HEADING] == [
        (1, "Регламент поставки"),
        (2, "Прочее"),
    ]


def test_tables_have_each_row_on_one_line_and_merged_cells_once() -> None:
    document = parsed((FILES / "structure.docx").read_bytes())
    (table,) = [block for block in document.blocks if block.kind is BlockKind.TABLE]
    assert table.head == "Товар | Цена | Склад"
    assert table.rows == ("Болт М8 | 12,50 | Восток", "Гайка М8 | 7,10 | Запад (ряд 4 | полка 9)", "Итого по прайсу")
    assert document.text.count("Итого по прайсу") == 1


def test_list_items_stand_under_theirs() -> None:
    document = parsed((FILES / "structure.docx").read_bytes())
    (items,) = [block.text.split("\n") for block in document.blocks if block.kind is BlockKind.LIST]
    depth = {item.lstrip().split(" ", 1)[1]: len(item) - len(item.lstrip()) for item in items}
    assert list(depth) == [
        "Принять заявку",
        "Проверить лимит",
        "сверить ИНН",
        "сверить договор",
        "Отгрузить товар",
        "паллеты",
    ]
    assert depth["сверить ИНН"] == depth["сверить договор"] == 2
    assert depth["Проверить лимит"] == depth["Отгрузить товар"] == 0


def test_notes_and_running_headers() -> None:
    document = parsed((FILES / "structure.docx").read_bytes())
    (note,) = [block for block in document.blocks if block.kind is BlockKind.FOOTNOTE]
    assert note.text == "Кроме расходных материалов артикула РМ-17."
    assert "Гарантия действует год с отгрузки." in document.text
    assert document.text.count("Служебный колонтитул") == 1
    assert "Служебный колонтитул" in document.blocks[-1].text


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (f"<w:p><w:ins>{run('да')}</w:ins><w:del><w:r><w:delText>нет</w:delText></w:r></w:del></w:p>", "да"),
        (f"<w:p><w:del><w:ins>{run('нет')}</w:ins></w:del>{run('да')}</w:p>", "да"),
        (f"<w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr>{run('один ')}</w:p><w:p>{run('два')}</w:p>", "один два"),
        (f"<w:p>{run('а')}<w:r><w:tab/><w:noBreakHyphen/><w:softHyphen/><w:br/></w:r>{run('б')}</w:p>", "а -\nб"),
        (f"<w:p><w:hyperlink>{run('ссылка')}</w:hyperlink></w:p>", "ссылка"),
        (f"<w:p><w:r><w:instrText>PAGE</w:instrText></w:r>{run('текст')}</w:p>", "текст"),
        (f"<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>тайно</w:t></w:r>{run('явно')}</w:p>", "явно"),
        (f"<w:sdt><w:sdtContent><w:p>{run('поле')}</w:p></w:sdtContent></w:sdt>", "поле"),
        (f"<w:p><w:r><w:pict><w:txbxContent><w:p>{run('рамка')}</w:p></w:txbxContent></w:pict></w:r></w:p>", "рамка"),
        (
            f"<w:tbl><w:tr><w:tc><w:tcPr><w:vMerge w:val='restart'/></w:tcPr><w:p>{run('общее')}</w:p></w:tc><w:tc>"
            f"<w:p>{run('а')}</w:p></w:tc></w:tr><w:tr><w:tc><w:tcPr><w:vMerge/></w:tcPr><w:p/></w:tc><w:tc><w:p>{run('б')}"
            f"</w:p></w:tc></w:tr><w:tr><w:trPr><w:del/></w:trPr><w:tc><w:p>{run('нет')}</w:p></w:tc></w:tr></w:tbl>",
            "общее | а\n | б",
        ),
    ],
)
def test_kinds_of_content(body: str, text: str) -> None:
    assert parsed(with_body(body)).text == text


def test_a_text_box_given_in_two_forms_is_read_once() -> None:
    box = f"<w:txbxContent><w:p>{run('рамка')}</w:p></w:txbxContent>"
    space = "http://schemas.openxmlformats.org/markup-compatibility/2006"
    body = (
        f'<w:p>{run("до")}<w:r><mc:AlternateContent xmlns:mc="{space}"><mc:Choice>{box}</mc:Choice>'
        f"<mc:Fallback>{box}</mc:Fallback></mc:AlternateContent></w:r></w:p>"
    )
    assert parsed(with_body(body)).text == "до\n\nрамка"


def test_numbers_are_those_that_word_prints() -> None:
    def level(index: int, form: str, pattern: str) -> str:
        shape = f'<w:start w:val="1"/><w:numFmt w:val="{form}"/><w:lvlText w:val="{pattern}"/>'
        return f'<w:lvl w:ilvl="{index}">{shape}</w:lvl>'

    def item(index: int, text: str, number: int = 1) -> str:
        properties = f'<w:numPr><w:ilvl w:val="{index}"/><w:numId w:val="{number}"/></w:numPr>'
        return f"<w:p><w:pPr>{properties}</w:pPr>{run(text)}</w:p>"

    numbering = (
        f'<w:numbering {W}><w:abstractNum w:abstractNumId="0">{level(0, "decimal", "%1.")}'
        f"{level(1, 'decimal', '%1.%2.')}{level(2, 'russianLower', '%3)')}</w:abstractNum>"
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="0"/>'
        '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride></w:num></w:numbering>'
    )
    body = item(0, "раз") + item(1, "два") + item(1, "три") + item(2, "да") + item(2, "нет") + item(0, "ещё")
    body += item(1, "тут") + item(0, "заново", 2)
    assert parsed(with_body(body, numbering=numbering)).text.split("\n") == [
        "1. раз",
        "  1.1. два",
        "  1.2. три",
        "    а) да",
        "    б) нет",
        "2. ещё",
        "  2.1. тут",
        "1. заново",
    ]


def test_entities_are_not_expanded() -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>'
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr(
            "word/document.xml",
            f"{bomb}<w:document {W}><w:body><w:p><w:r><w:t>&b;</w:t></w:r></w:p></w:body></w:document>",
        )
    with pytest.raises(ParseFailed) as caught:
        parsed(target.getvalue())
    assert caught.value.reason == "damaged_file"


def test_a_valid_document_of_nine_megabytes_with_pictures_is_read() -> None:
    import random

    document = docx.Document()
    document.add_paragraph("Текст рядом с рисунками.")
    for seed in range(3):
        picture = io.BytesIO()
        Image.frombytes("RGB", (1024, 1024), random.Random(seed).randbytes(3 * MIB)).save(
            picture, "PNG", compress_level=0
        )
        picture.seek(0)
        document.add_picture(picture)
    data = saved(document)
    assert len(data) > 9 * MIB
    assert read_document(data, "a.docx", LIMITS).text == "Текст рядом с рисунками."
