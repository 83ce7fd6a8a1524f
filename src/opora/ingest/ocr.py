"""Recognises text in pictures with Tesseract, where it is installed: a program fed and read through pipes."""

from __future__ import annotations

import csv
import io
import os
import shutil
import subprocess
import unicodedata
from dataclasses import replace
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
        return _words(done.stdout.decode("utf-8", "replace"), page, points)


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


def _words(tsv: str, page: int, points: float) -> list[Word]:
    """The words of the program's table. It cuts Chinese into words with blanks between, which are none: those that
    stand side by side in a line are put together again."""
    found: list[Word] = []
    last: tuple[str, ...] = ()
    for row in csv.DictReader(io.StringIO(tsv), delimiter="\t", quoting=csv.QUOTE_NONE):
        text = " ".join((row.get("text") or "").split())
        if not text or float(row.get("conf") or -1) < MIN_CONFIDENCE:
            continue
        x, y, width, height = (int(row[name]) * points for name in ("left", "top", "width", "height"))
        word = Word(text=text, page=page, box=(x, y, x + width, y + height), size=height, quarter=0)
        line = (row["block_num"], row["par_num"], row["line_num"])
        if found and line == last and _is_wide(found[-1].text[-1]) and _is_wide(text[0]):
            word = _together(found.pop(), word)
        found.append(word)
        last = line
    return found


def _together(one: Word, other: Word) -> Word:
    a, b = one.box, other.box
    box = (min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3]))
    return replace(one, text=one.text + other.text, box=box, size=max(one.size, other.size))


def _is_wide(char: str) -> bool:
    return unicodedata.east_asian_width(char) in ("W", "F")


def _data() -> dict[str, str]:
    """Where the program's languages are, if somebody said so."""
    folder = os.environ.get("TESSDATA_PREFIX", "")
    return {"TESSDATA_PREFIX": folder} if folder else {}
