"""``crawl-once watch``: visits when they are due, each change told once, also after kill -9."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from contextlib import closing
from threading import Event
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree import ElementTree as ET

import pytest

from crawler.watch.changes import MIN_REPEATED
from crawler.watch.watch_store import WatchStore
from tests.crawls.command import TIMEOUT_SECS, crawl, crawl_once
from tests.crawls.crawled import queried
from tests.sites.changing import ChangingSite, page
from tests.sites.prose import prose
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

MARKET = "A market opens on each Monday beside the old customs house of the northern quay."
OF_THE_SITE = "We have moved our offices to the northern quay, where you are always welcome."
ALIKE = tuple(f"/alike-{number}" for number in range(MIN_REPEATED))
PATHS = (
    "/same",
    "/edited",
    "/longer",
    "/clock",
    "/gone",
    "/moved",
    "/broken",
    "/back",
    "/titled",
    *ALIKE,
)


def words(folder: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "crawler", "watch", str(folder), *options]


def watch(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Visit what is due."""
    return crawl_once("watch", folder, "--once", *options)


def let_a_day_pass(folder: Path) -> None:
    with closing(WatchStore(folder)) as store:
        store.note_begin(0.0)
        store.note_end()


def lines_of(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


class Visited(NamedTuple):
    """A visit: what was printed, and what was told, by path."""

    done: subprocess.CompletedProcess[str]
    told: dict[str, dict[str, Any]]


class Watched:
    """A site, its crawl, and the receivers of its changes."""

    def __init__(self, site: ChangingSite, folder: Path) -> None:
        self.site, self.folder = site, folder / "example"
        self.lines, self.feed = folder / "changes.jsonl", folder / "feed.xml"
        self.by_command = folder / "command.jsonl"
        save = f"cat >> {shlex.quote(str(self.by_command))}"
        self.options = ("-o", str(self.lines), "--atom", str(self.feed), "--command", save)

    def clock(self, time: str, views: int) -> None:
        """Serve a page with a clock and a counter."""
        text = f"{prose('clock')}</p><p>Time now: {time}</p><p>{views:,} views"
        self.site.put("/clock", text, etag=False)

    def visit(self) -> Visited:
        let_a_day_pass(self.folder)
        return self.visit_when_due()

    def visit_when_due(self) -> Visited:
        known = len(lines_of(self.lines))
        done = watch(self.folder, *self.options)
        assert done.returncode == 0, done.stderr
        told = lines_of(self.lines)[known:]
        paths = [line["url"].removeprefix(self.site.origin) for line in told]
        assert len(set(paths)) == len(paths)
        return Visited(done, dict(zip(paths, told, strict=True)))


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    """A site that was crawled, and is watched from then on."""
    with ChangingSite(linked=PATHS) as site:
        made = Watched(site, tmp_path_factory.mktemp("watch"))
        for path in PATHS:
            site.put(path, path.strip("/"))
        made.clock("10:15:33", 1_234)
        crawl(site.url, made.folder, "-a", "max_depth=2")
        yield made


@pytest.fixture(scope="module")
def first(watched: Watched) -> Visited:
    """The first start, when nothing is due."""
    return watched.visit_when_due()


@pytest.fixture(scope="module")
def second(watched: Watched, first: Visited) -> Visited:
    """A visit after every kind of change."""
    site = watched.site
    site.put("/edited", prose("edited", 200).replace(prose("edited", 200).split()[3], "other", 1))
    site.put("/longer", f"{prose('longer', 200)}</p><p>{MARKET}")
    site.entitle("/titled", "Closed for the winter")
    watched.clock("23:01:02", 98_765)
    for path in ALIKE:
        site.put(path, f"{prose(path.strip('/'), 200)}</p><p>{OF_THE_SITE}")
    for path, status in (("/gone", 404), ("/back", 410), ("/broken", 500)):
        site.fail(path, status)
    site.move("/moved", "/same")
    site.put("/fresh", "fresh")
    site.linked = (*PATHS, "/fresh")
    return watched.visit()


@pytest.fixture(scope="module")
def third(watched: Watched, second: Visited) -> Visited:
    """A visit to which a page comes back."""
    watched.site.put("/broken", "broken")
    watched.site.put("/back", "back")
    return watched.visit()


def test_a_directory_that_is_not_due_is_known_from_now_on(first: Visited) -> None:
    assert first.done.stdout.startswith("example: 20 pages known from now on; next visit ")
    assert not first.told


def test_the_line_of_a_visit_counts_its_changes(second: Visited) -> None:
    begins, line = second.done.stdout.splitlines()
    assert re.fullmatch(r"example: visiting \(last visit [\d,]+ days ago\)", begins)
    assert line.startswith("example: 1 new, 3 changed, 3 gone; 11 pages differ in clocks, ")
    assert " counters or boilerplate alone; 1 URL failed; next visit tomorrow at " in line


@pytest.mark.parametrize(
    ("path", "kind", "summary"),
    [
        ("/fresh", "new", "a new page of "),
        ("/edited", "changed", "1 word of a sentence was replaced by 1"),
        ("/longer", "changed", "a paragraph of 15 words was added"),
        ("/titled", "changed", 'the title changed: "A page" is now "Closed for the winter"'),
        ("/gone", "gone", "the page is gone: HTTP 404"),
        ("/back", "gone", "the page is gone: HTTP 410"),
        ("/moved", "gone", "the URL redirects to http://127.0.0.1:"),
    ],
)
def test_each_kind_of_change_is_told(second: Visited, path: str, kind: str, summary: str) -> None:
    change = second.told[path]
    assert change["kind"] == kind
    assert change["summary"].startswith(summary)


def test_nothing_else_is_told(second: Visited) -> None:
    told = {"/fresh", "/edited", "/longer", "/titled", "/gone", "/back", "/moved"}
    assert second.told.keys() == told


def test_a_change_has_its_diff(second: Visited) -> None:
    longer, edited = second.told["/longer"], second.told["/edited"]
    assert (longer["added"], longer["removed"]) == ([MARKET], [])
    assert (longer["words_added"], longer["words_removed"]) == (15, 0)
    assert [len(edited[name]) for name in ("added", "removed")] == [1, 1]
    assert "other" in edited["added"][0]


def test_a_page_that_comes_back_is_told(third: Visited) -> None:
    (change,) = third.told.values()
    assert (change["kind"], change["title"]) == ("back", "A page")
    assert change["summary"] == "the page is back; its text is the same as before"
    assert third.done.stdout.splitlines()[1].startswith("example: 1 back; next visit tomorrow at ")


def test_the_feed_and_the_command_have_the_same_changes(
    watched: Watched, second: Visited, third: Visited
) -> None:
    told = [line["id"] for line in (*second.told.values(), *third.told.values())]
    atom = "{http://www.w3.org/2005/Atom}"
    entries = ET.parse(watched.feed).getroot().findall(f"{atom}entry")
    assert {entry.findtext(f"{atom}id") for entry in entries} == set(told)
    got = json.JSONDecoder()
    text, ids = watched.by_command.read_text(), []
    while text:
        message, end = got.raw_decode(text)
        ids += [change["id"] for change in message["changes"]]
        text = text[end:]
    assert ids == told


def test_a_visit_has_the_arguments_of_the_crawl(watched: Watched, third: Visited) -> None:
    sql = "SELECT value FROM meta WHERE name = 'arguments'"
    ((arguments,),) = queried(watched.folder, sql)
    assert json.loads(arguments) == {"url": watched.site.url, "max_depth": "2"}


def test_a_watch_that_is_killed_goes_on_and_tells_each_change_once(
    watched: Watched, third: Visited
) -> None:
    site, released = watched.site, Event()
    site.put("/longer", prose("longer", 200))
    site.put("/fresh", f"{prose('fresh', 200)}</p><p>{MARKET}")

    def answer_late(exchange: Any) -> None:
        released.wait()
        exchange.answer(page(prose("same", 200)))

    site.added["/same"] = answer_late
    let_a_day_pass(watched.folder)
    site.news()
    process = start(watched.folder, *watched.options)
    wait_until(lambda: "/same" in site.news(), process)
    told = watch(watched.folder)
    assert told.returncode == 2
    assert told.stderr == (
        f"crawl-once watch: {watched.folder}: process {process.pid} is watching it already\n"
    )
    process.kill()
    process.communicate()
    released.set()
    after = watched.visit_when_due()
    assert {path: change["summary"] for path, change in after.told.items()} == {
        "/longer": "a paragraph of 15 words was removed",
        "/fresh": "a paragraph of 15 words was added",
    }


def test_each_directory_is_visited_once_though_another_cannot_be(
    watched: Watched, third: Visited, tmp_path: Path
) -> None:
    """One cannot start, and the other is due a little later."""
    bad, good = tmp_path / "bad", tmp_path / "good"
    for folder in (bad, good):
        shutil.copytree(watched.folder, folder)
    (bad / "crawl-once.toml").write_text("no-such-option = 1\n")
    let_a_day_pass(bad)
    with closing(WatchStore(good)) as store:
        store.note_begin(time.time() - 3_500)
        store.note_end()
    done = crawl_once("watch", bad, good, "--once", "--every", "1h")
    assert done.returncode == 1
    said = re.sub(r"[\d,]+ days", "many days", done.stdout)
    assert [line.partition(";")[0] for line in said.splitlines()] == [
        "bad: visiting (last visit many days ago)",
        "bad: not visited",
        "good: visiting (last visit 58 minutes ago)",
        "good: nothing changed",
    ]
    assert "no-such-option" in done.stderr.replace("_", "-")
    with closing(WatchStore(bad)) as store:
        assert store.is_interrupted, "the next start tries again"


def test_a_site_that_is_away_is_told_also_where_a_visit_goes_on(tmp_path: Path) -> None:
    with ChangingSite(linked=("/a", "/b")) as site:
        site.put("/a", "a")
        site.put("/b", "b")
        crawl(site.url, tmp_path / "job")
    watch(tmp_path / "job")  # knows what there is
    for _ in range(2):
        with closing(WatchStore(tmp_path / "job")) as store:
            store.note_begin(0.0)
        done = watch(tmp_path / "job", "--max-time", "3s")
        assert done.returncode == 1, done.stdout
        assert done.stderr.startswith("crawl-once watch: job: ")
        assert "gone" not in done.stdout


@pytest.mark.parametrize("option", [("-s", "NEARDUP_MAX=1"), ("--config", "no.toml")])
def test_what_is_given_to_visits_is_checked_at_the_start(
    watched: Watched, third: Visited, option: tuple[str, ...]
) -> None:
    done = watch(watched.folder, *option)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1, done.stderr


def test_the_feed_and_the_lines_are_two_files(watched: Watched, tmp_path: Path) -> None:
    file = tmp_path / "changes.jsonl"
    done = watch(watched.folder, "-o", str(file), "--atom", f"{tmp_path}/./changes.jsonl")
    assert done.returncode == 2
    assert "-o writes there too" in done.stderr
    assert not file.exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_watch_that_waits(
    watched: Watched, third: Visited, number: signal.Signals
) -> None:
    process = start(watched.folder)
    assert process.stdout is not None
    assert process.stdout.readline().startswith("example: next visit ")
    process.send_signal(number)
    assert process.wait(TIMEOUT_SECS) == 0
    assert process.communicate() == ("", "")


def start(folder: Path, *options: str) -> subprocess.Popen[str]:
    """Start a watch that waits for the next visits."""
    return subprocess.Popen(
        words(folder, *options),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
