"""Near-duplicates of a corpus on Spark: ``python -m neardup.spark INPUT OUTPUT``, spark-submit too.

    python -m neardup.spark crawl.warc.gz OUT            # on all cores of this machine
    spark-submit --master yarn neardup/spark.py s3://commoncrawl/... hdfs:///OUT

Written are, as parquet: ``documents`` (what each text is made of, and its verdict), ``signatures``,
``pairs``, ``clusters``, ``kept``, ``near_texts``, ``left_out`` and ``about`` (``docs/formats.md``).
"""

import sys
from pathlib import Path

if __name__ == "__main__" and not __package__:
    # spark-submit puts this file's own folder first, whose modules are no top-level ones.
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from neardup.batch.spark_command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
