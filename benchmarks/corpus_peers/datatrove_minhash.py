"""datatrove's MinHash over a folder: ``python datatrove_minhash.py IN OUT WORKERS``.

Run by whichever Python has datatrove; imports nothing of ours. IN has JSON lines, parquet or WARC;
texts of WARC are found by trafilatura once, before, and written as JSON lines. Its words are the
cheapest that there are, ``text.split()``, in the place of a tokenizer's.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.dedup import (
    MinhashDedupCluster,
    MinhashDedupFilter,
    MinhashDedupSignature,
)
from datatrove.pipeline.dedup.minhash import MinhashConfig, MinhashDedupBuckets
from datatrove.pipeline.extractors import Trafilatura
from datatrove.pipeline.readers import JsonlReader, ParquetReader, WarcReader
from datatrove.pipeline.writers import JsonlWriter
from datatrove.utils.word_tokenizers import WordTokenizer

BUCKETS, HASHES, SHINGLE = 14, 8, 5
"""As its documentation has them: 112 hashes; two texts of similarity .8 share a bucket with a
chance of .92, those of .86 of .99."""


class Split(WordTokenizer):  # type: ignore[misc]
    """Words between white space."""

    def word_tokenize(self, text: str) -> list[str]:
        """See the base class."""
        return text.split()

    def sent_tokenize(self, text: str) -> list[str]:
        """See the base class."""
        return [text]

    def span_tokenize(self, text: str) -> list[tuple[int, int]]:
        """See the base class."""
        return [(0, len(text))]


def main() -> None:
    """Signatures, buckets, clusters, filter: the four steps of its documentation."""
    source, target, workers = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    config = MinhashConfig(n_grams=SHINGLE, num_buckets=BUCKETS, hashes_per_bucket=HASHES)
    signatures, buckets, removed = (str(target / name) for name in ("sig", "buckets", "removed"))

    def run(name: str, pipeline: list[Any], count: int) -> None:
        logs = str(target / "logs" / name)
        LocalPipelineExecutor(pipeline, tasks=count, workers=workers, logging_dir=logs).run()

    archives = list(Path(source).glob("*.warc.gz"))
    if archives:
        texts = str(target / "texts")
        page_texts = [
            WarcReader(source, glob_pattern="*.warc.gz"),
            Trafilatura(),
            JsonlWriter(texts, compression=None),
        ]
        run("0", page_texts, len(archives))
        source = texts
    is_parquet = any(Path(source).glob("*.parquet"))
    pattern = "*.parquet" if is_parquet else "*.jsonl"
    tasks = len(list(Path(source).glob(pattern)))
    kind = ParquetReader if is_parquet else JsonlReader
    reader = kind(source, glob_pattern=pattern, id_key="id")
    run("1", [reader, MinhashDedupSignature(signatures, config=config, language=Split())], tasks)
    run("2", [MinhashDedupBuckets(signatures, buckets, config=config)], BUCKETS)
    run("3", [MinhashDedupCluster(buckets, removed, config=config)], 1)
    out = JsonlWriter(str(target / "kept"), compression=None)
    run("4", [reader, MinhashDedupFilter(removed), out], tasks)


if __name__ == "__main__":
    main()
