"""Reading a document whole: what comes out is text with words in it, or a reason."""

from __future__ import annotations

import io
from pathlib import Path

import docx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reportlab.pdfgen.canvas import Canvas

from opora.domain.errors import ParseFailed
from opora.ingest.limits import MIB, ParseLimits
from opora.ingest.read import read_document

FILES = Path(__file__).parents[1] / "cases/files"
LIMITS = ParseLimits()


def refused(data: bytes, name: str = "a.txt", limits: ParseLimits = LIMITS) -> ParseFailed:
    with pytest.raises(ParseFailed) as caught:
        read_document(data, name, limits)
    return caught.value


def blank_docx() -> bytes:
    target = io.BytesIO()
    docx.Document().save(target)
    return target.getvalue()


def blank_pdf() -> bytes:
    target = io.BytesIO()
    canvas = Canvas(target)
    canvas.rect(10, 10, 100, 100)
    canvas.showPage()
    canvas.save()
    return target.getvalue()


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"", "a.txt"),
        (b" \n\t\r\n ", "a.txt"),
        ("\ufeff".encode(), "a.txt"),
        (b"---\n***\n", "a.md"),
        (b"<html><body><script>var a;</script></body></html>", "a.html"),
        (blank_docx(), "a.docx"),
        (blank_pdf(), "a.pdf"),
    ],
)
def test_a_document_without_words_is_a_failure(data: bytes, name: str) -> None:
    failure = refused(data, name)
    assert failure.reason == "no_text"
    assert failure.hint


def test_a_pdf_without_text_is_called_a_scan() -> None:
    assert "scan" in refused(blank_pdf()).message


def test_sizes_are_limited_on_both_ends() -> None:
    assert refused(b"word " * 100, limits=ParseLimits(upload_bytes=100)).reason == "size_limit"
    assert refused(b"word " * 100, limits=ParseLimits(produced_bytes=100)).reason == "size_limit"


def test_the_named_defaults_of_the_limits() -> None:
    assert (LIMITS.upload_bytes, LIMITS.seconds, LIMITS.memory_bytes) == (50 * MIB, 120.0, 1024 * MIB)
    assert (LIMITS.produced_bytes, LIMITS.entries, LIMITS.pages) == (200 * MIB, 5000, 2000)


def test_soft_hyphens_and_control_characters_leave_the_text() -> None:
    parsed = read_document("пере\u00adнос и \x01знак\n".encode(), "a.txt", LIMITS)
    assert parsed.text == "перенос и знак"


def test_a_title_from_inside_the_document_is_one_visible_line() -> None:
    parsed = read_document('---\ntitle: "При\u202eказ\\n№ 7"\n---\n\nТекст.\n'.encode(), "a.md", LIMITS)
    assert parsed.title == "Приказ № 7"
    page = "<html><head><title>Отчёт\n\u2066 за год</title></head><body><p>Текст об отчёте.</p></body></html>"
    assert read_document(page.encode(), "a.html", LIMITS).title == "Отчёт за год"


def test_a_unicode_named_text_is_read() -> None:
    path = next((FILES / "text").glob("отч*"))
    assert read_document(path.read_bytes(), path.name, LIMITS).file_type == "txt"


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=300), st.sampled_from(["a.txt", "a.md", "a.html", "a.csv", "a"]))
def test_whatever_the_bytes_there_is_text_or_a_reason(data: bytes, name: str) -> None:
    for content in (data, b"<html>" + data, b"a;b\n1;2\n" + data, b"%PDF-1.4\n" + data, b"PK\x03\x04" + data):
        try:
            parsed = read_document(content, name, LIMITS)
        except ParseFailed as failure:
            assert failure.message.endswith(".")  # noqa: PT017 - a reason is one of two right answers
        else:
            assert parsed.text.strip()
