"""No spelling of a URL takes its page away: where one gives none, another is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from crawler.url_rules.fixed_rules import MAX_UNDECIDED
from crawler.url_rules.variants import MAX_PLACES
from tests.crawls.crawled import crawl_site
from tests.sites.changing import ChangingSite, page
from tests.sites.prose import prose

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.crawls.crawled import Crawled
    from tests.sites.exchange import Exchange

ONE_BY_ONE = ("-s", "CONCURRENT_REQUESTS=1", "-s", "RETRY_ENABLED=False")
STATUSES = (400, 401, 403, 404, 410, 500)
HOSTS = ("@127.0.0.1", ":@127.0.0.1", "127.0.0.1.", "0x7f.1", "a:b@127.0.0.1")
RANDOM_PAGES = 8


def session(digit: str) -> str:
    return f"PHPSESSID={digit * 32}"


def only_where(
    name: str, is_good: Callable[[str], bool], status: int = 403
) -> Callable[[Exchange], None]:
    """A page that is there where its query is good."""

    def answer(exchange: Exchange) -> None:
        if is_good(urlsplit(exchange.path).query):
            exchange.answer(page(prose(name, 120)))
        else:
            exchange.answer(b"<p>No.", status=status)

    return answer


def otherwise(name: str, act: Callable[[Exchange], None]) -> Callable[[Exchange], None]:
    """A page that does something else where it is asked with a query."""

    def answer(exchange: Exchange) -> None:
        if "?" in exchange.path:
            act(exchange)
        else:
            exchange.answer(page(prose(name, 120)))

    return answer


def open_site() -> ChangingSite:
    site = ChangingSite()
    site.robots_txt = ""
    return site


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    """A site with everything but robots.txt that can be wrong with a spelling."""
    with open_site() as site:
        links = []
        for status in STATUSES:
            site.added[f"/{status}"] = only_where(f"{status}", lambda query: not query, status)
            links += [f"/{status}?{session('a')}", f"/{status}"]
        site.added["/needed"] = only_where("needed", session("2").__eq__)
        links += [f"/needed?{session(digit)}" for digit in "0123"]
        site.added["/late"] = only_where("late", session("c").__eq__)
        site.put("/later", "later", [f"/late?{session('c')}"])
        links += [f"/late?{session('b')}", "/later"]
        site.put("/login", "who")
        for name in ("one", "two"):
            site.added[f"/{name}"] = otherwise(name, lambda exchange: exchange.redirect("/login"))
        links += [f"/one?{session('a')}", "/login", f"/two?{session('a')}"]
        site.added["/cut"] = otherwise("cut", lambda exchange: exchange.reset())
        links += ["/cut?utm_source=%3Cscript%3E", "/cut"]
        port = urlsplit(site.origin).port
        for number, host in enumerate(HOSTS):
            site.put(f"/host{number}", f"host{number}")
            site.put(f"/only{number}", f"only{number}")
            spelled = f"http://{host}:{port}"
            links += [f"{spelled}/host{number}", f"/host{number}", f"{spelled}/only{number}"]
        site.fail("/random", 403)
        for number in range(RANDOM_PAGES):
            some = [f"/random?PHPSESSID={number * 50 + one:032x}" for one in range(50)]
            site.put(f"/random{number}", f"random{number}", [*some, f"/random{number + 1}"])
        links.append("/random0")
        site.put("/there", "there")
        links += [*(f"/there?utm_source={number}" for number in range(9)), "/there"]
        links += ["/dead%7e", "/dead~", site.at("/dead~").replace("http:", "HTTP:")]
        site.added["/old"] = lambda exchange: exchange.redirect("/new")
        site.put("/new", "new")
        links += [*(f"/old?utm_source={number}" for number in range(9)), "/old"]
        site.linked = tuple(links)
        jobdir = tmp_path_factory.mktemp("mixed")
        return crawl_site(site, jobdir, *ONE_BY_ONE, "-s", "CRAWL_LEARN_URL_RULES=False")


def asked(crawled: Crawled, path: str) -> list[str]:
    return [url for url in crawled.asked if urlsplit(url).path == path]


class TestPageIsKept:
    """Whatever spelling is met first."""

    @pytest.mark.parametrize("status", STATUSES)
    def test_a_session_has_expired(self, status: int, mixed: Crawled) -> None:
        assert f"/{status}" in mixed.kept
        # Its own link may be requested once more, to try the rule: that depends on the order of
        # the answers.
        assert 2 <= len(asked(mixed, f"/{status}")) <= 3

    def test_a_session_is_needed(self, mixed: Crawled) -> None:
        assert f"/needed?{session('2')}" in mixed.kept

    def test_the_spelling_that_works_is_met_after_the_others_failed(self, mixed: Crawled) -> None:
        assert f"/late?{session('c')}" in mixed.kept

    def test_the_first_spelling_leads_to_a_login(self, mixed: Crawled) -> None:
        assert {"/one", "/two", "/login"} <= mixed.kept

    def test_a_firewall_cuts_the_connection(self, mixed: Crawled) -> None:
        assert "/cut" in mixed.kept

    @pytest.mark.parametrize("number", range(len(HOSTS)))
    def test_host_is_spelled_oddly(self, number: int, mixed: Crawled) -> None:
        assert {f"/host{number}", f"/only{number}"} <= mixed.kept
        assert mixed.asked.count(f"/host{number}") == mixed.asked.count(f"/only{number}") == 1

    def test_only_what_no_spelling_gives_has_failed_and_what_tried_a_rule(
        self, mixed: Crawled
    ) -> None:
        failed = {path for path, row in mixed.rows.items() if row["verdict"] == "failed"}
        paths = {urlsplit(path).path for path in failed}
        assert {"/random", f"/random{RANDOM_PAGES}", "/dead~"} <= paths
        tried = {path for path in failed if "PHPSESSID" in path}
        # /cut was requested to try the rule, as a page of its own, so that its other URL failed.
        others = {urlsplit(path).path for path in failed - tried}
        assert {"/cut", f"/random{RANDOM_PAGES}", "/dead~"} <= others
        # So may one be that needs a session, without which it is another page.
        assert others <= {"/cut", f"/random{RANDOM_PAGES}", "/dead~", "/needed", "/late"}
        assert "/cut" not in failed
        assert len(tried) <= 1 + 2 * MAX_UNDECIDED
        assert mixed.report.failed == len(failed)

    def test_robots_forbid_the_first_spelling(self, tmp_path: Path) -> None:
        with open_site() as site:
            site.put("/p", "wanted")
            site.put("/q", "wanted as well")
            site.linked = ("/p?utm_source=nav", "/p", "/q?utm_source=nav")
            site.robots_txt = "User-agent: *\nDisallow: /*?\n"
            crawled = crawl_site(site, tmp_path)
        assert crawled.kept == {"/", "/p", "/q"}
        assert sorted(site.paths()) == ["/", "/p", "/q"]
        # The canonical URL was requested to try the rule: the first one of /p stays forbidden.
        assert crawled.report.failed == 1

    @pytest.mark.parametrize(
        ("argument", "reason"), [("deny=utm_", "by deny"), ("allow=/p$|/$", "by allow")]
    )
    def test_the_first_spelling_is_refused(
        self, argument: str, reason: str, tmp_path: Path
    ) -> None:
        with open_site() as site:
            site.put("/p", "wanted")
            site.linked = (*(f"/p?utm_source={number}" for number in range(6)), "/p")
            crawled = crawl_site(site, tmp_path, "-a", argument)
        assert "/p" in crawled.kept
        assert site.paths() == ["/", "/p"]
        assert crawled.report.refused_links == {reason: 6}
        assert (
            f"links not followed, counted each time they were met: 6 {reason}"
            in crawled.done.stdout
        )


class TestBounds:
    """A page is not asked for without an end, and not twice where it was had."""

    def test_random_sessions_are_asked_a_few_times(self, mixed: Crawled) -> None:
        assert len(asked(mixed, "/random")) <= 5 + 2 * MAX_UNDECIDED

    def test_a_page_that_is_there_is_asked_again_to_try_the_rule_alone(
        self, mixed: Crawled
    ) -> None:
        assert asked(mixed, "/there")[0] == "/there?utm_source=0"
        assert len(asked(mixed, "/there")) <= MAX_PLACES

    def test_what_a_server_takes_for_the_same_is_asked_once(self, mixed: Crawled) -> None:
        assert asked(mixed, "/dead~") == ["/dead~"]
        assert asked(mixed, "/dead%7e") == ["/dead%7e"]

    def test_a_page_that_has_moved_is_asked_twice_and_to_try_the_rule(self, mixed: Crawled) -> None:
        first, *others = asked(mixed, "/old")
        assert first == "/old?utm_source=0"
        assert "/old" in others
        assert len(others) <= 1 + MAX_PLACES
        assert 1 <= mixed.asked.count("/new") <= 1 + MAX_PLACES
