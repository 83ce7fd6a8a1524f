"""Rich text: its words in whatever code page they are escaped."""

from opora.ingest.limits import ParseLimits
from opora.ingest.read import read_document


def test_paragraphs_and_escaped_letters_are_read() -> None:
    words = "".join(f"\\'{byte:02x}" for byte in "Срок оплаты".encode("cp1251"))
    rtf = rf"{{\rtf1\ansi\ansicpg1251{{\fonttbl{{\f0 Arial;}}}}\f0 {words} 30\par \u20986?\u24046? KB-1234\par}}"
    parsed = read_document(rtf.encode("ascii"), "письмо.rtf", ParseLimits())
    assert [block.text for block in parsed.blocks] == ["Срок оплаты 30", "出差 KB-1234"]
    assert parsed.file_type == "rtf"
