"""Names from senders become one clean line, and never a path or a second header."""

from __future__ import annotations

import unicodedata
from urllib.parse import unquote

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from opora.text.names import (
    MAX_LABEL_CHARS,
    MAX_NAME_BYTES,
    clean_file_name,
    clean_label,
    content_disposition,
    extension,
)


@pytest.mark.parametrize(
    ("name", "cleaned"),
    [
        ("../../etc/cron.d/x.txt", "x.txt"),
        ("..\\..\\win.txt", "win.txt"),
        ("/abs/path.txt", "path.txt"),
        ("C:\\x\\y.txt", "y.txt"),
        ("%2e%2e%2fenc.txt", "%2e%2e%2fenc.txt"),
        ("a/../b.txt", "b.txt"),
        ("nul\0byte.txt", "nulbyte.txt"),
        ("", "document"),
        (".", "document"),
        ("..", "document"),
        ("a/", "document"),
        (".htaccess", ".htaccess"),
        ("CON.txt", "CON.txt"),
        ('имя с "кавычкой" и ; точкой.txt', 'имя с "кавычкой" и ; точкой.txt'),
        ("перенос\nстроки.txt", "перенос строки.txt"),
        ("invoice\u202efdp.exe.txt", "invoicefdp.exe.txt"),
        ("file.TXT", "file.TXT"),
        ("noext", "noext"),
        ("report.pdf.exe", "report.pdf.exe"),
        ("отчёт №5 — «Ёлка» 报告.txt", "отчёт №5 — «Ёлка» 报告.txt"),
        ("семья 👨\u200d👩\u200d👧.md", "семья 👨\u200d👩\u200d👧.md"),
        ("\ud800bad.txt", "bad.txt"),
        ("новее таблиц \U0001fae8\ufffe.txt", "новее таблиц \U0001fae8.txt"),
    ],
)
def test_handed_names(name: str, cleaned: str) -> None:
    assert clean_file_name(name) == cleaned


def test_composed_and_decomposed_are_one_name() -> None:
    name = "Отчёт Йод.txt"
    composed, decomposed = unicodedata.normalize("NFC", name), unicodedata.normalize("NFD", name)
    assert composed != decomposed
    assert clean_file_name(composed) == clean_file_name(decomposed) == composed


@pytest.mark.parametrize("letter", ["ж", "👨\u200d👩\u200d👧", "e\u0301\u0323", "报"])
def test_long_names_are_cut_between_letters_and_keep_the_extension(letter: str) -> None:
    cleaned = clean_file_name(letter * 300 + ".txt")
    assert len(cleaned.encode()) <= MAX_NAME_BYTES
    assert cleaned.endswith(".txt")
    one = unicodedata.normalize("NFC", letter)
    assert cleaned.removesuffix(".txt") == one * (len(cleaned.removesuffix(".txt")) // len(one))
    assert len(cleaned.encode()) > MAX_NAME_BYTES - len(one.encode())


def test_the_download_header_carries_the_real_name() -> None:
    name = "отчёт №5 — «Ёлка» 报告.txt"
    header = content_disposition(name)
    assert header.startswith('attachment; filename="')
    assert unquote(header.split("filename*=UTF-8''")[1]) == name
    assert content_disposition("a.pdf", inline=True) == "inline; filename=\"a.pdf\"; filename*=UTF-8''a.pdf"


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("  Своё \r\n имя ", "Своё имя"),
        ("счёт\u202efdp.exe", "счётfdp.exe"),
        ("\ufeffП\0риказ\u2028№ 7", "Приказ № 7"),
        ("Либо/или: «да» <b>", "Либо/или: «да» <b>"),
        ("Йод", "Йод"),
        ("\u200b\u2066 \n", ""),
        ("👨\u200d👩\u200d👧 семья", "👨\u200d👩\u200d👧 семья"),
        ("ж" * (MAX_LABEL_CHARS - 1) + "e\u0301\u0323", "ж" * (MAX_LABEL_CHARS - 1)),
    ],
)
def test_labels_are_one_visible_line_and_no_path(text: str, label: str) -> None:
    assert MAX_LABEL_CHARS == 500
    assert clean_label(text) == label


def test_extension_is_lower_case_and_needs_a_stem() -> None:
    assert [extension(name) for name in ("a.TXT", "noext", ".htaccess", "report.pdf.exe", "x.")] == [
        ".txt",
        "",
        "",
        ".exe",
        "",
    ]


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet=st.characters(), max_size=400))
def test_laws_of_names(name: str) -> None:
    cleaned = clean_file_name(name)
    assert cleaned
    assert len(cleaned.encode()) <= MAX_NAME_BYTES
    assert not regex.search(r"[/\\\p{Cc}\p{Cs}\p{Bidi_Control}]", cleaned)
    assert clean_file_name(cleaned) == cleaned
    header = content_disposition(name)
    assert header.isascii()
    assert header.isprintable()
    assert header.count('"') == 2
