#!/usr/bin/env bash
# trafilatura leaves the words of time, output and label elements out of a sentence that it takes.
#
# Guess: an element within a sentence that is no link, picture or button keeps its words, as em and code do; what is not
#   known to an extractor loses at most its markup.
# What happens: of "leaves at <time>9:45</time> from the old pier" the text has "leaves at from the old pier", with no sign that
#   a word is missing. So with the defaults, for recall, for precision, without fallbacks, with formatting, as XML and as
#   Markdown; html2txt of the same package has the words. Those of data, em, code and span stay.
# Why it matters: hours, dates and results are what such a sentence tells. Two time tables that differ in nothing but them give
#   the same text, so a comparison of texts takes one for a copy of the other.
# Version: trafilatura 2.3.1, lxml_html_clean 0.4.6, Python 3.11. Date: 2026-12-04.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check 'trafilatura==2.3.1' 'lxml_html_clean==0.4.6' 2>/dev/null
cd "$folder"
venv/bin/python - <<'PYTHON'
from importlib.metadata import version

from trafilatura import extract, html2txt

print("trafilatura", version("trafilatura"))
told = "The keeper of the harbour writes down each ship that comes in, and who is on board, as the keepers before him did. "
sentence = "<p>The ferry leaves at {} from the old pier, whatever the weather, and it waits for nobody who comes late.</p>"
ways = {
    "defaults": {},
    "recall": {"favor_recall": True},
    "precision": {"favor_precision": True},
    "fast": {"fast": True},
    "formatting": {"include_formatting": True},
    "xml": {"output_format": "xml"},
    "markdown": {"output_format": "markdown"},
}


def page_of(name: str) -> str:
    words = sentence.format(f"<{name}>ninefortyfive</{name}>")
    return f"<html><body><article><h1>The ferry</h1><p>{told * 3}</p>{words}<p>{told * 2}</p></article></body></html>"


has = {}
for name in ("time", "output", "data", "label", "em", "code", "span"):
    found = {way: extract(page_of(name), **options) or "" for way, options in ways.items()}
    assert all("from the old pier" in text for text in found.values())
    has[name] = {way for way, text in found.items() if "ninefortyfive" in text}
    assert "ninefortyfive" in html2txt(page_of(name))
    print(f"{name}: its word is taken in {len(has[name])} of {len(ways)} ways, and by html2txt")
    if name == "time":
        print(*[" " + line for line in found["defaults"].splitlines() if "ferry leaves" in line], sep="\n")
assert not any(has[name] for name in ("time", "output", "label")), "the behaviour has changed"
assert all(len(has[name]) == len(ways) for name in ("data", "em", "code", "span"))
PYTHON
