"""``crawl-once demo`` and the commands after it, as the README shows them."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from crawler.demo import DUPLICATES, EXPECTED
from crawler.pages.items import PAGE_FIELDS
from tests.crawls.command import crawl, pages, report, scrapy
from tests.sites.many import ManyPages
from tests.sites.many import pages as pages_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    jobdir = tmp_path_factory.mktemp("demo") / "job"
    done = scrapy("demo", "-s", f"JOBDIR={jobdir}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"planted duplicates found: {len(DUPLICATES)} of {len(DUPLICATES)}" in done.stdout
    last = done.stdout.splitlines()[-1]
    assert last.startswith("near pairs, with what differs: crawl-once pairs ")
    return jobdir


def test_report_counts_what_was_planted(demo: Path) -> None:
    verdicts = report(demo)["verdicts"]
    for kind in ("text_duplicate", "near_duplicate", "not_html", "noindex"):
        assert verdicts[kind] == EXPECTED[kind], kind
    # Fixed rules are tried: some variants of URLs are requested, and repeat their pages.
    copies = pages(demo, "--verdict", "exact_duplicate")
    assert sum("?" not in page["url"] for page in copies) == EXPECTED["exact_duplicate"]


def test_no_page_is_kept_twice_and_none_is_missing(demo: Path) -> None:
    kept = pages(demo, "--verdict", "kept")
    assert len({page["text_digest"] for page in kept}) == len(kept) == report(demo)["kept"]


def test_what_is_closed_is_not_fetched(demo: Path) -> None:
    fetched = [page["url"] for page in pages(demo) if page["status"] == 200]
    assert not any("/private/" in url or url.endswith("/staff/rota") for url in fetched)


def test_page_of_the_sitemap_alone_is_found(demo: Path) -> None:
    assert any(page["url"].endswith("/appendix") for page in pages(demo, "--verdict", "kept"))


def test_every_format_holds_every_field(demo: Path, tmp_path: Path) -> None:
    rows = pages(demo)
    for kind in ("json", "csv", "xml", "parquet"):
        done = scrapy("pages", str(demo), "-o", str(tmp_path / f"pages.{kind}"))
        assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "pages.json").read_text()) == rows
    with (tmp_path / "pages.csv").open(newline="") as file:
        table = list(csv.DictReader(file))
    assert [row["url"] for row in table] == [row["url"] for row in rows]
    assert list(table[0]) == list(PAGE_FIELDS)
    tree = ElementTree.parse(tmp_path / "pages.xml")
    assert [item.findtext("url") for item in tree.getroot()] == [row["url"] for row in rows]
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(tmp_path / "pages.parquet")
    assert table.to_pylist(maps_as_pydicts="strict") == rows


def test_running_it_twice_gives_the_same(demo: Path) -> None:
    first = report(demo)["verdicts"]
    done = scrapy("demo", "-s", f"JOBDIR={demo}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert report(demo)["verdicts"] == first


def test_another_crawl_of_this_machine_is_not_replaced(tmp_path: Path) -> None:
    with ManyPages(pages_of(5)) as site:
        crawl(site.url, tmp_path)
    done = scrapy("demo", "-s", f"JOBDIR={tmp_path}")
    assert done.returncode == 2
    assert "holds another crawl than the demo; name another directory" in done.stderr
    assert report(tmp_path)["fetched"] == 5
