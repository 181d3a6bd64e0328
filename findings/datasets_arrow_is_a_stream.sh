#!/usr/bin/env bash
# The .arrow files of datasets' save_to_disk are no Arrow files.
#
# Guess: a file that ends with .arrow is what the Arrow format calls a file (it begins with ARROW1), so that
#   pyarrow.ipc.open_file, pyarrow.feather.read_table and pyarrow.dataset(format="arrow") read it.
# What happens: save_to_disk writes the streaming format, for which the Arrow project names the ending .arrows. Each of the
#   three refuses it as "not an Arrow file"; pyarrow.ipc.open_stream alone reads it.
# Why it matters: corpora are handed on as such folders; a reader that goes by the ending takes all of them for damaged. Ask
#   the first bytes: ARROW1 is a file, anything else a stream.
# Version: datasets 5.2.0, pyarrow 26.0.1, Python 3.11. Date: 2026-11-29.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check 'datasets==5.2.0' 'pyarrow==26.0.1' 2>/dev/null
cd "$folder"
HF_HUB_OFFLINE=1 HF_HOME="$folder/home" venv/bin/python - 2>/dev/null <<'PYTHON'
import glob
from importlib.metadata import version

import datasets
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.feather as feather

print("datasets", version("datasets"), "pyarrow", version("pyarrow"))
datasets.Dataset.from_dict({"text": ["one", "two"]}).save_to_disk("saved")
(file,) = glob.glob("saved/*.arrow")
with open(file, "rb") as saved:
    print(file, "begins with", saved.read(8))
readers = {
    "pyarrow.ipc.open_file": lambda: pa.ipc.open_file(file).read_all(),
    "pyarrow.feather.read_table": lambda: feather.read_table(file),
    "pyarrow.dataset, format arrow": lambda: ds.dataset(file, format="arrow").to_table(),
    "pyarrow.ipc.open_stream": lambda: pa.ipc.open_stream(file).read_all(),
}
rows = {}
for name, read in readers.items():
    try:
        rows[name] = read().num_rows
        print(f"{name}: {rows[name]} rows")
    except pa.ArrowInvalid as error:
        rows[name] = None
        print(f"{name}: {type(error).__name__}: {str(error).splitlines()[0][:60]}")
assert list(rows.values()) == [None, None, None, 2], "the behaviour has changed"
PYTHON
