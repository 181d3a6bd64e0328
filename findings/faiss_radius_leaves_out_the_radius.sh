#!/usr/bin/env bash
# A range search of faiss's binary indexes within radius 3 finds distances 0 to 2.
#
# Guess: what is at the radius is found, as "at most k bits differ" says in the literature on near-duplicates of pages.
# What happens: the four indexes below take distances strictly below the radius; radius 0 finds not even
#   the same fingerprint. Distances that are whole numbers come back as float32.
# Why it matters: who asks with the bound of a crawl keeps all near-duplicates at the bound itself, and a benchmark beside
#   another index compares unlike work. Ask with the bound plus one.
# Version: faiss-cpu 1.15.1, numpy 2.4.6, Python 3.11. Date: 2026-12-02.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check 'faiss-cpu==1.15.1' 'numpy==2.4.6' 2>/dev/null
"$folder/venv/bin/python" - 2>/dev/null <<'PYTHON'
from importlib.metadata import version

import faiss
import numpy as np

print("faiss-cpu", version("faiss-cpu"))
stored = np.zeros((5, 8), np.uint8)
stored[:, 0] = [0b0, 0b1, 0b11, 0b111, 0b1111]  # distances 0 to 4 from the fingerprint asked for
asked = np.zeros((1, 8), np.uint8)
hashed = faiss.IndexBinaryHash(64, 16)
hashed.nflip = 3
listed = faiss.IndexBinaryIVF(faiss.IndexBinaryFlat(64), 64, 1)
listed.train(stored)
indexes = {
    "IndexBinaryFlat": faiss.IndexBinaryFlat(64),
    "IndexBinaryHash": hashed,
    "IndexBinaryMultiHash": faiss.IndexBinaryMultiHash(64, 4, 16),
    "IndexBinaryIVF": listed,
}
found = {}
for name, index in indexes.items():
    index.add(stored)
    for radius in (0, 3, 4):
        _, distances, _ = index.range_search(asked, radius)
        found[name, radius] = sorted(distances.tolist())
        print(f"{name}, radius {radius}: distances {found[name, radius]} {distances.dtype}")
expected = {0: [], 3: [0, 1, 2], 4: [0, 1, 2, 3]}
assert all(found[name, radius] == expected[radius] for name, radius in found), "the behaviour has changed"
PYTHON
