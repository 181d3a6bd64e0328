#!/usr/bin/env bash
# w3lib, and Scrapy by it, believes a charset that stands in a script's text.
#
# Guess: html_body_declared_encoding passes over what is no markup: it does so for comments.
# What happens: a <meta charset> within a string of a script that stands before the real one wins, so that a page that
#   declares UTF-8 is decoded as what the script writes into another window.
# Why it matters: scripts that build a printed view or an editor's frame hold such a string (as do pages about HTML); the
#   page's own words become garbage without any error. Browsers read the meta element only, by their tokenizer.
# Version: w3lib 2.5.0, Python 3.11. Date: 2026-11-30.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check 'w3lib==2.5.0' 2>/dev/null
cd "$folder"
venv/bin/python - <<'PYTHON'
from importlib.metadata import version

from w3lib.encoding import html_to_unicode

print("w3lib", version("w3lib"))
real = '<meta charset="utf-8"><title>Größe</title>'
within = {
    "comment": f'<!-- <meta charset="koi8-r"> -->{real}',
    "script": f"""<script>view.write('<meta charset="koi8-r">')</script>{real}""",
}
found = {}
for name, page in within.items():
    found[name], text = html_to_unicode(None, page.encode())
    print(f"another charset in a {name}: {found[name]}, the title {text.partition('<title>')[2][:-8]!r}")
assert found == {"comment": "utf-8", "script": "koi8-r"}, "the behaviour has changed"
PYTHON
