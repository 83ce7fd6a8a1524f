"""The formats that can be read: adding one is one file and one line here."""

from __future__ import annotations

from importlib import import_module
from typing import Protocol, cast

from opora.domain.knowledge import ParsedDocument
from opora.ingest.limits import ParseLimits

PARSERS = {
    "txt": "opora.ingest.parse.txt:parse",
    "md": "opora.ingest.parse.md:parse",
    "html": "opora.ingest.parse.html:parse",
    "csv": "opora.ingest.parse.csv:parse",
    "pdf": "opora.ingest.parse.pdf:parse",
    "docx": "opora.ingest.parse.docx:parse",
    "xlsx": "opora.ingest.parse.xlsx:parse",
}


class Parse(Protocol):
    """Reads one format. Raises `ParseFailed` with a reason for people."""

    def __call__(self, data: bytes, file_name: str, limits: ParseLimits) -> ParsedDocument: ...


def load_parser(kind: str) -> Parse:
    """The parser of a kind that `detect` names, imported when it is first used."""
    module, _, name = PARSERS[kind].partition(":")
    return cast(Parse, getattr(import_module(module), name))
