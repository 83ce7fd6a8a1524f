"""Takes the XML parts of a Word document out of its checked archive, with entities and networks shut off."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import TYPE_CHECKING

from opora.domain.errors import ParseFailed
from opora.domain.knowledge import ParseReason
from opora.ingest.archive import CappedArchive

if TYPE_CHECKING:
    from lxml.etree import _Element

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_STRICT_W = b"http://purl.oclc.org/ooxml/wordprocessingml/main"
_DC_TITLE = "{http://purl.org/dc/elements/1.1/}title"
_PLACEHOLDER_TITLES = frozenset({"word document", "document", "документ microsoft word", "microsoft word document"})


def q(name: str) -> str:
    """The qualified name of a Word element or attribute."""
    return f"{{{W}}}{name}"


def attribute(node: _Element, name: str) -> str:
    return str(node.get(q(name)) or "")


def children(node: _Element) -> Iterator[_Element]:
    return iter(node)


class DocxParts:
    """The parts that hold text. Raises `ParseFailed` with ``damaged_file`` when the main one cannot be read."""

    def __init__(self, archive: CappedArchive) -> None:
        self._archive = archive
        self._main_name = self._find_main()
        self._folder = posixpath.dirname(self._main_name)
        main = self._xml(self._main_name)
        if main is None:
            raise damaged()
        self.main = main
        self.styles = self._xml(f"{self._folder}/styles.xml")
        self.numbering = self._xml(f"{self._folder}/numbering.xml")

    @property
    def title(self) -> str:
        core = self._xml("docProps/core.xml")
        node = core.find(_DC_TITLE) if core is not None else None
        title = " ".join((node.text or "").split()) if node is not None else ""
        return "" if title.lower() in _PLACEHOLDER_TITLES else title

    def notes(self) -> dict[tuple[str, str], _Element]:
        """Footnotes and endnotes by (kind, id), without the lines that separate them from the text."""
        found: dict[tuple[str, str], _Element] = {}
        for kind in ("footnote", "endnote"):
            root = self._xml(f"{self._folder}/{kind}s.xml")
            for note in root.findall(q(kind)) if root is not None else ():
                if attribute(note, "type") in ("", "normal"):
                    found[kind, attribute(note, "id")] = note
        return found

    def headers_and_footers(self) -> Iterator[_Element]:
        for kind in ("header", "footer"):
            for name in sorted(self._archive.names):
                if name.startswith(f"{self._folder}/{kind}") and name.endswith(".xml"):
                    root = self._xml(name)
                    if root is not None:
                        yield root

    def _find_main(self) -> str:
        usual = "word/document.xml"
        if usual in self._archive:
            return usual
        for name in self._archive.names:
            if name.startswith("word/document") and name.endswith(".xml"):
                return name
        raise damaged()

    def _xml(self, name: str) -> _Element | None:
        """The root of a part; None when the archive has no such part, or a side part is broken."""
        if name not in self._archive:
            return None
        from lxml import etree

        content = self._archive.read(name).replace(_STRICT_W, W.encode())
        parser = etree.XMLParser(
            resolve_entities=False, load_dtd=False, no_network=True, remove_comments=True, remove_pis=True
        )
        try:
            root = etree.fromstring(content, parser)
        except etree.XMLSyntaxError as error:
            if "memory" in str(error).lower():
                raise MemoryError from error
            if name == self._main_name:
                raise damaged() from error
            return None
        if root.getroottree().docinfo.doctype:
            raise damaged()
        return root


def damaged() -> ParseFailed:
    return ParseFailed(
        ParseReason.DAMAGED,
        "The document is damaged and cannot be read.",
        hint="Open it in the program that made it, save it again as DOCX and upload the new file.",
    )
