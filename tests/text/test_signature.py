"""Equal but for case and blanks."""

from __future__ import annotations

import pytest

from opora.text.signature import content_signature, is_contained, normalise_content


def test_case_and_blanks_do_not_count() -> None:
    assert normalise_content("  Проезд \n\t Оплачен ") == "проезд оплачен"
    assert content_signature("Проезд  оплачен") == content_signature(" проезд\nоплачен")
    assert content_signature("проезд оплачен") != content_signature("проездоплачен")
    assert content_signature(" \n") == ""
    assert len(content_signature("\ud800")) == 32


@pytest.mark.parametrize(
    ("inner", "outer", "is_in"),
    [
        ("Проезд  оплачен", "наш ПРОЕЗД\nоплачен весь", True),
        ("", "текст", False),
        ("текст", "", False),
        ("да", "нет", False),
    ],
)
def test_containment(inner: str, outer: str, is_in: bool) -> None:
    assert is_contained(inner, outer) is is_in
