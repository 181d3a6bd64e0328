#!/usr/bin/env bash
# A PDF that Chromium prints where no font has Japanese keeps each character of 日本語の文章 but the first; pypdf reads none.
#
# Guess: what is shown as boxes is text all the same, since the page's characters stand beside the glyphs; or it is lost
#   as a whole. All readers agree.
# What happens: all boxes are the glyph 0 of one font. Chromium notes a character for a glyph once, in the font's table,
#   which leaves glyph 0 out, and where a glyph stands for another character writes it beside the glyph (ActualText). So the first
#   character that came to the box, here 日, stands nowhere, wherever it comes again; all others stand beside theirs. PDFium
#   and PyMuPDF read them (PyMuPDF with U+0000 for the lost one); pypdf and pdfminer.six give U+0000 or (cid:0) for every one.
# Why it matters: containers have a headless Chromium and no fonts for most scripts. The page's PDF looks ruined, its text does not,
#   and lacks one character in a search, a digest, a comparison with the page. Install fonts before the first page is printed.
# Version: chromium-headless-shell 156.0.8078.114 (Debian 156.0.8078.114-1~deb12u1), pypdfium2 5.15.2, PyMuPDF 2.0, pypdf 7.1.0,
#   pdfminer.six 20260107, Python 3.11. Date: 2026-12-02.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
version=156.0.8078.114-1~deb12u1
apt-get download -qq chromium-headless-shell=$version chromium-common=$version fonts-liberation=1:1.07.4-11 2>/dev/null
for package in *.deb; do dpkg -x "$package" .; done
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check 'pypdfium2==5.15.2' 'pymupdf==2.0' 'pypdf==7.1.0' 'pdfminer.six==20260107' 2>/dev/null
cat > fonts.conf <<XML
<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>$folder/usr/share/fonts</dir><cachedir>$folder/cache</cachedir></fontconfig>
XML
cat > page.html <<'HTML'
<!DOCTYPE html><html lang="ja"><meta charset="utf-8"><title>Without a font</title><p>日本語の文章</p><p>日曜日 Tokyo</p></html>
HTML
shell=$(find usr -name '*headless*shell*' -type f -size +1M)
"$shell" --no-sandbox --version
FONTCONFIG_FILE=$folder/fonts.conf "$shell" --no-sandbox --disable-gpu --user-data-dir="$folder/profile" --no-pdf-header-footer \
  --print-to-pdf=page.pdf "file://$folder/page.html" 2>/dev/null
venv/bin/python - <<'PYTHON'
import pymupdf
import pypdf
import pypdfium2
from pdfminer.high_level import extract_text

texts = {
    "pypdfium2": pypdfium2.PdfDocument("page.pdf")[0].get_textpage().get_text_range(),
    "PyMuPDF": pymupdf.open("page.pdf")[0].get_text(),
    "pypdf": pypdf.PdfReader("page.pdf").pages[0].extract_text(),
    "pdfminer.six": extract_text("page.pdf"),
}
lines = {name: [line.strip() for line in text.splitlines() if line.strip()] for name, text in texts.items()}
for name, read in lines.items():
    print(name, read)
lost, box = "\0", "(cid:0)"
assert lines["pypdfium2"] == ["本語の文章", "曜 Tokyo"], "the behaviour has changed"
assert lines["PyMuPDF"] == [f"{lost}本語の文章", f"{lost}曜{lost} Tokyo"], "the behaviour has changed"
assert lines["pypdf"] == [lost * 6, lost * 3 + " Tokyo"], "the behaviour has changed"
assert lines["pdfminer.six"] == [box * 6, box * 3 + " Tokyo"], "the behaviour has changed"
PYTHON
