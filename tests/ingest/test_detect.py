"""The kind of a file follows its content; names choose only among kinds of plain text."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from opora.domain.errors import ParseFailed
from opora.ingest.detect import detect
from opora.ingest.limits import ParseLimits
from opora.ingest.parse.table import PARSERS, load_parser

FILES = Path(__file__).parents[1] / "cases/files"
LIMITS = ParseLimits()
NAMES = ["x.doc", "x.xlsx", "x.txt", "x.pdf", "x.docx", "x.csv", "noext", "report.pdf.exe"]


def packed(*names: str, mimetype: bytes = b"") -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        if mimetype:
            archive.writestr("mimetype", mimetype)
        for name in names:
            archive.writestr(name, b"<a/>")
    return target.getvalue()


def refused(data: bytes, name: str = "file") -> ParseFailed:
    with pytest.raises(ParseFailed) as caught:
        detect(data, name, LIMITS)
    assert caught.value.message.endswith(".")
    assert caught.value.hint
    return caught.value


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("bomb", ["bomb_ratio.docx", "bomb_lying_sizes.docx", "bomb_entries.docx"])
def test_renamed_bombs_meet_the_same_guard(bomb: str, name: str) -> None:
    assert refused((FILES / "archive" / bomb).read_bytes(), name).reason == "archive_limit"


@pytest.mark.parametrize("name", NAMES)
def test_documents_keep_their_kind_under_every_name(name: str) -> None:
    assert detect((FILES / "office/structure.docx").read_bytes(), name, LIMITS) == "docx"
    assert detect((FILES / "pdf/two_column.pdf").read_bytes(), name, LIMITS) == "pdf"
    assert detect(packed("xl/workbook.xml"), name, LIMITS) == "xlsx"
    assert detect(b"<!DOCTYPE html><html><body>text</body></html>", name, LIMITS) == "html"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.md", "md"),
        ("a.MD", "md"),
        ("a.txt", "txt"),
        ("a.csv", "csv"),
        ("a.tsv", "csv"),
        ("a", "txt"),
        ("a.exe", "txt"),
    ],
)
def test_a_name_is_a_hint_among_texts(name: str, kind: str) -> None:
    assert detect("# Заголовок\n\nТекст, просто текст.\n".encode(), name, LIMITS) == kind


def test_regular_fields_make_a_table_of_a_nameless_text() -> None:
    assert detect("Город;Суточные\nКазань;700\nПермь;600\n".encode("cp1251"), "noext", LIMITS) == "csv"
    assert detect("Привет, мир.\nЕщё строка, без таблицы, тут.\nКонец.\n".encode(), "noext", LIMITS) == "txt"


def test_many_comments_cost_no_more_than_their_length() -> None:
    assert detect(b"<!-- x -->" * 5_000 + b"words", "noext", LIMITS) == "txt"
    assert detect(b"<!-- x -->" * 5_000 + b"<html>words", "noext", LIMITS) == "html"


def test_pages_without_a_doctype_follow_their_name_only_with_tags_inside() -> None:
    assert detect(b"<p>text</p>", "a.html", LIMITS) == "html"
    assert detect(b"plain words", "a.html", LIMITS) == "txt"


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (packed("content.xml", mimetype=b"application/vnd.oasis.opendocument.graphics"), "OpenDocument"),
        (packed("xl/workbook.bin"), "XLSB"),
        (packed("a.txt"), "archive"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "DOC, PPT"),
    ],
)
def test_known_but_unsupported_kinds_say_what_to_do(data: bytes, word: str) -> None:
    failure = refused(data)
    assert failure.reason == "unsupported_format"
    assert word in failure.message


ODF = b"application/vnd.oasis.opendocument."


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (packed("ppt/presentation.xml"), "pptx"),
        (packed("content.xml", mimetype=ODF + b"text"), "odt"),
        (packed("content.xml", mimetype=ODF + b"presentation"), "odt"),
        (packed("content.xml", mimetype=ODF + b"spreadsheet"), "ods"),
        (packed("content.opf", mimetype=b"application/epub+zip"), "epub"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504) + "Workbook".encode("utf-16-le") + bytes(100), "xls"),
        (b"{\\rtf1\\ansi text}", "rtf"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "image"),
        (b"\xff\xd8\xff\xe0" + bytes(range(256)), "image"),
        (b"RIFF\x00\x00\x00\x00WEBP" + bytes(range(256)), "image"),
        (b"From: a@b.c\r\nTo: d@e.f\r\nSubject: x\r\n\r\ntext", "eml"),
        (b'From: x\nSnapshot-Content-Location: y\nContent-Type: multipart/related; boundary="b"\n\n', "mhtml"),
    ],
)
def test_other_kinds_keep_theirs_under_every_name(data: bytes, kind: str, name: str) -> None:
    assert detect(data, name, LIMITS) == kind


def test_slides_are_recognised_for_what_they_are() -> None:
    assert detect((FILES / "office/deck.pptx").read_bytes(), "deck.docx", LIMITS) == "pptx"


def test_two_letters_alone_make_no_picture() -> None:
    assert detect(b"BM is a word here", "a.txt", LIMITS) == "txt"
    assert detect(b"BM" + (20).to_bytes(4, "little") + bytes(14), "a", LIMITS) == "image"


def test_json_is_told_by_its_name_among_texts() -> None:
    assert detect(b'{"a": 1}', "a.json", LIMITS) == "json"
    assert detect(b'{"a": 1}', "a.jsonl", LIMITS) == "json"
    assert detect(b'{"a": 1}', "a.txt", LIMITS) == "txt"


def test_an_office_file_under_a_password_is_encrypted() -> None:
    data = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504) + "EncryptedPackage".encode("utf-16-le") + bytes(100)
    assert refused(data).reason == "encrypted"


@pytest.mark.parametrize("head", [b"GIF89a", b"\x1f\x8b\x08", b"\x7fELF"])
def test_pictures_and_programs_are_not_text(head: bytes) -> None:
    assert refused(head + bytes(range(256)), "a.txt").reason == "not_text"


def test_every_kind_in_the_table_has_a_parser() -> None:
    texts, office = {"txt", "md", "html", "csv", "json", "rtf"}, {"docx", "xlsx", "pptx", "odt", "ods", "xls"}
    assert set(PARSERS) == texts | office | {"pdf", "epub", "eml", "mhtml", "image"}
    assert all(callable(load_parser(kind)) for kind in PARSERS)
