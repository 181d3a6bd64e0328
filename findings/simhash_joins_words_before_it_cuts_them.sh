#!/usr/bin/env bash
# The package simhash joins the words of a text before it cuts it: "now here" is "nowhere", and most features cross words.
#
# Guess: Simhash(text) counts words, or runs of four characters with the blanks between words, so that texts of other words
#   get other fingerprints.
# What happens: everything that is no letter or digit goes, blanks too, and runs of four characters are cut out of the one
#   long word that is left. Texts that differ in where words end, in signs or in case have distance 0.
# Why it matters: thresholds that a paper or another library gives for words do not hold for these fingerprints, and pages
#   that differ in "C" and "C++", in "<" and ">=" or in where words end are exact duplicates. Give it the features: a list of
#   words, or of (feature, weight).
# Version: simhash 2.1.2, Python 3.11. Date: 2026-12-03.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check 'simhash==2.1.2' 2>/dev/null
cd "$folder"
venv/bin/python - <<'PYTHON'
from importlib.metadata import version

from simhash import Simhash

print("simhash", version("simhash"))
pairs = [
    ("the therapist is nowhere in town", "the the rapist is now here in town"),
    ("use it where a < b in C", "use it where a >= b in C++"),
    ("The Men of May", "them enof may"),
]
for first, second in pairs:
    distance = Simhash(first).distance(Simhash(second))
    of_words = Simhash(first.split()).distance(Simhash(second.split()))
    print(f"{first!r}, {second!r}: distance {distance}, of lists of words {of_words}")
    assert of_words > 0
    assert distance == 0, "the behaviour has changed"
PYTHON
