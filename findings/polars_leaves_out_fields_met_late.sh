#!/usr/bin/env bash
# Polars leaves out each field of JSON lines that the first 100 lines do not have, without a word.
#
# Guess: a field that comes later is a column with nulls before it, as in DuckDB, or an error, as polars raises where
#   a later value is of another type than the first 100 lines say.
# What happens: read_ndjson and scan_ndjson fix the columns after infer_schema_length (100) lines. A number that becomes
#   a text is refused loudly; a field that begins at line 101 is not there, and all rows are.
# Why it matters: crawls write some fields of some pages alone (an original of a duplicate, an error, a redirect, often the
#   text itself behind a list of empty pages). A table of verdicts then says that there are no duplicates. Give
#   infer_schema_length=None or a schema.
# Version: polars 2.1.0, duckdb 2.0.1, Python 3.11. Date: 2026-12-02.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check 'polars==2.1.0' 'duckdb==2.0.1' 2>/dev/null
cd "$folder"
venv/bin/python - <<'PYTHON'
import json

import duckdb
import polars

print("polars", polars.__version__, "duckdb", duckdb.__version__)
pages = [{"url": f"/{number}"} for number in range(100)]
pages.append({"url": "/copy", "duplicate_of": "/1"})
with open("pages.jsonl", "w") as file:
    file.writelines(json.dumps(page) + "\n" for page in pages)
tables = {
    "polars.read_ndjson": polars.read_ndjson("pages.jsonl"),
    "polars.scan_ndjson": polars.scan_ndjson("pages.jsonl").collect(),
    "polars.read_ndjson, all lines": polars.read_ndjson("pages.jsonl", infer_schema_length=None),
}
columns = {}
for name, table in tables.items():
    columns[name] = table.columns
    print(f"{name}: {len(table)} rows of {columns[name]}")
with open("numbers.jsonl", "w") as file:
    file.write('{"words": 7}\n' * 100 + '{"words": "many"}\n')
try:
    polars.read_ndjson("numbers.jsonl")
    is_refused = False
except polars.exceptions.ComputeError as error:
    is_refused = True
    print(f"a number that becomes a text: {str(error).splitlines()[0]}")
columns["duckdb"] = duckdb.sql("SELECT * FROM 'pages.jsonl'").columns
print(f"duckdb: {columns['duckdb']}")
whole = ["url", "duplicate_of"]
assert is_refused, "the behaviour has changed"
assert list(columns.values()) == [["url"], ["url"], whole, whole], "the behaviour has changed"
PYTHON
