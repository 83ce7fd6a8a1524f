"""Bytes of any code page become the text that was written, or are refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opora.domain.errors import ParseFailed
from opora.text.decode import clean_text, decode, known_encoding

FILES = Path(__file__).parents[1] / "cases/files/enc"
EXPECTED: dict[str, str] = json.loads((FILES / "expected.json").read_text("utf-8"))

RUSSIAN = [
    "Привет",
    "Отчёт",
    "Да, конечно.",
    "ПРИКАЗ",
    "СРОЧНО: ответ нужен до 5 марта",
    "Ёлка и ёжик",
    "Товар;Цена\nБолт М8;12,50\n",
    "Иван Петров, тел. +7 495 000-00-00, e-mail: ivan@example.org",
    "Съешь же ещё этих мягких французских булок, да выпей чаю.",
]


@pytest.mark.parametrize("name", EXPECTED)
def test_case_files_read_exactly(name: str) -> None:
    decoded = decode((FILES / name).read_bytes())
    assert decoded.text == EXPECTED[name]
    assert decoded.encoding


def test_the_encoding_that_was_used_is_reported() -> None:
    found = {name: decode((FILES / name).read_bytes()).encoding for name in EXPECTED}
    assert found["notes_cp1251.txt"] == "cp1251"
    assert found["notes_koi8r.txt"] in ("koi8-r", "koi8-u")
    assert found["notes_gb18030.txt"] == "gb18030"
    assert found["notes_utf16le_bom.txt"] == "utf-16-le"
    assert found["notes_utf8.txt"] == found["notes_utf8_bom.txt"] == "utf-8"


def test_a_picture_with_a_text_name_is_not_text() -> None:
    with pytest.raises(ParseFailed) as caught:
        decode((FILES / "binary_named.txt").read_bytes())
    assert caught.value.reason == "not_text"
    assert caught.value.hint


@pytest.mark.parametrize(
    "encoding", ["cp1251", "koi8-r", "cp866", "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"]
)
@pytest.mark.parametrize("text", RUSSIAN)
def test_short_russian_texts(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)).text == text


@pytest.mark.parametrize("encoding", ["gbk", "gb2312", "gb18030", "utf-16", "utf-8"])
@pytest.mark.parametrize(
    "text", ["报销单", "第一条　员工出差返回后三个工作日内提交", "产品名称,价格\n螺栓,12\n", "客户服务"]
)
def test_short_chinese_texts(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)).text == text


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Café au lait, déjà vu", "cp1252"),
        ("Größe: 5 m², Preise für Schrauben", "cp1252"),
        ("“quoted” text — with a dash", "cp1252"),
        ("這是繁體中文的測試文件，請查收", "big5"),
        ("これは日本語の文章です", "cp932"),
        ("これは日本語の文章です", "euc_jp"),
        ("안녕하세요 한국어 문서입니다", "cp949"),
        ("Договір про надання послуг, її умови", "cp1251"),
    ],
)
def test_other_languages(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)).text == text


def test_rare_characters_of_gb18030_survive_a_declared_gb2312() -> None:
    text = "联系人：𠮷田、㐂助"
    assert decode(text.encode("gb18030"), declared="gb2312").text == text
    assert known_encoding("GBK") == known_encoding("gb2312") == "gb18030"


def test_a_declared_encoding_is_tried_before_detection_but_after_utf8() -> None:
    assert decode("ж".encode("cp1251"), declared="windows-1251").text == "ж"
    assert decode("ж".encode(), declared="windows-1251").text == "ж"
    assert decode("Привет, мир".encode("cp1251"), declared="no such code page").text == "Привет, мир"


def test_the_language_may_start_after_a_long_english_part() -> None:
    text = "plain ascii line\n" * 20_000 + "Приложение: акт сверки расчётов\n"
    assert decode(text.encode("cp1251")).text == text


def test_utf8_cut_inside_a_letter_loses_only_that_letter() -> None:
    data = ("Расходы на проезд возмещаются по документам. " * 5).encode()[:-4]
    decoded = decode(data)
    assert decoded.encoding == "utf-8"
    assert "\ufffd" not in decoded.text
    assert decoded.text.startswith("Расходы на проезд")


@pytest.mark.parametrize(
    "data", [bytes(range(256)) * 4, b"\x00" * 100, b"MZ\x90\x00\x03" + bytes(60), b"abc\x00\x01\x02def"]
)
def test_binary_is_refused(data: bytes) -> None:
    with pytest.raises(ParseFailed) as caught:
        decode(data)
    assert caught.value.reason == "not_text"


def test_line_ends_are_unified_and_marks_removed() -> None:
    assert clean_text("a\r\nb\rc\ufeff\ufffd\x00") == "a\nb\nc"


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet=st.characters(exclude_categories=("Cs", "Cc", "Cn"), exclude_characters="\ufeff\ufffd")))
def test_every_utf8_text_comes_back_as_it_was(text: str) -> None:
    assert decode(text.encode()).text == text


@settings(max_examples=80, deadline=None)
@given(st.binary(max_size=400))
def test_whatever_the_bytes_no_damage_marks_come_out(data: bytes) -> None:
    try:
        decoded = decode(data)
    except ParseFailed as failure:
        assert failure.reason == "not_text"  # noqa: PT017 - the refusal is one of two right answers
    else:
        assert not set(decoded.text) & {"\ufffd", "\ufeff", "\x00", "\r"}
