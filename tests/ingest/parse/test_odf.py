"""OpenDocument: texts and slides with every change accepted, sheets by row."""

from __future__ import annotations

import io
import zipfile

import pytest

from opora.domain.errors import ParseFailed
from opora.domain.knowledge import BlockKind, ParseReason
from opora.ingest.limits import ParseLimits
from opora.ingest.read import read_document

MEDIA = "application/vnd.oasis.opendocument"
MANIFEST = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
SPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{path}:1.0"'
    for name, path in {
        "office": "office", "text": "text", "table": "table", "draw": "drawing", "presentation": "presentation",
    }.items()
)  # fmt: skip


def file(kind: str, body: str, **parts: str) -> bytes:
    inside = f"<office:body><office:{kind}>{body}</office:{kind}></office:body>"
    content = f"<office:document-content {SPACES}>{inside}</office:document-content>"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as target:
        target.writestr("mimetype", f"application/vnd.oasis.opendocument.{kind}")
        target.writestr("content.xml", content)
        if kind == "spreadsheet":
            entry = f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{MEDIA}.spreadsheet"/>'
            target.writestr(
                "META-INF/manifest.xml", f'<manifest:manifest xmlns:manifest="{MANIFEST}">{entry}</manifest:manifest>'
            )
        for name, text in parts.items():
            target.writestr(name.replace("__", "/").replace("_xml", ".xml"), text)
    return out.getvalue()


def read(kind: str, body: str, name: str = "x", **parts: str):
    return read_document(file(kind, body, **parts), name, ParseLimits())


def test_a_text_reads_headings_lists_tables_and_notes() -> None:
    parsed = read(
        "text",
        '<text:h text:outline-level="1">Правила</text:h>'
        "<text:p>Срок<text:s text:c='2'/>оплаты<text:line-break/>30 дней<text:note><text:note-body>"
        "<text:p>Кроме РМ-17.</text:p></text:note-body></text:note>.</text:p>"
        "<text:list><text:list-item><text:p>раз</text:p><text:list><text:list-item><text:p>внутри</text:p></text:list-item>"
        "</text:list></text:list-item></text:list>"
        "<table:table><table:table-row><table:table-cell><text:p>План</text:p></table:table-cell><table:table-cell>"
        "<text:p>Цена</text:p></table:table-cell></table:table-row><table:table-row><table:table-cell><text:p>А</text:p>"
        "</table:table-cell><table:table-cell><text:p>9</text:p></table:table-cell></table:table-row></table:table>",
    )
    assert [(block.kind, block.text) for block in parsed.blocks] == [
        (BlockKind.HEADING, "Правила"),
        (BlockKind.PARAGRAPH, "Срок  оплаты\n30 дней [Кроме РМ-17.]."),
        (BlockKind.LIST, "- раз\n  - внутри"),
        (BlockKind.TABLE, "План | Цена\nА | 9"),
    ]
    assert parsed.blocks[1].place.heading_path == ("Правила",)
    assert (parsed.file_type, parsed.title) == ("odt", "Правила")


def test_what_was_deleted_and_what_was_noted_is_no_text() -> None:
    parsed = read(
        "text",
        "<text:tracked-changes><text:changed-region><text:deletion><text:p>Старый срок</text:p></text:deletion>"
        "</text:changed-region></text:tracked-changes>"
        "<text:p>Новый срок<office:annotation><text:p>сверить!</text:p></office:annotation> здесь</text:p>",
    )
    assert parsed.text == "Новый срок здесь"


def test_slides_are_pages_with_their_titles_and_notes() -> None:
    def frame(text: str, kind: str = "") -> str:
        mark = f' presentation:class="{kind}"' if kind else ""
        return f"<draw:frame{mark}><draw:text-box><text:p>{text}</text:p></draw:text-box></draw:frame>"

    body = "".join(
        f"<draw:page>{frame(f'тело {n}')}{frame(f'Слайд {n}', 'title')}"
        f"<presentation:notes>{frame(f'заметка {n}')}</presentation:notes></draw:page>"
        for n in (1, 2)
    )
    parsed = read("presentation", body)
    assert [(b.text, b.place.page) for b in parsed.blocks] == [
        ("Слайд 1", 1), ("тело 1", 1), ("заметка 1", 1), ("Слайд 2", 2), ("тело 2", 2), ("заметка 2", 2),
    ]  # fmt: skip
    assert parsed.blocks[2].place.heading_path == ("Слайд 1", "Notes")
    assert parsed.file_type == "odp"


def test_a_sheet_is_read_by_rows_and_its_endless_padding_is_not() -> None:
    def cells(*texts: str) -> str:
        return "".join(
            f'<table:table-cell office:value-type="string"><text:p>{text}</text:p></table:table-cell>' for text in texts
        )

    empty = '<table:table-cell table:number-columns-repeated="1024"/>'
    pad = f'<table:table-row table:number-rows-repeated="1048000">{empty}</table:table-row>'
    given = (("Город", "Суточные"), ("Казань", "700"))
    rows = "".join(f"<table:table-row>{cells(*row)}</table:table-row>" for row in given)
    parsed = read("spreadsheet", f'<table:table table:name="Лист">{rows}{pad}</table:table>')
    assert parsed.text == "Город: Казань | Суточные: 700"
    assert (parsed.file_type, parsed.blocks[0].place.sheet, parsed.blocks[0].place.row) == ("ods", "Лист", 2)


def test_locked_and_broken_files_have_reasons() -> None:
    with pytest.raises(ParseFailed) as told:
        read("text", "<text:p>x</text:p>", **{"META-INF__manifest_xml": "<m><encryption-data/></m>"})
    assert told.value.reason == ParseReason.ENCRYPTED
    with pytest.raises(ParseFailed) as told:
        read("text", "<text:p>не закрыто")
    assert told.value.reason == ParseReason.DAMAGED


def test_a_row_that_claims_to_be_repeated_without_end_is_shown_once() -> None:
    body = (
        '<table:table><table:table-row table:number-rows-repeated="99999999"><table:table-cell><text:p>раз</text:p>'
        "</table:table-cell></table:table-row></table:table>"
    )
    assert read("text", body).text == "раз"
