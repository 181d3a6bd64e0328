#!/usr/bin/env bash
# An index that datasketch 1.6 pickled is loaded by datasketch 2, takes queries, and finds none of its own texts.
#
# Guess: an index of another version is refused, or goes on as it was; MinHash(num_perm=128) of the same words has the same values.
# What happens: version 2 draws its permutations otherwise by default (scheme "affine32", values of 32 bits). The index is loaded
#   without a word, and the signature of a text that it holds has no band in common with the stored one, so that query() gives
#   nothing. With MinHash(scheme="legacy") it finds the text. Neither the index nor the signature says by what scheme it was made.
# Why it matters: a service that is updated keeps its index and takes every text for a new one from then on. Nothing fails.
# Version: datasketch 2.0.0 beside 1.6.5, Python 3.11. Date: 2026-12-02.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
for wanted in datasketch==1.6.5 datasketch==2.0.0; do
  python3 -m venv "${wanted#*==}"
  "${wanted#*==}/bin/pip" install -q --disable-pip-version-check "$wanted" 2>/dev/null
done
cat > words.py <<'PYTHON'
from datasketch import MinHash


def signature(text, **options):
    made = MinHash(num_perm=128, **options)
    for number in range(50):
        made.update(f"{text}{number}".encode())
    return made
PYTHON
1.6.5/bin/python - <<'PYTHON'
import pickle
from pathlib import Path

from datasketch import MinHashLSH
from words import signature

index = MinHashLSH(threshold=0.5, num_perm=128)
for text in "abc":
    index.insert(text, signature(text))
assert index.query(signature("b")) == ["b"]
Path("index").write_bytes(pickle.dumps(index))
PYTHON
2.0.0/bin/python - <<'PYTHON'
import pickle
from importlib.metadata import version
from pathlib import Path

from words import signature

index = pickle.loads(Path("index").read_bytes())
usual, legacy = index.query(signature("b")), index.query(signature("b", scheme="legacy"))
print("datasketch", version("datasketch"), "finds", usual, "and by the old scheme", legacy)
assert usual == [] and legacy == ["b"], "the behaviour has changed"
PYTHON
