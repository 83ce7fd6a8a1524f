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
    "pptx": "opora.ingest.parse.pptx:parse",
    "odt": "opora.ingest.parse.odf:parse",
    "ods": "opora.ingest.parse.workbook:parse_ods",
    "xls": "opora.ingest.parse.workbook:parse_xls",
    "epub": "opora.ingest.parse.epub:parse",
    "eml": "opora.ingest.parse.mail:parse",
    "mhtml": "opora.ingest.parse.mail:parse_mhtml",
    "image": "opora.ingest.parse.image:parse",
    "json": "opora.ingest.parse.json:parse",
    "rtf": "opora.ingest.parse.rtf:parse",
}


class Parse(Protocol):
    """Reads one format. Raises `ParseFailed` with a reason for people."""

    def __call__(self, data: bytes, file_name: str, limits: ParseLimits) -> ParsedDocument: ...


def load_parser(kind: str) -> Parse:
    """The parser of a kind that `detect` names, imported when it is first used."""
    module, _, name = PARSERS[kind].partition(":")
    return cast(Parse, getattr(import_module(module), name))
