"""Language by script."""

from __future__ import annotations

import pytest

from opora.text.language import detect_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Когда компенсируют дорогу?", "ru"),
        ("Що таке відрядження", "ru"),
        ("When is travel refunded?", "en"),
        ("出差费用什么时候报销?", "zh"),
        ("Как настроить GET /api/v1/knowledge-bases/{id}?", "ru"),
        ("如何配置 OPORA_PORT", "zh"),
        ("What does «проезд» mean in this document", "en"),
        ("東京はどこですか", "zz"),
        ("12345?", "zz"),
        ("", "zz"),
    ],
)
def test_the_script_tells(text: str, language: str) -> None:
    assert detect_language(text, "zz") == language
