"""The sample documents hold what their README promises, and their generator makes them as they are committed."""

from __future__ import annotations

import re
import runpy
import zipfile
from pathlib import Path
from typing import Any

import pypdfium2
import pytest

SAMPLES = Path(__file__).parents[2] / "samples"
DOCUMENTS = SAMPLES / "documents"


@pytest.fixture(scope="module")
def make() -> dict[str, Any]:
    return runpy.run_path(str(SAMPLES / "make.py"))


def zip_members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_every_document_is_named_in_the_readme() -> None:
    named = re.findall(r"^\| `([^`]+)` \|", (SAMPLES / "README.md").read_text("utf-8"), re.M)
    assert sorted(named) == sorted(path.name for path in DOCUMENTS.iterdir())


def test_travel_costs_rule_stands_on_page_two() -> None:
    with pypdfium2.PdfDocument(DOCUMENTS / "Положение о командировках.pdf") as pdf:
        assert len(pdf) == 3
        page = pdf[1].get_textpage().get_text_bounded()
    text = " ".join(page.split())
    assert "сотрудник получает обратно, когда вернётся" in text
    assert "бухгалтерия возмещает стоимость билетов" in text


@pytest.mark.parametrize("name", ["Remote work and information security.docx", "Суточные по городам.xlsx"])
def test_office_samples_are_what_the_generator_makes(name: str, make: dict[str, Any], tmp_path: Path) -> None:
    build, source = make["DOCUMENTS"][name]
    made = tmp_path / name
    made.write_bytes(build(SAMPLES / "sources" / source))
    assert zip_members(made) == zip_members(DOCUMENTS / name)


def test_word_sample_has_a_real_footnote() -> None:
    members = zip_members(DOCUMENTS / "Remote work and information security.docx")
    assert b"Export control applies" in members["word/footnotes.xml"]
    assert b"<w:footnoteReference" in members["word/document.xml"]
    assert b"[^1]" not in members["word/document.xml"]
