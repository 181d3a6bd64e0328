#!/usr/bin/env bash
# A page that says "Published March 2024" is dated 2024-01-01 by htmldate, and one that says "We opened in 2008." 2008-01-01.
#
# Guess: find_date gives a date that stands on the page, at worst the first of its month: 2024-03-01 for "March 2024", and
#   None where there is a year in a sentence alone.
# What happens: a month in the figures of a text (03/2024) gives the first of that month; one in datetime="2024-03" gives the
#   day of the month on which the program runs, so that one page has another date every day. A month in words is not
#   read at all: the year beside it is, which gives the first of January, two months before what the page says. So does
#   any year in the text, "Spring 2024" as well as "We opened in 2008.". It is what the usual extensive_search=True does;
#   with extensive_search=False all of these give None, dates in figures within the text too.
# Why it matters: the format YYYY-MM-DD tells nobody how much of a date was read. Sorted by date, a year's pages begin
#   with a heap on the first of January; trafilatura's metadata has its dates from here.
# Version: htmldate 1.11.0, Python 3.11. Date: 2026-12-02.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check 'htmldate==1.11.0' 2>/dev/null
cd "$folder"
venv/bin/python - <<'PYTHON'
from datetime import date
from importlib.metadata import version

from htmldate import find_date

print("htmldate", version("htmldate"))
PAGE = "<html><head><title>Ferries</title></head><body><p>{}</p><p>Ferries are late.</p></body></html>"
expected = {
    "Published March 2024": ("2024-01-01", None),
    "Published Spring 2024": ("2024-01-01", None),
    "We opened in 2008.": ("2008-01-01", None),
    "Last updated: 03/2024": ("2024-03-01", None),
    '<time datetime="2024-03">March 2024</time>': (f"2024-03-{date.today():%d}",) * 2,
}
for said, dates in expected.items():
    found = tuple(find_date(PAGE.format(said), extensive_search=search) for search in (True, False))
    print(f"{said}: {found[0]}, without extensive_search {found[1]}")
    assert found == dates, "the behaviour has changed"
PYTHON
