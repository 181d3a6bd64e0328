"""Whole crawls of real documentation, served by nginx."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.crawls.command import crawl, pages, report

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sites.nginx import ServedSite


# Three of eleven languages: what is missing in one of them is the English page there too.
THREE_LANGUAGES = ("-a", "deny=/(da|es|ja|ko|pt-br|ru|tr|zh-cn)/")
# A third of the PostgreSQL manual.
WITHOUT_REFERENCES = ("-a", "deny=/(sql|spi|infoschema|catalog|ecpg|release|contrib|libpq)-")


@pytest.fixture(scope="module")
def apache_crawl(apache_site: ServedSite, tmp_path_factory: pytest.TempPathFactory) -> Path:
    jobdir = tmp_path_factory.mktemp("apache") / "job"
    crawl(apache_site.url, jobdir, *THREE_LANGUAGES)
    return jobdir


@pytest.fixture(scope="module")
def apache_pages(apache_crawl: Path) -> list[dict[str, Any]]:
    return pages(apache_crawl)


def test_one_page_is_kept_for_each_distinct_text(apache_pages: list[dict[str, Any]]) -> None:
    kept = [page for page in apache_pages if page["text"] is not None]
    digests = [page["text_digest"] for page in kept]
    assert len(digests) == len(set(digests))
    assert len(kept) > 300


def test_every_duplicate_names_a_kept_page(apache_pages: list[dict[str, Any]]) -> None:
    kept = {page["url"]: page for page in apache_pages if page["text"] is not None}
    duplicates = [page for page in apache_pages if page["verdict"].endswith("_duplicate")]
    assert len(duplicates) > 200
    for page in duplicates:
        original = kept[page["duplicate_of"]]
        if page["verdict"] != "near_duplicate":
            assert page["text_digest"] == original["text_digest"]
        else:
            assert page["similarity"] >= 0.8


def test_every_fetched_payload_is_held_or_is_a_duplicate(
    apache_pages: list[dict[str, Any]],
) -> None:
    """No distinct page is lost: each body is that of a kept page or repeats one."""
    held = {page["payload_digest"] for page in apache_pages if page["text"] is not None}
    for page in apache_pages:
        if page["status"] == 200 and page["payload_digest"] not in held:
            assert page["verdict"] in {"text_duplicate", "near_duplicate", "not_html", "unreadable"}


def test_a_second_visit_calls_every_page_unchanged(
    apache_site: ServedSite, apache_crawl: Path, apache_pages: list[dict[str, Any]]
) -> None:
    before = report(apache_crawl)
    done = crawl(apache_site.url, apache_crawl, "-a", "revisit=yes", *THREE_LANGUAGES)
    after = report(apache_crawl)
    assert "visiting again" in done.stdout.splitlines()[0]
    assert after["visit"] == 2
    assert after["kept"] == before["kept"]
    # What rules skipped the first time may be asked for now, and is new.
    assert after["fetched"] >= before["fetched"]
    assert after["verdicts"]["unchanged"] == before["fetched"]
    assert after["changes"]["outcomes"]["unchanged"] == before["fetched"]
    assert after["changes"]["not_sent"] > 0.9 * before["fetched"]
    kept = [page["url"] for page in apache_pages if page["text"] is not None]
    assert [page["url"] for page in pages(apache_crawl, "--verdict", "kept")] == kept


def test_a_site_without_near_duplicates_loses_nothing(
    postgresql_site: ServedSite, tmp_path: Path
) -> None:
    # Not from the folder itself, which is index.html once more and would be its duplicate.
    crawl(f"{postgresql_site.url}index.html", tmp_path / "job", *WITHOUT_REFERENCES)
    found = report(tmp_path / "job")
    assert found["fetched"] > 400
    # Drawings that pages show as objects are no pages.
    assert found["kept"] == found["fetched"] - found["verdicts"]["not_html"]
    assert found["duplicates"] == 0
