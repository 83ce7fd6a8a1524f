"""Makes the binary sample documents (PDF, DOCX, XLSX) from the plain texts in `sources/`.

Run it after editing a source: `python samples/make.py`. It needs the packages of `requirements-dev.lock` and the
DejaVu fonts (Debian: `fonts-dejavu-core`). The same sources give the same bytes with the same libraries.
"""

from __future__ import annotations

import io
import re
import sys
import zipfile
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

HERE = Path(__file__).parent
FONTS = Path("/usr/share/fonts/truetype/dejavu")
DATE = datetime(2025, 1, 1)
DOS_DATE = (2025, 1, 1, 0, 0, 0)
COMPANY = "ООО «Вереск-Прибор»"


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One paragraph, heading (level 1 to 3) or table of a source text."""

    text: str = ""
    level: int = 0
    rows: tuple[tuple[str, ...], ...] = ()


def read_source(path: Path) -> tuple[list[Piece], dict[str, str]]:
    """The pieces of a source and its footnotes by number."""
    pieces: list[Piece] = []
    footnotes: dict[str, str] = {}
    for block in path.read_text("utf-8").strip().split("\n\n"):
        if note := re.match(r"\[\^(\d+)\]: (.*)", block, re.S):
            footnotes[note[1]] = note[2]
        elif heading := re.match(r"(#{1,3}) (.*)", block):
            pieces.append(Piece(text=heading[2], level=len(heading[1])))
        elif block.startswith("|"):
            rows = (tuple(cell.strip() for cell in line[1:-1].split("|")) for line in block.splitlines())
            pieces.append(Piece(rows=tuple(rows)))
        else:
            pieces.append(Piece(text=block))
    return pieces, footnotes


def make_pdf(source: Path) -> bytes:
    """A4 pages with an embedded Cyrillic font, a running head and page numbers."""
    from reportlab.lib import colors
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.lib.units import mm
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFont
    from reportlab.pdfgen.canvas import Canvas
    from reportlab.platypus import BaseDocTemplate, Flowable, Frame, PageTemplate, Paragraph, Spacer, Table

    pdfmetrics.registerFont(TTFont("Body", FONTS / "DejaVuSans.ttf"))
    pdfmetrics.registerFont(TTFont("Bold", FONTS / "DejaVuSans-Bold.ttf"))
    body = ParagraphStyle("body", fontName="Body", fontSize=9.8, leading=14.6, spaceAfter=6)
    cell = ParagraphStyle("cell", parent=body, fontSize=9, leading=12, spaceAfter=0)
    head = ParagraphStyle("head", parent=cell, fontName="Bold")
    headings = {
        1: ParagraphStyle("h1", parent=body, fontName="Bold", fontSize=19, leading=24, spaceAfter=10),
        2: ParagraphStyle("h2", parent=body, fontName="Bold", fontSize=12.5, leading=17, spaceBefore=9, keepWithNext=1),
    }
    pieces, _ = read_source(source)
    story: list[Flowable] = []
    for piece in pieces:
        if piece.rows:
            cells = [[Paragraph(text, cell if n else head) for text in row] for n, row in enumerate(piece.rows)]
            table = Table(cells, colWidths=[58 * mm, 52 * mm, 56 * mm], spaceAfter=8, spaceBefore=2)
            table.setStyle([("LINEBELOW", (0, 0), (-1, -1), 0.4, colors.grey), ("VALIGN", (0, 0), (-1, -1), "TOP")])
            story.append(table)
        else:
            story.append(Paragraph(piece.text, headings.get(piece.level, body)))
    story.append(Spacer(1, 4 * mm))

    def furniture(canvas: Canvas, document: BaseDocTemplate) -> None:
        canvas.setFont("Body", 8)
        canvas.setFillColor(colors.grey)
        canvas.drawString(22 * mm, A4[1] - 13 * mm, COMPANY)
        canvas.drawRightString(A4[0] - 22 * mm, 12 * mm, str(document.page))

    out = io.BytesIO()
    document = BaseDocTemplate(out, pagesize=A4, title=pieces[0].text, author=COMPANY, invariant=1)
    frame = Frame(22 * mm, 18 * mm, A4[0] - 44 * mm, A4[1] - 38 * mm, 0, 0, 0, 0)
    document.addPageTemplates(PageTemplate("page", [frame], onPage=furniture))
    document.build(story)
    return out.getvalue()


FOOTNOTES_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
FOOTNOTES_REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"
WORD_NS = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def footnotes_xml(footnotes: dict[str, str]) -> bytes:
    """The footnotes part of a Word file: two separators that Word wants to see, then the notes."""
    from xml.sax.saxutils import escape

    notes = [
        '<w:footnote w:type="separator" w:id="-1"><w:p><w:r><w:separator/></w:r></w:p></w:footnote>',
        '<w:footnote w:type="continuationSeparator" w:id="0"><w:p><w:r><w:continuationSeparator/></w:r></w:p>'
        "</w:footnote>",
    ]
    for number, text in footnotes.items():
        run = f'<w:r><w:footnoteRef/></w:r><w:r><w:t xml:space="preserve"> {escape(text)}</w:t></w:r>'
        notes.append(f'<w:footnote w:id="{number}"><w:p>{run}</w:p></w:footnote>')
    head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
    return f'{head}<w:footnotes xmlns:w="{WORD_NS}">{"".join(notes)}</w:footnotes>'.encode()


def make_docx(source: Path) -> bytes:
    """A Word file with heading styles, one table and real footnotes."""
    import docx
    from docx.opc.packuri import PackURI
    from docx.opc.part import Part
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    pieces, footnotes = read_source(source)
    document = docx.Document()
    document.core_properties.title = pieces[0].text
    document.core_properties.author = "Veresk Instruments LLC"
    document.core_properties.created = document.core_properties.modified = DATE
    for piece in pieces:
        if piece.rows:
            table = document.add_table(rows=0, cols=len(piece.rows[0]), style="Light Grid Accent 1")
            for row in piece.rows:
                for place, text in zip(table.add_row().cells, row, strict=True):
                    place.text = text
        elif piece.level:
            document.add_heading(piece.text, piece.level)
        else:
            paragraph = document.add_paragraph()
            for n, part in enumerate(re.split(r"\[\^(\d+)\]", piece.text)):
                run = paragraph.add_run("" if n % 2 else part)
                if n % 2:
                    run.font.superscript = True
                    reference = OxmlElement("w:footnoteReference")
                    reference.set(qn("w:id"), part)
                    run._r.append(reference)
    name = PackURI("/word/footnotes.xml")
    part = Part(name, FOOTNOTES_TYPE, footnotes_xml(footnotes), document.part.package)
    document.part.relate_to(part, FOOTNOTES_REL)
    out = io.BytesIO()
    document.save(out)
    return frozen_zip(out.getvalue())


def make_xlsx(source: Path) -> bytes:
    """A workbook with one sheet a table of the source; its second-level headings name the sheets."""
    from openpyxl import Workbook
    from openpyxl.styles import Font

    book = Workbook()
    book.remove(book.active)
    pieces, _ = read_source(source)
    book.properties.title = pieces[0].text
    book.properties.creator = COMPANY
    book.properties.created = book.properties.modified = DATE
    name = ""
    for piece in pieces:
        if not piece.rows:
            name = piece.text if piece.level == 2 else name
            continue
        sheet = book.create_sheet(name)
        for row in piece.rows:
            sheet.append([int(text) if text.isdecimal() else text for text in row])
        for column, text in zip(sheet.columns, piece.rows[0], strict=True):
            sheet.column_dimensions[column[0].column_letter].width = max(16, len(text) + 2)
            column[0].font = Font(bold=True)
        sheet.freeze_panes = "A2"
    out = io.BytesIO()
    book.save(out)
    return frozen_zip(out.getvalue())


def frozen_zip(data: bytes) -> bytes:
    """The same archive with one fixed date, so that making it again changes nothing."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            content = (
                re.sub(rb"(<dcterms:modified[^>]*>)[^<]*", rb"\g<1>2025-01-01T00:00:00Z", old.read(name))
                if name == "docProps/core.xml"
                else old.read(name)
            )
            new.writestr(zipfile.ZipInfo(name, DOS_DATE), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


DOCUMENTS = {
    "Положение о командировках.pdf": (make_pdf, "travel-rules.md"),
    "Remote work and information security.docx": (make_docx, "remote-work.md"),
    "Суточные по городам.xlsx": (make_xlsx, "per-diem.md"),
}


def main(target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for name, (make, source) in DOCUMENTS.items():
        (target / name).write_bytes(make(HERE / "sources" / source))
        print(target / name)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "documents")
