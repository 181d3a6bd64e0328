"""text-dedup's MinHash over a folder: ``python text_dedup_minhash.py IN OUT WORKERS``.

Run by whichever Python has text-dedup; imports nothing of ours. IN has JSON lines or parquet. Its
bands are those of ``datatrove_minhash.py``, and it gets the faster of its hash functions.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from datasets import load_from_disk

BANDS, ROWS, SHINGLE = 14, 8, 5


def main() -> None:
    """Run its command, and write the ids of what it keeps."""
    source, target, workers = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    is_parquet = any(source.glob("*.parquet"))
    found = str(target / "found")
    options = {
        "path": "parquet" if is_parquet else "json",
        "data_files": str(source / ("*.parquet" if is_parquet else "*.jsonl")),
        "split": "train",
        "cache_dir": str(target / "cache"),
        "output": found,
        "column": "text",
        "ngram": str(SHINGLE),
        "num_perm": str(BANDS * ROWS),
        "b": str(BANDS),
        "r": str(ROWS),
        "hash_func": "xxh3",
        "hash_bits": "32",
        "num_proc": workers,
    }
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    # What is read lies on the disk, and nothing is asked of a network.
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(target / "home")}
    command = [sys.executable, "-m", "text_dedup.minhash", *words]
    subprocess.run(command, env=environment, check=True)
    kept = target / "kept"
    kept.mkdir(parents=True)
    with (kept / "0.jsonl").open("w", encoding="utf-8") as file:
        for name in load_from_disk(found)["id"]:
            file.write(json.dumps({"id": name}) + "\n")


if __name__ == "__main__":
    main()
