"""Whole crawls of dynamic sites with learned URL rules: nothing lost, and much not fetched."""

from __future__ import annotations

import json
import os
import signal
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import parse_qs, urlsplit

import pytest

from crawler.url_rules.learning.context import Context
from crawler.url_rules.learning.transforms import DropArguments
from crawler.url_rules.rule_files import read_rules, rules_text
from tests.crawler.maintenance.verify.crawled import check
from tests.crawls import crawled
from tests.crawls.command import crawl, report, scrapy, start_scrapy
from tests.sites.changing import page
from tests.sites.dynamic import CLUTTERED, DynamicSite, Options
from tests.sites.hostile import HostileSite, Trick
from tests.sites.prose import prose
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.sites.exchange import Exchange

SMALL = Options(boards=2, articles=20, authors=3, size=60)
CLUTTER = replace(CLUTTERED, boards=2, articles=20, authors=3)


def learned(jobdir: Path) -> dict[str, Any]:
    done = scrapy("rules", str(jobdir), "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def held(jobdir: Path) -> list[dict[str, Any]]:
    return [rule for rule in learned(jobdir)["rules"] if rule["state"] == "holds"]


def crawl_site(site: DynamicSite, jobdir: Path, *arguments: str) -> int:
    """Crawl, with an end in any case; how many pages were fetched."""
    limit = str(8 * len(site.truth) + 200)
    before = len(site.fetches)
    crawl(site.url, jobdir, "-a", f"max_pages={limit}", *arguments)
    return len(site.fetches) - before


class TestClutter:
    @pytest.mark.parametrize(
        ("options", "most"),
        [
            (CLUTTER, 6.0),
            (replace(SMALL, session="path"), 3.0),
            (replace(SMALL, refs=True), 3),
            (replace(SMALL, refs=True, session="path", session_name="s"), 4.0),
        ],
        ids=[
            "sessions, orders, prints",
            "sessions in the path",
            "where it came from",
            "sessions in the path, and where it came from",
        ],
    )
    def test_nothing_is_lost_and_the_crawl_ends(
        self, options: Options, most: float, tmp_path: Path
    ) -> None:
        with DynamicSite(options) as site:
            fetched = crawl_site(site, tmp_path)
            assert not site.lost()
            assert fetched <= most * len(site.truth)
        assert held(tmp_path)
        assert check(tmp_path).findings == ()
        found = report(tmp_path)
        assert found["url_rules"] == len(held(tmp_path))
        assert found["skipped"] > 0
        assert found["queued"] == 0

    def test_without_learning_all_of_it_is_fetched(self, tmp_path: Path) -> None:
        with DynamicSite(replace(SMALL, refs=True)) as site:
            plain = ("-s", "CRAWL_LEARN_URL_RULES=False", "-a", "max_pages=250")
            off = crawl_site(site, tmp_path / "off", *plain)
            on = crawl_site(site, tmp_path / "on")
        assert on < off / 1.5
        assert learned(tmp_path / "off")["rules"] == []

    def test_the_end_of_a_crawl_and_the_report_say_so(self, tmp_path: Path) -> None:
        with DynamicSite(replace(SMALL, refs=True)) as site:
            done = crawl(site.url, tmp_path)
        (line,) = (line for line in done.stdout.splitlines() if line.startswith("URLs: "))
        assert "requests not made, by 1 learned rule" in line
        assert line.endswith(f"crawl-once rules {tmp_path}")
        assert line in scrapy("report", str(tmp_path)).stdout

    def test_without_duplicates_nothing_is_different(self, tmp_path: Path) -> None:
        with DynamicSite(SMALL) as site:
            assert crawl_site(site, tmp_path) == len(site.truth)
            assert not site.lost()
        assert learned(tmp_path)["rules"] == []
        assert "URLs: " not in scrapy("report", str(tmp_path)).stdout

    def test_a_second_visit_asks_for_every_page_and_keeps_the_rules(self, tmp_path: Path) -> None:
        with DynamicSite(replace(SMALL, refs=True)) as site:
            first = crawl_site(site, tmp_path)
            rules = {rule["id"] for rule in held(tmp_path)}
            site.forget()
            second = crawl_site(site, tmp_path, "-a", "revisit=yes")
            assert not site.lost()
        assert second <= 1.3 * first
        assert {rule["id"] for rule in held(tmp_path)} >= rules
        assert check(tmp_path).findings == ()


class TestCanonicals:
    """Pages that declare their URLs without what does not matter, or another page's."""

    @pytest.mark.parametrize("canonical", ["right", "home", "loop"])
    def test_they_lose_nothing(
        self, canonical: Literal["right", "home", "loop"], tmp_path: Path
    ) -> None:
        with DynamicSite(replace(SMALL, refs=True, canonical=canonical)) as site:
            crawl_site(site, tmp_path)
            assert not site.lost()
        assert check(tmp_path).findings == ()


ADVERSARIES = {
    "one error page, and a login before most pages": replace(
        SMALL, parts=("shop", "tickets", "members", "missing"), soft_errors=True
    ),
    "pages at random, and new at each fetch": replace(SMALL, parts=("shop", "lucky", "fresh")),
    "arguments that matter beside others": replace(SMALL, parts=("views", "terms")),
    "the home page as rel=canonical everywhere": replace(SMALL, canonical="home", refs=True),
}


class TestAdversaries:
    @pytest.mark.parametrize("options", ADVERSARIES.values(), ids=ADVERSARIES)
    def test_nothing_is_lost_and_no_wrong_rule_survives(
        self, options: Options, tmp_path: Path
    ) -> None:
        with DynamicSite(options) as site:
            crawl_site(site, tmp_path)
            assert not site.lost()
        assert {rule["what"] for rule in held(tmp_path)} <= {"any ref= is irrelevant"}
        assert check(tmp_path).findings == ()


class TestTwins:
    """Pages that differ in one form, of so few that the examination tries each of them."""

    @pytest.mark.parametrize("part", ["copies", "prints", "hosts", "pairs"])
    def test_of_few_pages_none_is_lost(self, part: str, tmp_path: Path) -> None:
        with DynamicSite(Options(parts=(part,), size=100)) as site:
            crawl(",".join(f"{origin}/" for origin in site.origins), tmp_path)
            assert not site.lost()
        assert report(tmp_path)["unexamined_rules"] == 0
        assert check(tmp_path).findings == ()

    def test_what_a_limit_left_unexamined_is_named(self, tmp_path: Path) -> None:
        with DynamicSite(Options(parts=("prints",), size=100)) as site:
            crawl(site.url, tmp_path, "-a", "max_pages=90", "-s", "CONCURRENT_REQUESTS=1")
        if held(tmp_path):
            assert report(tmp_path)["unexamined_rules"] == len(held(tmp_path))
            assert "NOT validated to the end" in scrapy("rules", str(tmp_path)).stdout


class TestKills:
    @pytest.mark.parametrize("moments", [(10, 35), (80, 15)])
    def test_nothing_is_lost(self, moments: tuple[int, ...], tmp_path: Path) -> None:
        with DynamicSite(CLUTTER) as site:
            for moment in moments:
                killed_after(site, tmp_path, moment)
            fetched = crawl_site(site, tmp_path)
            assert not site.lost()
            assert fetched + sum(moments) < 8 * len(site.truth)
        assert held(tmp_path)
        assert check(tmp_path).findings == ()


def killed_after(site: DynamicSite, jobdir: Path, pages: int) -> None:
    target = len(site.fetches) + pages
    process = start_scrapy("crawl", "site", "-a", f"url={site.url}", "-s", f"JOBDIR={jobdir}")
    wait_until(lambda: len(site.fetches) >= target, process)
    os.kill(process.pid, signal.SIGKILL)
    _, errors = process.communicate()
    assert "Traceback" not in errors, errors


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[DynamicSite, Path]]:
    """A site with sessions, and the rules that a crawl of it learned."""
    folder = tmp_path_factory.mktemp("exported")
    with DynamicSite(replace(SMALL, refs=True)) as site:
        crawl_site(site, folder / "job")
        rules = folder / "rules.json"
        done = scrapy("rules", str(folder / "job"), "--export", str(rules))
        assert done.stdout == f"1 rule in {rules}\n"
        yield site, rules


class TestRulesOfAnotherCrawl:
    def test_they_hold_from_the_start_and_once(
        self, exported: tuple[DynamicSite, Path], tmp_path: Path
    ) -> None:
        site, rules = exported
        site.forget()
        some = crawl(site.url, tmp_path, "-a", f"rules={rules}", "-a", "max_pages=15")
        assert f"URL rules taken from {rules}: 1" in some.stdout
        rest = crawl(site.url, tmp_path, "-a", f"rules={rules}")
        assert "URL rules taken from" not in rest.stdout
        assert not site.lost()
        # There are not so many pages as would prove it: each may be tried, and again by a value
        # that several pages have.
        assert len(site.fetches) <= 2.2 * len(site.truth)
        (rule,) = held(tmp_path)
        assert rule["origin"] == "rules.json"
        assert rule["explored"] > 0
        assert "from rules.json; " in scrapy("rules", str(tmp_path)).stdout

    def test_the_spider_for_lists_takes_them_too(
        self, exported: tuple[DynamicSite, Path], tmp_path: Path
    ) -> None:
        site, rules = exported
        listed, larger_rules = tmp_path / "list.txt", tmp_path / "rules.json"
        # Of a small site each value would be tried on every page.
        with DynamicSite(replace(SMALL, refs=True, articles=120)) as larger:
            host, larger_host = urlsplit(site.url).netloc, urlsplit(larger.url).netloc
            larger_rules.write_text(rules.read_text().replace(host, larger_host))
            urls = [
                f"{larger.url}article?id={n}&ref=r{ref}" for n in range(240) for ref in range(4)
            ]
            listed.write_text("\n".join(urls))
            done = scrapy(
                "crawl", "urls", "-a", f"file={listed}", "-a", f"rules={larger_rules}",
                "-s", f"JOBDIR={tmp_path / 'job'}",
            )  # fmt: skip
        assert done.returncode == 0, done.stderr
        contents = [fetch.content for fetch in larger.fetches]
        assert len(set(contents)) == 240
        assert len(contents) < 2 * 240

    def test_wrong_ones_are_revoked_and_what_they_skipped_is_fetched(
        self, exported: tuple[DynamicSite, Path], tmp_path: Path
    ) -> None:
        site, rules = exported
        wrong = json.loads(rules.read_text())
        wrong["rules"][0]["transform"]["names"] = ["id"]
        (tmp_path / "wrong.json").write_text(json.dumps(wrong))
        assert len(read_rules(tmp_path / "wrong.json")) == 1
        site.forget()
        crawl_site(site, tmp_path / "job", "-a", f"rules={tmp_path / 'wrong.json'}")
        assert not site.lost()
        states = {rule["origin"]: rule["state"] for rule in learned(tmp_path / "job")["rules"]}
        assert states["wrong.json"] == "revoked"


class Sessions(HostileSite):
    """Articles under URLs with a session, of which the first that is asked for gives no page."""

    def __init__(self, fault: str) -> None:
        # Those that teach come first, so that the others wait when their rule is learned.
        parts = (range(30), range(30, 60))
        linked = (self.link(n, s) for part in parts for s in range(4) for n in part)
        super().__init__(linked=tuple(linked))
        self.fault = fault
        self.begun: set[str] = set()
        self.read: set[str] = set()
        self.added["/article"] = self.article
        self.added["/login"] = lambda exchange: exchange.answer(page(prose("login", 200)))

    @staticmethod
    def link(number: int, session: int) -> str:
        # No value comes again: such a rule is not tried once more at the end.
        return f"/article?id={number}&sid={session}{number:06}"

    def target(self, number: str) -> str | None:
        """Where the first URL of an article leads."""
        targets = {
            "login": "/login",
            "session": self.link(int(number), 3),
            "gone": f"/gone?of={number}",
        }
        return targets.get(self.fault)

    def article(self, exchange: Exchange) -> None:
        number = parse_qs(urlsplit(exchange.path).query)["id"][0]
        is_first = number not in self.begun
        self.begun.add(number)
        # The first thirty teach that sessions mean nothing.
        if is_first and int(number) >= 30 and self.fault:
            target = self.target(number)
            headers = {"Location": target} if target else {}
            status = 302 if target else int(self.fault)
            exchange.answer(b"<p>No.", status=status, headers=headers)
            return
        self.read.add(number)
        exchange.answer(page(prose(f"article{number}", 200)))


@pytest.mark.parametrize("fault", ["404", "500", "login", "session", "gone"])
def test_where_the_chosen_url_gives_no_page_another_one_does(fault: str, tmp_path: Path) -> None:
    with Sessions(fault) as site:
        crawl(site.url, tmp_path, "-s", "RETRY_ENABLED=False", "-s", "CONCURRENT_REQUESTS=4")
        assert site.read == {str(number) for number in range(60)}
    assert check(tmp_path).findings == ()


class Feeds(HostileSite):
    """Topics with feeds: each names an article, and is a page to the archive, which comes last."""

    FEEDS = 420  # more than are tried

    def __init__(self) -> None:
        super().__init__(linked=("/topics?sid=1",))
        numbers = range(self.FEEDS)
        feeds = [f"/feed/{n}?sid={n + 2}" for n in numbers]
        self.added["/topics"] = _shown(page("Topics", [f"/topic/{n}?sid=1" for n in numbers]))
        self.added["/archive"] = _shown(page("Archive", feeds))
        for n in numbers:
            head = f'<link rel="alternate" type="application/rss+xml" href="/feed/{n}?sid=1">'
            item = f"<item><link>{self.at(f'/article/{n}?sid=1')}</link></item>"
            feed = f"<rss version='2.0'><channel><title>{prose(f'f{n}', 60)}</title>{item}"
            links = ["/archive?sid=1"] * (n + 1 == self.FEEDS)
            self.added[f"/topic/{n}"] = _shown(page(prose(f"t{n}", 200), head=head))
            self.added[f"/article/{n}"] = _shown(page(prose(f"a{n}", 200), links))
            self.added[f"/feed/{n}"] = _shown(f"{feed}</channel></rss>".encode(), "text/xml")


def _shown(body: bytes, kind: str = "text/html") -> Trick:
    return lambda exchange: exchange.answer(body, kind)


def test_what_was_read_for_the_pages_that_it_names_stands_for_no_page(tmp_path: Path) -> None:
    with Feeds() as site:
        sessions = Context(urlsplit(site.url).netloc), DropArguments(("sid",))
        (tmp_path / "rules.json").write_text(rules_text([sessions]))
        found = crawled.crawl_site(site, tmp_path / "job", "-a", f"rules={tmp_path / 'rules.json'}")
    kinds = Counter(path.split("/")[1] for path in found.kept if path.count("/") == 2)
    assert kinds == dict.fromkeys(("topic", "article", "feed"), site.FEEDS)


def test_what_a_forgotten_rule_skipped_is_fetched(tmp_path: Path) -> None:
    with Sessions("") as site:
        crawl(site.url, tmp_path)
        before = len(site.paths())
        assert before < 200
        (rule,) = held(tmp_path)
        done = scrapy("rules", str(tmp_path), "--forget", str(rule["id"]))
        assert done.returncode == 0, done.stderr
        assert f"rule {rule['id']} is forgotten" in done.stdout
        crawl(site.url, tmp_path)
        assert set(site.paths()) == {"/", *site.linked}
        assert len(site.paths()) == 241
    assert [rule["state"] for rule in learned(tmp_path)["rules"]] == ["forgotten"]
