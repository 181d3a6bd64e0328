"""Sites that answer by the Referer: pictures for their own pages alone, pages behind others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.crawls.command import crawl, report, scrapy
from tests.crawls.mirrored import Mirrored, host, mirror
from tests.sites.changing import ChangingSite, page
from tests.sites.needing import PIXEL
from tests.sites.prose import prose

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.sites.exchange import Exchange

HTML = "text/html; charset=utf-8"
STYLE = b"p { background: url(/a/style.png) }"
DUE = ("-s", "CRAWL_REVISIT_INTERVAL_SECS=0", "-s", "CRAWL_REVISIT_MIN_INTERVAL_SECS=0")


def redirect(exchange: Exchange) -> None:
    exchange.redirect("/")


def forbid(exchange: Exchange) -> None:
    exchange.answer(b"<p>Not from there.", status=403)


def lie(exchange: Exchange) -> None:
    exchange.answer(page(prose("placeholder", 60)))


def fail(exchange: Exchange) -> None:
    exchange.answer(b"<p>Not now.", status=500)


GUARDED = {"/moves": redirect, "/forbids": forbid, "/lies": lie, "/lands": lie, "/deep": redirect}


class GuardedSite(ChangingSite):
    """Answers some paths as they are only where a page of its own led there."""

    def guard(
        self, path: str, body: bytes, other: Callable[[Exchange], None], kind: str = HTML
    ) -> None:
        def answer(exchange: Exchange) -> None:
            if exchange.headers.get("Referer", "").startswith(self.origin):
                exchange.answer(body, kind)
            else:
                other(exchange)

        self.added[path] = answer

    def take_referers(self) -> dict[str, str | None]:
        """Return what was sent with the last request of each path, and forget the requests."""
        found = {asked.path: asked.headers.get("referer") for asked in self.asked}
        self._asked.clear()
        return {path: sent and sent.removeprefix(self.origin) for path, sent in found.items()}


@pytest.fixture
def site() -> Iterator[GuardedSite]:
    with GuardedSite(linked=("/hub", "/moves", "/forbids", "/lies", "/leads")) as site:
        for path, other in GUARDED.items():
            site.guard(path, page(prose(path, 120)), other)
        site.put("/hub", "hub", ("/deep", "/late"))
        site.added["/leads"] = lambda exchange: exchange.redirect("/lands")
        site.added["/late"] = fail
        yield site


@pytest.mark.parametrize("revisit", ["yes", "due"])
def test_a_visit_asks_for_each_page_as_the_first_one_did(
    site: GuardedSite, tmp_path: Path, revisit: str
) -> None:
    crawl(site.url, tmp_path, *DUE)
    first = site.take_referers()
    assert (first["/deep"], first["/lands"]) == ("/hub", "/")
    crawl(site.url, tmp_path, "-a", f"revisit={revisit}", *DUE)
    again = site.take_referers()
    assert {path: again[path] for path in GUARDED} == {path: first[path] for path in GUARDED}
    away = report(tmp_path)["changes"]["away"]
    assert [away[kind] for kind in ("moved", "forbidden", "gone")] == [[], [], []]
    assert report(tmp_path)["changes"]["changed"] == []


def test_a_page_that_failed_is_asked_for_with_the_page_that_led_there(
    site: GuardedSite, tmp_path: Path
) -> None:
    crawl(site.url, tmp_path, "-s", "RETRY_ENABLED=False")
    site.take_referers()
    site.guard("/late", page(prose("late", 120)), forbid)
    crawl(site.url, tmp_path, "-a", "revisit=failed")
    assert site.take_referers()["/late"] == "/hub"


def test_a_policy_of_today_holds_for_what_was_sent_before(
    site: GuardedSite, tmp_path: Path
) -> None:
    crawl(site.url, tmp_path)
    site.take_referers()
    policy = ("-s", "REFERRER_POLICY=origin")
    crawl(site.url, tmp_path, "-a", "revisit=yes", *policy)
    assert site.take_referers()["/deep"] == "/"
    crawl(site.url, tmp_path, "-a", "revisit=yes", "-s", "REFERER_ENABLED=False")
    assert site.take_referers()["/deep"] is None


def test_an_update_keeps_pictures_that_are_sent_to_pages_of_the_site_alone(
    site: GuardedSite, tmp_path: Path
) -> None:
    paths = ("/a/1.png", "/a/style.png", "/b/1.png", "/c/1.png")
    pictures = {path: PIXEL + path.encode() for path in paths}
    others = {
        "a": lambda one: one.answer(PIXEL + b"other", "image/png"),
        "b": redirect,
        "c": forbid,
    }
    for path, picture in pictures.items():
        site.guard(path, picture, others[path[1]], "image/png")
    site.added["/style.css"] = lambda exchange: exchange.answer(STYLE, "text/css")
    images = "".join(f'<img src="{path}">' for path in paths if "style" not in path)
    shown = f'<link rel="stylesheet" href="/style.css"></head><body>{images}'.encode()
    body = page(prose("home", 120)).replace(b"</head><body>", shown)
    site.added["/"] = lambda exchange: exchange.answer(body)
    folder = tmp_path / "m"
    mirror(site.url, folder)
    first = site.take_referers()
    assert first["/a/style.png"] == "/style.css"
    again = Mirrored(folder, scrapy("mirror", str(folder)))
    assert again.done.returncode == 0, again.done.stdout
    sent = site.take_referers()
    assert {path: sent[path] for path in pictures} == {path: first[path] for path in pictures}
    assert {path: again.read(host(site) + path) for path in pictures} == pictures
