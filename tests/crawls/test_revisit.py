"""The second visit: what is asked for, what each page ends as, and when the next one is due."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import pytest

from crawler.maintenance.crawl_report import make_report
from crawler.storage.database import open_for_reading
from tests.crawls.command import crawl, killed, report, scrapy
from tests.crawls.crawled import exported
from tests.sites.changing import ChangingSite
from tests.sites.prose import prose
from tests.waiting import wait_until

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

LINKED = (
    "/hub", "/same", "/dated", "/clock", "/edited", "/copy", "/old", "/lent", "/gone",
    "/vanishing", "/broken", "/closed-later", "/orphan", "/never", "/file",
)  # fmt: skip
ARTICLE = prose("article", 200)
DATE = "Wed, 21 Oct 2015 07:28:00 GMT"
CLOSED = "User-agent: *\nDisallow: /closed-later\n"


@dataclass(frozen=True)
class Visit:
    """One run of the command, and what came of it."""

    done: subprocess.CompletedProcess[str]
    asked: list[str]
    conditions: dict[str, dict[str, str]]
    report: dict[str, Any]
    rows: dict[str, dict[str, Any]]

    @property
    def changes(self) -> dict[str, Any]:
        found: dict[str, Any] = self.report["changes"]
        return found

    def away(self, outcome: str) -> dict[str, dict[str, Any]]:
        return {away["url"]: away for away in self.changes["away"][outcome]}


@dataclass(frozen=True)
class Story:
    """A site, its crawl directory, and the visits so far."""

    site: ChangingSite
    jobdir: Path
    visits: list[Visit]

    def visit(self, *arguments: str) -> Visit:
        self.site.news()
        done = crawl(self.site.url, self.jobdir, *arguments)
        asked = self.site.news()
        visit = Visit(
            done,
            asked,
            {path: self.site.conditions(path) for path in asked},
            *read(self.jobdir, self.site.origin),
        )
        self.visits.append(visit)
        return visit

    def set_due(self, *paths: str) -> None:
        """Move the clock on for some pages only."""
        with closing(sqlite3.connect(self.jobdir / "crawl.db")) as connection:
            for path in paths:
                connection.execute(
                    "UPDATE known SET due_at = 0 WHERE key = (SELECT key FROM pages WHERE url = ?)",
                    (self.site.at(path),),
                )
            connection.commit()

    def intervals(self) -> dict[str, float]:
        with closing(sqlite3.connect(self.jobdir / "crawl.db")) as connection:
            rows = connection.execute(
                "SELECT url, interval_secs FROM known JOIN pages USING (key) WHERE latest"
            )
            return {url.removeprefix(self.site.origin): secs for url, secs in rows}


def read(jobdir: Path, origin: str) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """The report of a crawl, and its rows by path."""
    with closing(open_for_reading(jobdir)) as connection:
        return asdict(make_report(connection)), exported(jobdir, origin)


def write_first_version(site: ChangingSite) -> None:
    for path in set(LINKED) - {"/never", "/file"}:
        site.put(path, path.strip("/"))
    site.put("/hub", "hub", ["/leaf/1", "/leaf/2"])
    site.put("/leaf/1", "leaf1")
    site.put("/leaf/2", "leaf2")
    site.date("/dated", DATE)
    site.put("/clock", f"{ARTICLE} It is twelve o'clock.", etag=False)
    site.put("/copy", "edited", head="<!-- a copy -->")
    site.fail("/never", 404)
    site.added["/file"] = lambda exchange: exchange.answer(b"%PDF-1.4", "application/pdf")


def write_second_version(site: ChangingSite) -> None:
    site.linked = (*(path for path in LINKED if path != "/orphan"), "/fresh")
    site.put("/fresh", "fresh")
    site.put("/clock", f"{ARTICLE} It is one o'clock.", etag=False)
    site.put("/edited", "rewritten")
    site.put("/new-place", "old")
    site.move("/old", "/new-place")
    site.put("/elsewhere", "elsewhere")
    site.move("/lent", "/elsewhere", status=302)
    site.fail("/gone", 410)
    site.drop("/vanishing")
    site.fail("/broken", 500)
    site.robots_txt = CLOSED


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    with ChangingSite(LINKED) as site:
        write_first_version(site)
        story = Story(site, tmp_path_factory.mktemp("story") / "job", [])
        # So that the links of the hub are known, and never queued.
        story.visit("-a", "max_depth=1")
        write_second_version(site)
        story.visit("-a", "revisit=yes")
        yield story


@pytest.fixture(scope="module")
def second(story: Story) -> Visit:
    return story.visits[1]


class TestFirstVisit:
    def test_has_no_change_report(self, story: Story) -> None:
        assert story.visits[0].report["changes"] is None
        assert "/leaf/1" not in story.visits[0].asked

    def test_asks_without_conditions(self, story: Story) -> None:
        assert not any(story.visits[0].conditions.values())


class TestFinishedCrawl:
    def test_says_so_in_one_line_and_fetches_nothing(self, story: Story) -> None:
        story.site.news()
        done = crawl(story.site.url, story.jobdir)
        (line,) = done.stdout.splitlines()
        assert "finished" in line
        assert "-a revisit=yes" in line
        assert not done.stderr
        assert not story.site.news()

    @pytest.mark.parametrize(
        ("value", "hint"), [("yse", "did you mean yes?"), ("dew", "did you mean due?"), ("1", "")]
    )
    def test_typo_is_refused_with_a_hint(self, story: Story, value: str, hint: str) -> None:
        done = scrapy("crawl", "site", "-a", f"url={story.site.url}", "-a", f"revisit={value}")
        assert done.returncode == 2
        assert f"-a revisit must be no, yes, due or failed, got {value!r}" in done.stderr
        assert hint in done.stderr


class TestOutcomes:
    def test_every_known_page_has_one(self, second: Visit) -> None:
        outcomes = second.changes["outcomes"]
        assert outcomes == {
            "new": 5,  # leaf/1, leaf/2, fresh, new-place, elsewhere
            "changed": 2,
            "unchanged": 7,  # the index, hub, same, dated, copy, orphan, file
            "moved": 2,
            "gone": 1,
            "failed": 2,
            "forbidden": 1,
        }
        assert second.changes["not_asked"] == 0

    def test_what_has_validators_is_asked_for_on_condition(self, second: Visit) -> None:
        assert set(second.conditions["/same"]) == {"if-none-match"}
        assert second.conditions["/dated"] == {"if-modified-since": DATE}
        assert not second.conditions["/clock"]
        assert second.changes["not_sent"] == 5  # hub, same, dated, copy, orphan
        assert second.rows["/same"]["verdict"] == "unchanged"
        assert second.rows["/same"]["text"]

    def test_links_of_an_unchanged_hub_are_followed(self, second: Visit) -> None:
        assert second.conditions["/hub"]
        assert second.rows["/hub"]["verdict"] == "unchanged"
        assert {"/leaf/1", "/leaf/2"} <= set(second.asked)
        assert second.rows["/leaf/1"]["depth"] == 2

    def test_clock_is_told_from_another_text(self, second: Visit) -> None:
        most, least = second.changes["changed"]
        assert most["url"].endswith("/edited")
        assert most["similarity"] < 0.1
        assert most["distance"] > 3
        assert not most["is_near"]
        assert least["url"].endswith("/clock")
        assert least["similarity"] > 0.9
        assert least["distance"] <= 8
        assert least["is_near"]
        assert second.changes["nearly_unchanged"] == 1
        assert "; 1 of them nearly the same as before" in second.done.stdout

    def test_copy_of_a_page_that_changed_is_held_though_it_was_not_sent(
        self, second: Visit
    ) -> None:
        assert second.conditions["/copy"]
        row = second.rows["/copy"]
        assert row["text"]
        assert prose("edited", 200)[:40] in row["text"]

    def test_moved_page_says_where_to_and_keeps_its_text(self, story: Story, second: Visit) -> None:
        moved = second.away("moved")
        old, lent = moved[story.site.at("/old")], moved[story.site.at("/lent")]
        assert old["moved_to"] == story.site.at("/new-place")
        assert old["reason"] == "HTTP 301"
        assert lent["reason"] == "temporarily (HTTP 302)"
        assert not second.conditions["/new-place"], "the conditions are those of the old place"
        held = {row["url"]: row["text"] for row in second.rows.values()}
        assert any(held[story.site.at(path)] for path in ("/old", "/new-place"))
        assert held[story.site.at("/lent")]

    def test_moved_page_is_printed_with_its_target(self, story: Story, second: Visit) -> None:
        moved = f"{story.site.at('/lent')} -> {story.site.at('/elsewhere')} (temporarily (HTTP 302)"
        assert moved in second.done.stdout

    def test_gone_pages_say_why_and_keep_their_text(self, story: Story, second: Visit) -> None:
        reasons = {url: away["reason"] for url, away in second.away("gone").items()}
        assert reasons == {story.site.at("/gone"): "HTTP 410"}
        assert second.rows["/gone"]["text"]
        assert second.rows["/gone"]["away"] == "gone"

    def test_what_nobody_answers_has_failed_and_keeps_its_text(
        self, story: Story, second: Visit
    ) -> None:
        assert second.rows["/vanishing"]["text"]
        assert second.away("failed")[story.site.at("/vanishing")]["reason"] == "connection lost"
        failed = {story.site.at(path) for path in ("/broken", "/vanishing")}
        assert set(second.away("failed")) == failed

    def test_what_robots_txt_forbids_now_is_named_so(self, story: Story, second: Visit) -> None:
        assert list(second.away("forbidden")) == [story.site.at("/closed-later")]
        assert "/closed-later" not in second.asked
        assert second.rows["/closed-later"]["text"]
        assert second.rows["/closed-later"]["away"] == "forbidden"

    def test_pages_that_are_there_are_not_away(self, second: Visit) -> None:
        away = {path: row["away"] for path, row in second.rows.items() if row["away"]}
        assert set(away.values()) == {"gone", "moved", "forbidden", "failed"}
        assert not {"/hub", "/same", "/edited", "/clock"} & set(away)

    def test_page_that_no_link_leads_to_is_asked_for(self, second: Visit) -> None:
        assert "/orphan" in second.asked
        assert second.rows["/orphan"]["verdict"] == "unchanged"

    def test_every_url_is_asked_for_once(self, second: Visit) -> None:
        retried = {"/broken", "/vanishing", "/old", "/lent"}  # those that moved once more
        once = [path for path in second.asked if path not in retried]
        assert len(once) == len(set(once))


class TestLaterVisits:
    """In this order: each goes on from the one before."""

    def test_only_what_is_due_is_asked_for(self, story: Story) -> None:
        story.set_due("/same", "/clock")
        third = story.visit("-a", "revisit=due")
        assert set(third.asked) == {"/same", "/clock"}
        first = third.done.stdout.splitlines()[0]
        assert "2 of 2" in first
        assert "the next of the others in" in first
        assert third.changes["outcomes"]["unchanged"] == 2
        assert third.changes["not_asked"] > 10

    def test_nothing_is_asked_for_where_nothing_is_due(self, story: Story) -> None:
        story.site.news()
        done = crawl(story.site.url, story.jobdir, "-a", "revisit=due")
        (line,) = done.stdout.splitlines()
        assert "0 of 2" in line
        assert "the first in" in line
        assert not story.site.news()

    def test_a_visit_that_had_nothing_to_ask_for_is_over(self, tmp_path: Path) -> None:
        with ChangingSite(("/hub",)) as site:
            story = Story(site, tmp_path / "job", [])
            site.put("/hub", "hub", ["/deep"])
            site.put("/deep", "deep")
            assert "/deep" in story.visit().asked
            story.set_due("/deep")
            # What is due lies deeper than is asked for.
            assert "/deep" not in story.visit("-a", "revisit=due", "-a", "max_depth=1").asked
            feed = tmp_path / "kept.jsonl"
            crawl(site.url, story.jobdir, "-a", "revisit=due", "-a", "max_depth=1", "-O", str(feed))
            assert len(feed.read_text().splitlines()) >= 2
            assert "/deep" in story.visit("-a", "revisit=yes").asked

    def test_interval_follows_the_content(self, story: Story) -> None:
        week = 7 * 86_400
        found = story.intervals()
        assert found["/fresh"] == week
        assert found["/orphan"] == pytest.approx(week * 1.4)
        assert found["/edited"] == pytest.approx(week * 0.7)
        assert found["/clock"] == pytest.approx(week * 1.4 * 1.4)
        assert found["/broken"] == week

    def test_pages_come_back(self, story: Story) -> None:
        site = story.site
        site.put("/gone", "gone")
        site.put("/vanishing", "another")
        site.put("/old", "old")
        site.robots_txt = ""
        fourth = story.visit("-a", "revisit=yes")
        assert fourth.changes["back"] == 4  # gone, vanishing, old, closed-later
        assert fourth.rows["/gone"]["verdict"] == "unchanged"
        assert fourth.rows["/gone"]["away"] is None
        assert fourth.rows["/vanishing"]["verdict"] == "changed"
        assert list(fourth.away("moved")) == [site.at("/lent")]
        assert fourth.away("moved")[site.at("/lent")]["since"] == 2
        assert fourth.changes["outcomes"]["moved"] == 0, "the second visit told it"
        assert fourth.changes["still_away"] == 1
        assert not fourth.away("gone")
        assert not fourth.away("forbidden")

    def test_report_is_printed_and_given_as_json(self, story: Story) -> None:
        printed = scrapy("report", str(story.jobdir)).stdout
        assert "since the last visit:" in printed
        assert "most changed" in printed
        assert "1  still away" in printed
        assert story.site.at("/elsewhere") not in printed, "the second visit told where it moved"
        changes = report(story.jobdir)["changes"]
        assert changes["outcomes"] == story.visits[-1].changes["outcomes"]


def test_list_that_grew_is_added_to_and_asked_for_again(tmp_path: Path) -> None:
    with ChangingSite() as site:
        for name in ("one", "two", "three"):
            site.put(f"/{name}", name)
        listed = tmp_path / "list.txt"
        listed.write_text(f"{site.at('/one')}\n{site.at('/two')}\n")
        command = ("crawl", "urls", "-a", f"file={listed}", "-s", f"JOBDIR={tmp_path / 'job'}")
        assert scrapy(*command).returncode == 0
        assert set(site.news()) == {"/one", "/two"}
        listed.write_text(f"{site.at('/two')}\n{site.at('/three')}\n")
        done = scrapy(*command)
        assert done.returncode == 0, done.stderr
        assert site.news() == ["/three"]
        done = scrapy(*command, "-a", "revisit=yes")
        assert done.returncode == 0, done.stderr
        assert set(site.news()) == {"/one", "/two", "/three"}
        assert read(tmp_path / "job", site.origin)[0]["changes"]["not_sent"] == 3


def test_killed_second_visit_goes_on_with_the_plain_command(tmp_path: Path) -> None:
    paths = tuple(f"/page/{number}" for number in range(60))
    with ChangingSite(paths) as site:
        for number, path in enumerate(paths):
            site.put(path, f"page{number}", etag=number % 2 == 0)
        crawl(site.url, tmp_path)
        site.linked = ()
        for number in range(0, 60, 3):
            site.put(f"/page/{number}", f"new{number}")
        slowly = ("-s", 'DOWNLOAD_SLOTS={"127.0.0.1": {"delay": 0.05, "concurrency": 1}}')
        site.news()
        asked: set[str] = set()

        def has_asked_enough() -> bool:
            asked.update(site.news())
            return len(asked) >= 25

        where = ("-a", f"url={site.url}", "-s", f"JOBDIR={tmp_path}")
        with killed("crawl", "site", *where, "-a", "revisit=yes", *slowly) as process:
            wait_until(has_asked_enough, process)
        asked.update(site.news())
        done = crawl(site.url, tmp_path)
        asked.update(site.news())
        assert "going on with visit 2" in done.stdout.splitlines()[0]
        assert asked == {"/", *paths}
        outcomes = read(tmp_path, site.origin)[0]["changes"]["outcomes"]
        assert outcomes["changed"] == 20
        assert outcomes["unchanged"] == 40 + 1  # the index links to nothing now, and says the same


@pytest.mark.parametrize("etag", [True, False])
def test_near_copy_is_unchanged_when_its_original_changed(tmp_path: Path, etag: bool) -> None:
    words = prose("article", 300)
    with ChangingSite(("/a", "/near", "/also-near")) as site:
        story = Story(site, tmp_path, [])
        site.put("/a", words, etag=etag)
        site.put("/near", f"{words} One word.", etag=etag)
        site.put("/also-near", f"{words} Two words.", etag=etag)
        in_turn = ("-s", "CONCURRENT_REQUESTS=1", "-s", "READING_WORKERS=1", "-a", "revisit=yes")
        first = story.visit(*in_turn)
        assert first.rows["/near"]["duplicate_of"] == first.rows["/a"]["url"]
        site.put("/a", "another", etag=etag)
        for _ in range(2):  # in the second one, what they say is read anew
            found = story.visit(*in_turn).changes
            changed = {change["url"] for change in found["changed"]}
            assert changed <= {site.at("/a")}
            assert found["outcomes"]["unchanged"] >= 3
