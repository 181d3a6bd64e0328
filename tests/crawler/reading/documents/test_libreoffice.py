"""Documents that LibreOffice has written are read back as they were shown."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from crawler.reading.documents.office import read_open_document, read_word

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.reading.documents.document_text import DocumentText

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice is missing"),
]

NAMES = " ".join(
    f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for short, name in {
        "office": "office",
        "style": "style",
        "text": "text",
        "table": "table",
        "fo": "xsl-fo-compatible",
    }.items()
)
REPORT = f"""<?xml version="1.0" encoding="UTF-8"?>
<office:document {NAMES} xmlns:xlink="http://www.w3.org/1999/xlink"
 office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.text">
<office:automatic-styles><style:style style:name="gone" style:family="text"><style:text-properties
 text:display="none"/></style:style></office:automatic-styles><office:body><office:text>
<text:table-of-content text:name="Contents"><text:table-of-content-source/><text:index-body>
<text:index-title text:name="Head"><text:p>Contents</text:p></text:index-title>
<text:p><text:a xlink:href="#harbour">The harbour<text:tab/>1</text:a></text:p></text:index-body>
</text:table-of-content>
<text:h text:outline-level="1"><text:bookmark text:name="harbour"/>The harbour</text:h>
<text:p>The ferry<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation>
<text:note-body><text:p>Built in 1950.</text:p></text:note-body></text:note> came<text:span
 text:style-name="gone"> unseen</text:span> in.</text:p>
<text:section text:name="Draft" text:display="none"><text:p>A draft.</text:p></text:section>
<text:p>名は<text:ruby><text:ruby-base>漢字</text:ruby-base><text:ruby-text>かんじ</text:ruby-text>
</text:ruby>です。</text:p>
<table:table table:name="Crews"><table:table-column table:number-columns-repeated="3"/>
<table:table-row><table:table-cell table:number-columns-spanned="2"><text:p>Ship</text:p>
</table:table-cell><table:covered-table-cell/><table:table-cell><text:p>Crew</text:p>
</table:table-cell></table:table-row><table:table-row><table:table-cell><text:p>Ferry</text:p>
</table:table-cell><table:table-cell><text:p>old</text:p></table:table-cell><table:table-cell>
<text:p>12</text:p></table:table-cell></table:table-row></table:table>
<text:p>The end.</text:p></office:text></office:body></office:document>"""
SHOWN = [
    ("h1", "The harbour"),
    ("p", "The ferry came in."),
    ("p", "Built in 1950."),
    ("p", "名は漢字（かんじ）です。"),
    ("row", "Ship\t\tCrew"),
    ("row", "Ferry\told\t12"),
    ("p", "The end."),
]


def converted(folder: Path, name: str, content: str, ending: str) -> bytes:
    """Return what LibreOffice makes of a file."""
    source = folder / name
    source.write_text(content, encoding="utf-8")
    profile = f"-env:UserInstallation={(folder / 'profile').as_uri()}"
    command = ["soffice", profile, "--headless", "--convert-to", ending, "--outdir", str(folder)]
    subprocess.run([*command, str(source)], check=True, capture_output=True, timeout=300)
    return source.with_suffix(f".{ending}").read_bytes()


def shown(found: DocumentText) -> list[tuple[str, str]]:
    return [(block.kind, block.text) for block in found.blocks]


def test_cells_of_a_sheet_stand_in_their_rows_and_columns(tmp_path: Path) -> None:
    said = "Ravenby,5,5,5,9\n,,,,7\nTorpe,,,1,1\n" + "x,y\n" * 3
    found = read_open_document(converted(tmp_path, "towns.csv", said, "ods"))
    assert shown(found) == [
        ("h2", "towns"),
        ("row", "Ravenby\t5\t5\t5\t9"),
        ("row", "\t\t\t\t7"),
        ("row", "Torpe\t\t\t1\t1"),
        *[("row", "x\ty")] * 3,
    ]


def test_a_text_is_read_without_what_is_hidden(tmp_path: Path) -> None:
    assert shown(read_open_document(converted(tmp_path, "a.fodt", REPORT, "odt"))) == SHOWN


def test_the_same_text_is_read_of_a_word_document(tmp_path: Path) -> None:
    found = read_word(converted(tmp_path, "a.fodt", REPORT, "docx"))
    note, draft, harbour = SHOWN[2], ("p", "A draft."), ("p", "The harbour 1")
    # Word hides no sections, has its notes at the end, and its tables of contents are read.
    text = [*SHOWN[:2], draft, *SHOWN[3:], note]
    assert shown(found) == [("p", "Contents"), harbour, *text]
