"""A crawl's archive judged by Spark, and a crawl that begins with what that kept."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pytest

from neardup.batch.spark_session import check_installed
from neardup.corpus.corpus_tables import read_about
from neardup.errors import InputError
from tests.crawler.maintenance.verify.crawled import check
from tests.crawls.command import PROJECT, crawl, pages, scrapy
from tests.neardup.batch.corpus import QUICK_JAVA
from tests.sites.many import ManyPages
from tests.sites.many import pages as many_pages
from tests.sites.prose import prose

PAGES = 60
IN_TURN = ("-s", "CONCURRENT_REQUESTS=1", "-s", "READING_WORKERS=1")
TIMEOUT_SECS = 300


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    jobdir = tmp_path_factory.mktemp("crawled") / "job"
    with ManyPages(many_pages(PAGES)) as site:
        crawl(site.url, jobdir, "-s", "WARC_ENABLED=True", *IN_TURN)
    return jobdir


@pytest.fixture(scope="module")
def output(crawled: Path) -> Path:
    """The archive run through by ``spark-submit``, which knows nothing of where the project is."""
    try:
        check_installed()
    except InputError as lack:
        pytest.skip(f"no Spark here: {lack}")
    target = crawled.parent / "out"
    submit = Path(sys.executable).with_name("spark-submit")
    if not submit.exists():
        import pyspark

        submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    done = subprocess.run(
        [submit, "--master", "local[2]", "--driver-memory", "1g", PROJECT / "neardup" / "spark.py",
         crawled / "warc", target],
        cwd=crawled.parent,
        env={**os.environ, "PYSPARK_PYTHON": sys.executable, **QUICK_JAVA},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECS,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return target


def rows(output: Path, table: str) -> list[dict[str, Any]]:
    files = [str(file) for file in (output / read_about(output).tables / table).glob("*.parquet")]
    return list(ds.dataset(files).to_table().to_pylist())


def test_spark_says_of_an_archive_what_the_crawl_said(crawled: Path, output: Path) -> None:
    online = {row["url"]: row for row in pages(crawled)}
    batch = {row["name"]: row for row in rows(output, "documents")}
    assert batch.keys() == online.keys()
    names = {row["id"]: url for url, row in batch.items()}
    for url, row in batch.items():
        wanted = online[url]
        assert row["verdict"] == wanted["verdict"]
        assert names.get(row["duplicate_of"]) == wanted["duplicate_of"]
    kept = {row["name"]: row["text"] for row in rows(output, "kept")}
    assert kept == {url: row["text"] for url, row in online.items() if row["text"]}
    assert 0 < len(kept) < PAGES


def test_a_crawl_goes_on_from_what_a_corpus_kept(
    crawled: Path, output: Path, tmp_path: Path
) -> None:
    done = scrapy("adopt", str(output), str(tmp_path / "job"))
    assert done.returncode == 0, done.stderr
    site = many_pages(PAGES)
    site["/1.html"] = site["/1.html"].replace(b"<p>", b"<p>" + prose("new", 300).encode())
    with ManyPages(site) as elsewhere:  # at another port, so under other addresses
        crawl(elsewhere.url, tmp_path / "job", *IN_TURN)
        new = {row["url"]: row for row in pages(tmp_path / "job") if elsewhere.url in row["url"]}
    originals = {row["url"] for row in pages(crawled) if row["text"]}
    assert len(new) == PAGES
    for url, row in new.items():
        if url.endswith("/1.html"):
            assert row["verdict"] == "new"
        else:
            assert row["duplicate_of"] in originals
    assert not check(tmp_path / "job").problems
