#!/usr/bin/env bash
# inscriptis, which lays tables out for reading, knows no rowspan and no colspan: cells move under other headings.
#
# Guess: a library whose aim is text that keeps the layout of tables puts each cell under the heading of its column, also
#   beside a cell that spans two rows, and behind one that spans two columns.
# What happens: a row has as many cells as its source. The row beside a rowspan begins in the first column, and what stands
#   behind a colspan moves to the left.
# Why it matters: a ship reads as a day, a time as a ship. Texts for search or for a model hold facts that the page does not, and
#   the same table with and without spans, as two versions of a page often are, gives texts that differ.
# Version: inscriptis 2.7.6, Python 3.11. Date: 2026-12-03.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check 'inscriptis==2.7.6' 2>/dev/null
cd "$folder"
venv/bin/python - <<'PYTHON'
from importlib.metadata import version

from inscriptis import get_text

print("inscriptis", version("inscriptis"))
head = "<table><tr><th>Day</th><th>Ship</th><th>Time</th></tr>"
plain = "<tr><td>Monday</td><td>Ada</td><td>7:00</td></tr><tr><td>Monday</td><td>Bob</td><td>8:00</td></tr></table>"
spans = "<tr><td rowspan=2>Monday</td><td>Ada</td><td>7:00</td></tr><tr><td>Bob</td><td>8:00</td></tr></table>"
wide = "<tr><td colspan=2>Tuesday: none</td><td>9:00</td></tr></table>"


def column(text: str, word: str) -> str:
    """The heading above a word."""
    heading, *rows = text.splitlines()
    at = next(row.index(word) for row in rows if word in row)
    return max((name for name in heading.split() if heading.index(name) <= at), key=heading.index)


for name, table in ("without spans", plain), ("rowspan", spans), ("colspan", wide):
    print(f"{name}:", get_text(head + table), sep="\n")
assert column(get_text(head + plain), "Bob") == "Ship"
assert column(get_text(head + spans), "Bob") == "Day", "the behaviour has changed"
assert column(get_text(head + wide), "9:00") == "Ship", "the behaviour has changed"
PYTHON
