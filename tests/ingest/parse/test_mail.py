"""Letters: headers, the text, what is attached; and pages that browsers keep as letters."""

from __future__ import annotations

from email.message import EmailMessage

import pytest

from opora.domain.errors import ParseFailed
from opora.domain.knowledge import ParseReason
from opora.ingest.limits import ParseLimits
from opora.ingest.read import read_document


def letter(text: str = "Добрый день!\n\nСчёт приложен.", **headers: str) -> EmailMessage:
    message = EmailMessage()
    given = {"From": "Иванов <i@example.org>", "To": "Петров <p@example.org>", "Subject": "Счёт за май"} | headers
    for name, value in given.items():
        message[name] = value
    message.set_content(text)
    return message


def read(message: EmailMessage, name: str = "письмо.eml"):
    return read_document(bytes(message), name, ParseLimits())


@pytest.mark.parametrize("name", ["письмо.eml", "без имени", "письмо.txt"])
def test_a_letter_is_known_by_its_headers(name: str) -> None:
    parsed = read(letter(), name)
    assert (parsed.file_type, parsed.title) == ("eml", "Счёт за май")
    assert [block.text for block in parsed.blocks] == [
        "Счёт за май",
        "From: Иванов <i@example.org>\nTo: Петров <p@example.org>",
        "Добрый день!",
        "Счёт приложен.",
    ]
    assert parsed.metadata["from"] == "Иванов <i@example.org>"


def test_text_with_a_colon_is_no_letter() -> None:
    text = "Тема: склад\nSubject: something\n\nПросто текст с двоеточием и больше ничего."
    assert read_document(text.encode(), "заметка.txt", ParseLimits()).file_type == "txt"


def test_plain_text_stands_before_its_copy_in_html_and_html_is_read_alone() -> None:
    both = letter("Просто текст.")
    both.add_alternative("<p>То же в <b>HTML</b>.</p>", subtype="html")
    assert [block.text for block in read(both).blocks][2:] == ["Просто текст."]
    alone = EmailMessage()
    for name in ("From", "To", "Subject"):
        alone[name] = "x@example.org"
    alone.set_content("<h1>Заголовок</h1><p>Текст письма.</p>", subtype="html")
    assert [block.text for block in read(alone).blocks][2:] == ["Заголовок", "Текст письма."]


def test_attachments_are_read_under_their_names_and_one_that_fails_spoils_nothing() -> None:
    message = letter()
    message.add_attachment(
        "товар;цена\nболт;3\nгайка;2\n".encode(), maintype="text", subtype="csv", filename="прайс.csv"
    )
    message.add_attachment(b"\x89PNG\r\n\x1a\n0000", maintype="image", subtype="png", filename="фото.png")
    parsed = read(message)
    row = next(block for block in parsed.blocks if "болт" in block.text)
    assert row.place.heading_path[:2] == ("Счёт за май", "прайс.csv")
    first, second = parsed.metadata["attachments"]
    assert (first["name"], first["is_read"]) == ("прайс.csv", True)
    assert (second["name"], second["is_read"]) == ("фото.png", False)
    assert second["reason"]


def test_a_letter_inside_a_letter_is_read_too() -> None:
    outer = letter("Пересылаю.")
    outer.add_attachment(letter("Исходный текст.", Subject="Исходное"))
    parsed = read(outer)
    inner = next(block for block in parsed.blocks if block.text == "Исходный текст.")
    assert inner.place.heading_path == ("Счёт за май", "Исходное")
    assert sum(block.text == "Исходный текст." for block in parsed.blocks) == 1


def test_letters_inside_letters_beyond_measure_are_refused() -> None:
    message = letter("дно")
    for _ in range(12):
        outer = letter("слой")
        outer.add_attachment(message)
        message = outer
    with pytest.raises(ParseFailed, match="beyond all measure"):
        read(message)


@pytest.mark.parametrize("declared", ["koi8-r", "windows-1251", "no-such-charset"])
def test_the_letters_of_a_code_page_are_read_also_where_its_name_is_wrong(declared: str) -> None:
    encoding = "koi8-r" if declared == "koi8-r" else "windows-1251"
    body = "Компания возмещает расходы на проезд по документам после возвращения.".encode(encoding)
    head = f"From: a@b.c\nTo: d@e.f\nSubject: x\nMIME-Version: 1.0\nContent-Type: text/plain; charset={declared}\n"
    data = f"{head}Content-Transfer-Encoding: 8bit\n\n".encode() + body
    assert "возмещает расходы на проезд" in read_document(data, "x.eml", ParseLimits()).text


def test_a_saved_page_is_its_html_part() -> None:
    page = (
        "From: <Saved by Blink>\r\nSnapshot-Content-Location: https://example.org/p\r\nSubject: Page\r\n"
        'MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary="b"\r\n\r\n'
        "--b\r\nContent-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"
        "<html><head><title>T</title></head><body><h1>H</h1><p>Saved=20words here</p></body></html>\r\n"
        "--b\r\nContent-Type: text/css\r\n\r\np {}\r\n--b--\r\n"
    )
    parsed = read_document(page.encode(), "page.mhtml", ParseLimits())
    assert (parsed.file_type, parsed.title, parsed.metadata) == ("mhtml", "T", {"address": "https://example.org/p"})
    assert [block.text for block in parsed.blocks] == ["H", "Saved words here"]


def test_a_saved_page_without_a_page_is_damaged() -> None:
    data = (
        b"From: x\nSubject: y\nSnapshot-Content-Location: z\nMIME-Version: 1.0\n"
        b'Content-Type: multipart/related; boundary="b"\n\n--b--\n'
    )
    with pytest.raises(ParseFailed) as told:
        read_document(data, "x.mht", ParseLimits())
    assert told.value.reason == ParseReason.DAMAGED
