"""Recognises text in pictures with Tesseract, where it is installed: a program fed and read through pipes."""

from __future__ import annotations

import csv
import io
import os
import shutil
import subprocess
import unicodedata
from collections.abc import Iterator
from functools import cache
from time import monotonic

from opora.domain.errors import ParseFailed
from opora.domain.knowledge import ParseReason
from opora.ingest.limits import ParseLimits
from opora.ingest.parse.pdf_words import Word

PROGRAM = "tesseract"
DPI = 200
"""Pages are drawn so for recognition; smaller letters are read badly, larger ones slowly."""
SHARE_OF_TIME = 0.8
"""Of the time that a document may take: what is left over is for its other pages."""
MIN_CONFIDENCE = 30.0
"""Percent; below it the program sees letters in specks and lines."""
INSTALL = "Install Tesseract with its languages (tesseract-ocr, tesseract-ocr-rus, tesseract-ocr-chi-sim)"


class Recogniser:
    """Words of pictures, for one document: it keeps the document's time."""

    def __init__(self, limits: ParseLimits) -> None:
        self._languages = installed(limits.ocr_languages) if limits.ocr else ""
        self._until = monotonic() + limits.seconds * SHARE_OF_TIME
        self.pages = 0
        """Pictures that were looked at."""
        self.skipped = 0
        """Pictures for which no time was left."""

    @property
    def is_there(self) -> bool:
        return bool(self._languages)

    def words(self, png: bytes, page: int, points: float) -> list[Word]:
        """The words of a PNG picture, with boxes in points from its top left corner; ``points`` is the size of a pixel.

        Raises `ParseFailed` when the program breaks down.
        """
        left = self._until - monotonic()
        if left <= 0:
            self.skipped += 1
            return []
        self.pages += 1
        command = [PROGRAM, "stdin", "stdout", "-l", self._languages, "--dpi", str(DPI), "tsv"]
        try:
            done = subprocess.run(
                command,
                input=png,
                capture_output=True,
                timeout=left,
                check=True,
                env={"PATH": os.environ.get("PATH", os.defpath), "OMP_THREAD_LIMIT": "1", "LC_ALL": "C"} | _data(),
            )
        except subprocess.TimeoutExpired:
            self.skipped += 1
            return []
        except (OSError, subprocess.CalledProcessError) as error:
            raise ParseFailed(
                ParseReason.CRASHED,
                "Text recognition broke down on a picture of the document.",
                hint="Save the picture anew, or set OPORA_OCR=off to leave pictures alone.",
            ) from error
        return list(_words(done.stdout.decode("utf-8", "replace"), page, points))


@cache
def installed(wanted: str) -> str:
    """Those of the wanted languages (``rus+chi_sim+eng``) that the program has; '' for none, or no program."""
    if shutil.which(PROGRAM) is None:
        return ""
    try:
        listed = subprocess.run([PROGRAM, "--list-langs"], capture_output=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    there = set(listed.stdout.decode("utf-8", "replace").split())
    return "+".join(language for language in wanted.split("+") if language in there)


def _words(tsv: str, page: int, points: float) -> Iterator[Word]:
    before = ""
    for row in csv.DictReader(io.StringIO(tsv), delimiter="\t", quoting=csv.QUOTE_NONE):
        text = " ".join((row.get("text") or "").split())
        if not text or float(row.get("conf") or -1) < MIN_CONFIDENCE:
            continue
        x, y, width, height = (int(row[name]) * points for name in ("left", "top", "width", "height"))
        # The program puts blanks between Chinese characters, where there are none.
        spaced = not (before and _is_wide(before[-1]) and _is_wide(text[0]))
        yield Word(text=text, page=page, box=(x, y, x + width, y + height), size=height, quarter=0, spaced=spaced)
        before = text


def _is_wide(char: str) -> bool:
    return unicodedata.east_asian_width(char) in ("W", "F")


def _data() -> dict[str, str]:
    """Where the program's languages are, if somebody said so."""
    folder = os.environ.get("TESSDATA_PREFIX", "")
    return {"TESSDATA_PREFIX": folder} if folder else {}
