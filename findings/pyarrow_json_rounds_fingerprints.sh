#!/usr/bin/env bash
# pyarrow's JSON reader rounds a whole column where one number of it has the highest of 64 bits.
#
# Guess: JSON lines with unsigned 64-bit fingerprints come back exactly, as pandas reads them, or are refused.
# What happens: the inferred types are int64 and double, with nothing between. One value from 2**63 on makes the column double,
#   without a warning, and all its numbers above 2**53 are rounded: two fingerprints that differ by one bit become equal.
#   datasets.load_dataset("json"), which is built on it, does the same. With an explicit schema pyarrow reads them exactly.
# Why it matters: half of all SimHash and xxHash values have that bit. Whoever hands digests on as JSON numbers and compares
#   them after such a reader finds equal what is not, and drops distinct documents. Name the type, or write them as text.
# Version: pyarrow 26.0.1, datasets 5.2.0, pandas 3.1.1, Python 3.11. Date: 2026-12-02.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check \
  'pyarrow==26.0.1' 'datasets==5.2.0' 'pandas==3.1.1' 2>/dev/null
cd "$folder"
HF_HUB_OFFLINE=1 HF_HOME="$folder/home" venv/bin/python - 2>/dev/null <<'PYTHON'
import json
from importlib.metadata import version

import datasets
import pandas
import pyarrow as pa
import pyarrow.json

print(*(f"{name} {version(name)}" for name in ("pyarrow", "datasets", "pandas")))
fingerprints = [2**63 + 2, 2**63 + 3, 2**53 + 1]
with open("pages.jsonl", "w") as file:
    for value in fingerprints:
        file.write(json.dumps({"fingerprint": value}) + "\n")
schema = pa.schema([("fingerprint", pa.uint64())])
options = pa.json.ParseOptions(explicit_schema=schema)
data = datasets.load_dataset("json", data_files="pages.jsonl", split="train")
columns = {
    "pyarrow.json": pa.json.read_json("pages.jsonl")["fingerprint"].to_pylist(),
    "pyarrow.json with a schema": pa.json.read_json("pages.jsonl", parse_options=options)["fingerprint"].to_pylist(),
    "datasets": list(data["fingerprint"]),
    "pandas": pandas.read_json("pages.jsonl", lines=True)["fingerprint"].tolist(),
}
for name, values in columns.items():
    print(f"{name}: {values}, {len(set(values))} different")
rounded = [2.0**63, 2.0**63, 2.0**53]
expected = [rounded, fingerprints, rounded, fingerprints]
assert list(columns.values()) == expected, "the behaviour has changed"
PYTHON
