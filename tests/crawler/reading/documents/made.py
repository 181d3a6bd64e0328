"""Documents as the programs of others write them, and PDFs written byte by byte."""

from __future__ import annotations

import zlib
from io import BytesIO
from typing import NamedTuple
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles>'
    '<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/>'
    "</rootfiles></container>"
)
_TO_UNICODE = b"""/CIDInit /ProcSet findresource begin 12 dict begin begincmap
/CMapName /All def /CMapType 2 def 1 begincodespacerange <0000> <FFFF> endcodespacerange
1 beginbfrange <0000> <FFFF> <0000> endbfrange endcmap end end"""


class Placed(NamedTuple):
    """A line of text on a page, in points from the lower left corner.

    Attributes:
        mark: The operator that begins its marked content; empty: it is in none.
    """

    text: str
    x: float = 72
    y: float = 700
    size: float = 12
    mark: str = ""


def pdf(
    pages: list[list[Placed]],
    *,
    links: tuple[str, ...] = (),
    info: str = "",
    catalog: str = "",
    forms: tuple[bytes, ...] = (),
) -> bytes:
    """Return a PDF whose fonts map each code to the Unicode character of its number.

    Each page and each of the forms knows the form that comes next as ``X``.
    """
    objects = [b"", b"", b"", b"", b"", b""]
    kids: list[str] = []
    for lines in pages:
        shown = "\n".join(
            f"{line.mark} BT /F1 {line.size} Tf 1 0 0 1 {line.x} {line.y} Tm"
            f" <{_codes(line.text)}> Tj ET {'EMC' * bool(line.mark)}"
            for line in lines
        )
        annotations = " ".join(
            f"<< /Type /Annot /Subtype /Link /Rect [72 {at} 99 {at + 9}]"
            f" /A << /S /URI /URI ({target}) >> >>"
            for at, target in enumerate(links if not kids else ())
        )
        objects.append(_stream(shown.encode()))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font"
            b" << /F1 3 0 R >> /XObject << /X %d 0 R >> >> /Contents %d 0 R /Annots [%s] >>"
            % (7 + 2 * len(pages), len(objects), annotations.encode())
        )
        kids.append(f"{len(objects)} 0 R")
    for form in forms:
        entries = b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Length %d" % len(form)
        known = b"/Resources << /XObject << /X %d 0 R >> >>" % (len(objects) + 2)
        objects.append(b"<< %s %s >> stream\n%s\nendstream" % (entries, known, form))
    objects[0] = f"<< /Type /Catalog /Pages 2 0 R {catalog} >>".encode()
    objects[1] = f"<< /Type /Pages /Count {len(kids)} /Kids [{' '.join(kids)}] >>".encode()
    objects[2] = (
        b"<< /Type /Font /Subtype /Type0 /BaseFont /Arial /Encoding /Identity-H"
        b" /DescendantFonts [4 0 R] /ToUnicode 5 0 R >>"
    )
    objects[3] = (
        b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Arial /DW 500"
        b" /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >>"
        b" /FontDescriptor << /Type /FontDescriptor /FontName /Arial /Flags 4 /Ascent 800"
        b" /Descent -200 /CapHeight 700 /ItalicAngle 0 /StemV 80 /FontBBox [0 -200 1000 800] >> >>"
    )
    objects[4] = _stream(_TO_UNICODE)
    objects[5] = f"<< {info} >>".encode()
    return _file(objects)


def _codes(text: str) -> str:
    return text.encode("utf-16-be").hex()


def _stream(content: bytes) -> bytes:
    packed = zlib.compress(content)
    return b"<< /Length %d /Filter /FlateDecode >> stream\n%s\nendstream" % (len(packed), packed)


def _file(objects: list[bytes]) -> bytes:
    out, places = bytearray(b"%PDF-1.7\n"), []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj %s endobj\n" % (number, content)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer << /Size %d /Root 1 0 R /Info 6 0 R >>\n" % (len(objects) + 1)
    return bytes(out) + b"startxref\n%d\n%%%%EOF\n" % start


def wrapped(text: str, *, width: int = 60, y: float = 700, size: float = 12) -> list[Placed]:
    """Return a paragraph in lines as a typesetter places them."""
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    lines.append(line)
    return [Placed(one, y=y - at * size * 1.2, size=size) for at, one in enumerate(lines)]


def packed(entries: dict[str, str | bytes], *, mimetype: str = "") -> bytes:
    """Return an archive; a type goes first and is stored, as books and OpenDocument have it."""
    stream = BytesIO()
    with ZipFile(stream, "w", ZIP_DEFLATED) as archive:
        if mimetype:
            archive.writestr("mimetype", mimetype, ZIP_STORED)
        for name, content in entries.items():
            archive.writestr(name, content)
    return stream.getvalue()


def epub(
    chapters: dict[str, str], *, metadata: str = "", more: dict[str, str | bytes] | None = None
) -> bytes:
    """Return a book whose chapters stand in its folder, read in their order here."""
    items = "".join(
        f'<item id="c{at}" href="{name}" media-type="application/xhtml+xml"/>'
        for at, name in enumerate(chapters)
    )
    spine = "".join(f'<itemref idref="c{at}"/>' for at in range(len(chapters)))
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
        f'<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">{metadata}</metadata>'
        f"<manifest>{items}</manifest><spine>{spine}</spine></package>"
    )
    entries: dict[str, str | bytes] = {
        "META-INF/container.xml": CONTAINER,
        "OEBPS/book.opf": package,
    }
    entries |= {f"OEBPS/{name}": content for name, content in chapters.items()}
    return packed(entries | (more or {}), mimetype="application/epub+zip")


def stream_of(content: bytes) -> bytes:
    """Return a PDF of one page that shows what some operators say."""
    page = (
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources"
        b" << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>"
    )
    pages = b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>"
    catalog = b"<< /Type /Catalog /Pages 2 0 R >>"
    return _file([catalog, pages, page, _stream(content), b"<< >>", b"<< >>"])
