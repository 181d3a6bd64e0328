#!/usr/bin/env bash
# goose3 leaves the code out of an article, also the words in code within a sentence that is taken.
#
# Guess: what extracts the text of an article takes the whole of it, and so also the listings of a page that explains a program,
#   perhaps without their line breaks.
# What happens: cleaned_text holds the paragraphs before and behind a pre element, and nothing of the element. Of a sentence it
#   holds all but its code or kbd element, without a gap: "the keeper runs on the machine". Words in em stay.
# Why it matters: the text of a manual or of a tutorial says "run" and "which prints", and no longer what. Two pages that
#   differ by their code alone give the same text, so a comparison of texts takes them for copies.
# Version: goose3 3.1.22, Python 3.11. Date: 2026-12-04.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check 'goose3==3.1.22' 2>/dev/null
cd "$folder"
venv/bin/python - <<'PYTHON'
from importlib.metadata import version

from goose3 import Goose

print("goose3", version("goose3"))
before = "The harbour clock is set by hand each morning, and the keeper of the gate writes the error down before he does so. "
after = "What it prints is the error of the clock in seconds, and the keeper signs it, as the keepers before him have done. "
listing = "offset = read_clock('gate') - tide_time()"
sentence = "<p>To know how far the clock is off, the keeper of the gate runs {} on the machine that is in the tower.</p>"
ways = {
    "pre": f"<pre>{listing}</pre>",
    "pre and code": f"<pre><code>{listing}</code></pre>",
    "code in a sentence": sentence.format(f"<code>{listing}</code>"),
    "kbd in a sentence": sentence.format(f"<kbd>{listing}</kbd>"),
    "em in a sentence": sentence.format(f"<em>{listing}</em>"),
}
taken = {}
for name, code in ways.items():
    page = f"<html><body><article><h1>The clock</h1><p>{before * 3}</p>{code}<p>{after * 3}</p></article></body></html>"
    text = Goose().extract(raw_html=page).cleaned_text
    assert before.strip() in text and after.strip() in text
    taken[name] = listing in text
    print(f"{name}: {'taken' if taken[name] else 'left out'}")
    for line in text.splitlines():
        if line.startswith("To know"):
            print(f"  {line}")
assert taken == {**dict.fromkeys(ways, False), "em in a sentence": True}, "the behaviour has changed"
PYTHON
