"""A text that stands at several URLs is kept once, and the one that names its language is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.crawls.crawled import crawl_site
from tests.sites.hostile import HostileSite
from tests.sites.prose import prose

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sites.hostile import Trick

LANGUAGES = ("da", "de", "en", "en-us")


def page(title: str, language: str) -> Trick:
    text = (
        f'<html lang="{language}"><title>{title}</title>'
        f"<body><main><h1>{title}</h1><p>{prose(title, 200)}</p></main>"
    )
    return lambda exchange: exchange.answer(text.encode())


def test_of_an_untranslated_page(tmp_path: Path) -> None:
    """Of a manual: what is not translated stands in the folders of all languages, in English."""
    added = {"/da/index": page("Forside", "da"), "/da/only-here": page("only here", "en")}
    for name in ("bind", "core"):
        added |= {f"/{folder}/{name}": page(name, "en") for folder in LANGUAGES}
    with HostileSite(linked=tuple(added)) as site:
        site.added = added
        # One after the other, so that the Danish folder comes first: no page waits for a browser,
        # and none is read while another one is.
        alone = ("-s", "CONCURRENT_REQUESTS=1", "-s", "READING_WORKERS=1", "-a", "render=no")
        crawled = crawl_site(site, tmp_path, *alone)
    assert {path: crawled.rows[path]["better_url"] for path in added} == {
        **dict.fromkeys(added, None),
        "/da/bind": site.at("/en/bind"),
        "/da/core": site.at("/en/core"),
    }
    assert {"/da/bind", "/da/core", "/da/only-here"} < crawled.kept
    assert crawled.report.better_copies == 2
