"""A shop is crawled: every product is kept once, although all have nearly the same words."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from crawler.pages.export import KEPT_FILTER
from crawler.pages.live_parameters import tune
from tests.crawler.maintenance.rejudge.captured import judge_again
from tests.crawler.maintenance.verify.crawled import check
from tests.crawls.command import report, scrapy
from tests.crawls.crawled import exported
from tests.crawls.kills import KilledCrawl
from tests.sites.many import ManyPages
from tests.sites.shop import product_of, shop

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow

PRODUCTS = 25


def told(jobdir: Path) -> dict[str, tuple[object, ...]]:
    """What is said of each page, and of which other one."""
    names = ("verdict", "duplicate_of", "resembles", "distance", "similarity")
    return {url: tuple(row[name] for name in names) for url, row in exported(jobdir).items()}


def test_every_product_is_kept_once(tmp_path: Path) -> None:
    jobdir = tmp_path / "job"
    with ManyPages(shop(PRODUCTS)) as site:
        crawl = KilledCrawl(site, jobdir, seed=17)
        for asked in (10, 20):
            crawl.run_until(asked)
        crawl.finish()
    kept = exported(jobdir, which=KEPT_FILTER)
    products = Counter(map(product_of, kept))
    assert products == {"": 1, **{str(number): 1 for number in range(PRODUCTS)}}
    resembling = exported(jobdir, which="same_template")
    assert len(resembling) == PRODUCTS - 1
    for url, row in resembling.items():
        assert row["resembles"] in kept
        assert product_of(row["resembles"]) not in {product_of(url), ""}
        assert row["similarity"] >= 0.8
        assert row["duplicate_of"] is None
    for url, row in exported(jobdir).items():
        if row["duplicate_of"] is not None:
            assert product_of(row["duplicate_of"]) == product_of(url)
    assert check(jobdir).problems == ()
    _judged_without_names_and_again(jobdir)


def _judged_without_names_and_again(jobdir: Path) -> None:
    first = told(jobdir)
    tune(jobdir, {"compare_names": False, "ignore_boilerplate": False}, "tune")
    assert judge_again(jobdir).now_dropped == PRODUCTS - 1
    assert not exported(jobdir, which="same_template")
    assert check(jobdir).problems == ()
    tune(jobdir, {"compare_names": True, "ignore_boilerplate": True}, "tune")
    assert judge_again(jobdir).now_kept == PRODUCTS - 1
    assert told(jobdir) == first
    assert check(jobdir).problems == ()
    assert report(jobdir)["verdicts"]["same_template"] == PRODUCTS - 1
    (example, *_) = report(jobdir)["resembling"]
    assert first[example["url"]][2] == example["resembles"]
    assert example["resembles"] in scrapy("report", str(jobdir)).stdout
