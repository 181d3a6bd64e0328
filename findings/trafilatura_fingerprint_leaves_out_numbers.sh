#!/usr/bin/env bash
# The fingerprint and the hash that trafilatura makes of a text know neither its numbers nor its short words.
#
# Guess: content_fingerprint is a SimHash of all words, so that texts with other dates, times and prices get fingerprints
#   some bits apart; generate_bow_hash, a cryptographic hash of the bag of words, differs as soon as one word does.
# What happens: where a text has 32 words of five letters or more, only those count, and of each text only words of letters
#   and digits alone: 2024, 18:30, 12.50, "May", "not", v1.2 and C++ are left out. Both values are equal for two texts that
#   differ in nothing else.
# Why it matters: pages of a timetable, of a price list or of versions of a program are one page to a crawl that takes equal
#   fingerprints for equal texts, and to one that stores pages by this hash. Confirm by the texts before a page is dropped.
# Version: trafilatura 2.3.1, Python 3.11. Date: 2026-12-03.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check 'trafilatura==2.3.1' 'lxml_html_clean==0.4.6' 2>/dev/null
cd "$folder"
venv/bin/python - <<'PYTHON'
import trafilatura
from trafilatura.deduplication import content_fingerprint, generate_bow_hash

print("trafilatura", trafilatura.__version__)
notice = (
    "The harbour office publishes departure times of every vessel which leaves during the winter season. Passengers "
    "should arrive before boarding begins, because gates close early whenever weather turns rough. Tickets remain valid "
    "until the following morning unless stated otherwise. Children travel free together with adults; bicycles require "
    "separate reservation. "
)
first = notice + "Ship 7 goes on 3 May 2024 at 18:30 and does take cars, for 12.50 a head. See v1.2 of the plan."
second = notice + "Ship 9 goes on 8 Jun 2026 at 07:15 and does not take cars, for 99.90 a head. See v9.9 of the plan."
for name, make in ("content_fingerprint", content_fingerprint), ("generate_bow_hash", generate_bow_hash):
    of_first, of_second = make(first), make(second)
    print(f"{name}: {of_first!r}, {of_second!r}")
    assert of_first == of_second, "the behaviour has changed"
other = notice + "Ship 7 sails on 3 May 2024 at 18:30 and does take cars, for 12.50 a head. See v1.2 of the plan."
print("one long word more:", content_fingerprint(other))
assert generate_bow_hash(other) != generate_bow_hash(first)
PYTHON
