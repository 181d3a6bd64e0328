#!/usr/bin/env bash
# RMinHashLSH(threshold=0.99).query() of rensa gives texts of a third in common, and threshold=0.01 finds no more of them.
#
# Guess: as in datasketch, the threshold decides: with .99 only near copies are found, with .01 nearly everything, either by
#   the number of bands that is chosen for it or by a comparison of the signatures.
# What happens: query() gives every key that shares a band. The bands are num_bands, whatever the threshold: 64 of two values
#   find texts of a third in common at .99 as at .01. The threshold counts in is_similar() and in query_duplicate_flags alone.
# Why it matters: who moves a pipeline from datasketch and keeps threshold=0.8 drops every text that query() names, and so
#   texts of which two thirds are their own.
# Version: rensa 0.5.0, Python 3.11. Date: 2026-12-02.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check 'rensa==0.5.0' 2>/dev/null
"$folder/venv/bin/python" - <<'PYTHON'
from importlib.metadata import version

from rensa import RMinHash, RMinHashLSH

print("rensa", version("rensa"))


def signature(words):
    made = RMinHash(num_perm=128, seed=42)
    made.update(words)
    return made


kept = signature([f"word{number}" for number in range(100)])
other = signature([f"word{number}" for number in range(50)] + [f"own{number}" for number in range(50)])
print(f"in common: {kept.jaccard(other):.2f}")
for threshold in (0.01, 0.5, 0.99):
    index = RMinHashLSH(threshold=threshold, num_perm=128, num_bands=64)
    index.insert(7, kept)
    print(f"threshold {threshold}: {index.query(other)}, is_similar {index.is_similar(kept, other)}")
    assert index.query(other) == [7], "the behaviour has changed"
    assert index.is_similar(kept, other) == (threshold == 0.01), "the behaviour has changed"
PYTHON
