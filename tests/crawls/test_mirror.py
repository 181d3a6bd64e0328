"""``crawl-once mirror``: complete, browsable from the disk, the same bytes stored once."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from functools import partial
from random import Random
from threading import Event
from typing import TYPE_CHECKING

import pytest
from warcio.archiveiterator import ArchiveIterator

from tests.crawls.command import PROJECT, scrapy, start_scrapy
from tests.crawls.mirrored import Mirrored, check, host, mirror
from tests.sites.dynamic import RULED, DynamicSite
from tests.sites.needing import PIXEL, NeedingSite, body
from tests.waiting import PATIENCE_SECS, some_moment, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.sites.exchange import Exchange


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[NeedingSite, Mirrored]]:
    """A site, and a mirror of what it is at first."""
    with NeedingSite() as served:
        yield served, mirror(served.url, tmp_path_factory.mktemp("first") / "m")


@pytest.fixture
def site(first: tuple[NeedingSite, Mirrored]) -> NeedingSite:
    """The site as it is at first."""
    first[0].begin_anew()
    return first[0]


@pytest.fixture
def mirrored(first: tuple[NeedingSite, Mirrored], site: NeedingSite, tmp_path: Path) -> Mirrored:
    """A mirror of the site, which a test may change: a copy with its hard links."""
    folder = tmp_path / "m"
    subprocess.run(["cp", "-a", first[1].folder, folder], check=True)
    return Mirrored(folder, first[1].done)


class TestFiles:
    def test_everything_that_a_page_needs_has_a_file(
        self, site: NeedingSite, mirrored: Mirrored
    ) -> None:
        expected = {
            "index.html", "docs/index.html", "docs/folder.html", "docs/frame.html",
            "docs/folder/inner.html", "docs/manual.pdf", "docs/query@id=1&x=a b.html",
            "style/main.css", "style/more.css", "img/pixel.png", "img/pixel@v=2.png",
            "img/small.png", "img/lazy.png", "img/back.png", "img/font.woff2", "script.js",
        }  # fmt: skip
        below = {path.removeprefix(host(site) + "/") for path in mirrored.files if "/" in path}
        # Which of the two has the plain name is a matter of which comes first.
        of_one_name = {path for path in below if path.lower().startswith("docs/b")}
        assert below - of_one_name == expected
        assert sorted("~" in path for path in of_one_name) == [False, True], "they differ by case"

    def test_a_link_leads_to_the_file_and_what_has_none_to_the_network(
        self, site: NeedingSite, mirrored: Mirrored
    ) -> None:
        addresses = mirrored.addresses(f"{host(site)}/docs/index.html")
        assert "b.html#part" in addresses
        assert "b.html" in addresses, "through the redirect"
        assert f"{host(site)}/docs/query@id=1&x=a b.html" in mirrored.targets(
            f"{host(site)}/docs/index.html"
        )
        assert "https://elsewhere.invalid/x?a=1&b=2#y" in addresses
        assert site.at("/docs/missing") in addresses
        assert "index.html#part" in addresses, "since the page keeps its <base href>"
        assert "../img/pixel.png" in addresses

    def test_the_front_page_leads_to_the_site(self, site: NeedingSite, mirrored: Mirrored) -> None:
        assert mirrored.targets("index.html") == {f"{host(site)}/index.html"}

    def test_the_same_bytes_are_one_file_on_the_disk(
        self, site: NeedingSite, mirrored: Mirrored
    ) -> None:
        paths = [mirrored.folder / host(site) / "img" / f"{name}.png" for name in ("pixel", "lazy")]
        assert paths[0].read_bytes() == PIXEL
        assert paths[0].stat().st_ino == paths[1].stat().st_ino

    def test_the_check_finds_nothing(self, mirrored: Mirrored) -> None:
        done = check(mirrored.folder)
        assert done.returncode == 0, done.stdout
        assert "ok" in done.stdout


class TestCheck:
    def test_a_file_that_is_missing_is_named(self, site: NeedingSite, mirrored: Mirrored) -> None:
        (mirrored.folder / host(site) / "docs" / "b.html").unlink()
        done = check(mirrored.folder)
        assert done.returncode == 1
        assert "missing files" in done.stdout
        assert "links that lead to no file" in done.stdout
        assert "docs/b.html" in done.stdout

    def test_a_file_that_was_changed_is_named(self, site: NeedingSite, mirrored: Mirrored) -> None:
        path = mirrored.folder / host(site) / "docs" / "folder.html"
        path.write_bytes(path.read_bytes() + b" ")
        done = check(mirrored.folder)
        assert done.returncode == 1
        assert "files changed since they were written: 1" in done.stdout

    def test_a_stranger_is_named(self, mirrored: Mirrored) -> None:
        (mirrored.folder / "stranger.txt").write_text("x")
        done = check(mirrored.folder)
        assert done.returncode == 1
        assert "stranger.txt" in done.stdout

    def test_what_is_wrong_is_fetched_again(self, site: NeedingSite, mirrored: Mirrored) -> None:
        folder = mirrored.folder / host(site) / "docs"
        (folder / "b.html").unlink()
        path = folder / "folder.html"
        path.write_bytes(b"something else")
        again = mirror(site.url, mirrored.folder)
        assert check(again.folder).returncode == 0, check(again.folder).stdout
        assert b"something else" not in path.read_bytes()


class TestUpdate:
    def test_what_did_not_change_is_not_sent_again(
        self, site: NeedingSite, mirrored: Mirrored
    ) -> None:
        before = {path: mirrored.read(path) for path in mirrored.files if "/" in path}
        site.news()
        again = mirror(site.url, mirrored.folder)
        asked = set(site.news()) & set(site.added) - {"/docs/moved", "/docs/missing"}
        assert len(asked) > 10
        assert [path for path in asked if not site.conditions(path)] == []
        assert {path: again.read(path) for path in again.files if "/" in path} == before
        changes = again.json("changes.json")
        assert not changes["new"]
        assert not changes["changed"]
        assert len(changes["unchanged"]) >= len(before) - 1

    def test_changes_are_told_and_links_follow(self, site: NeedingSite, mirrored: Mirrored) -> None:
        site.file("/docs/b.html", body("b anew", '<a href="added">new</a> <a href="./">up</a>'))
        site.file("/docs/added", body("added", ""))
        site.fail("/docs/folder/inner", 404)
        again = mirror(site.url, mirrored.folder)
        changes = again.json("changes.json")
        assert [change["url"] for change in changes["new"]] == [site.at("/docs/added")]
        assert [change["url"] for change in changes["changed"]] == [site.at("/docs/b.html")]
        assert changes["changed"][0]["distance"] > 0
        assert [change["url"] for change in changes["gone"]] == [site.at("/docs/folder/inner")]
        assert f"{host(site)}/docs/added.html" in again.targets(f"{host(site)}/docs/b.html")
        assert f"{host(site)}/docs/folder/inner.html" in again.files
        missing = again.done.stdout.partition("missing from the mirror:")[2].partition("to list")[0]
        state = str(again.folder / ".mirror")
        verdicts = ("failed", "unreadable")
        exports = [scrapy("pages", state, "--verdict", one).stdout for one in verdicts]
        listed = "".join(exports).splitlines()
        counts = re.findall(r"^ +([\d,]+)  ", missing, re.MULTILINE)
        assert sum(map(int, counts)) == len(listed) > 0
        assert check(again.folder).returncode == 0

    @pytest.mark.parametrize("keeping", ["keep", "remove"])
    def test_what_is_gone_is_told_once(
        self, site: NeedingSite, tmp_path: Path, keeping: str
    ) -> None:
        mirror(site.url, tmp_path / "m", "--gone", keeping)
        for path in ("/docs/folder/inner", "/docs/b.html"):
            site.fail(path, 404)
        told = [mirror(site.url, tmp_path / "m") for _ in range(3)]
        gone = {site.at("/docs/folder/inner"), site.at("/docs/b.html")}
        for number, again in enumerate(told):
            since = again.done.stdout.partition("since the last visit:")[2]
            assert ("2  gone" in since) is (number == 0)
            assert ("2  still away" in since) is (number > 0)
            assert {url for url in gone if f"  {url} (HTTP 404)" in since} == (
                set() if number else gone
            )
            if number:
                assert not again.json("changes.json")["gone"], "told by the first"
            assert check(again.folder).returncode == 0

    def test_the_folder_alone_is_enough(self, site: NeedingSite, mirrored: Mirrored) -> None:
        done = scrapy("mirror", str(mirrored.folder))
        assert done.returncode == 0, done.stderr
        assert "visiting again" in done.stdout


class TestDuplicates:
    @pytest.fixture
    def repeating(self) -> Iterator[NeedingSite]:
        with NeedingSite() as site:
            site.linked = ("/docs/", "/copies/one")
            links = '<a href="two">two</a> <a href="three">three</a>'
            site.file("/copies/one", body("copy", links))
            site.file("/copies/two", body("copy", links))
            site.file("/copies/three", body("copy", links + " changed a little"))
            yield site

    def test_they_are_kept_by_default(self, repeating: NeedingSite, tmp_path: Path) -> None:
        found = mirror(repeating.url, tmp_path / "m")
        paths = [found.path_of(repeating.at(f"/copies/{name}")) for name in ("one", "two", "three")]
        assert None not in paths
        one, two = (found.folder / str(path) for path in paths[:2])
        assert one.stat().st_ino == two.stat().st_ino

    def test_a_page_that_changes_leaves_the_other_with_its_bytes_as_it_was(
        self, repeating: NeedingSite, tmp_path: Path
    ) -> None:
        mirror(repeating.url, tmp_path / "m")
        repeating.file("/copies/one", body("something new", ""))
        found = mirror(repeating.url, tmp_path / "m")
        one, two = (found.path_of(repeating.at(f"/copies/{name}")) for name in ("one", "two"))
        assert one is not None
        assert two is not None
        assert b"something new" in found.read(one)
        assert b"something new" not in found.read(two)
        assert check(found.folder).returncode == 0, check(found.folder).stdout

    def test_a_folder_and_its_index_are_one_file_while_they_have_the_same_bytes(
        self, site: NeedingSite, tmp_path: Path
    ) -> None:
        site.linked = ("/docs/", "/copies/", "/copies/index.php")
        urls = {site.at("/copies/"), site.at("/copies/index.php")}
        for path in ("/copies/", "/copies/index.php"):
            site.file(path, body("copies", ""))
        found = mirror(site.url, tmp_path / "m")
        (kept,) = [url for url in urls if found.path_of(url) is not None]
        (told,) = found.json("duplicates.json")["duplicates"]
        assert told["url"] in urls - {kept}
        assert told["path"] == found.path_of(kept)
        assert check(found.folder).returncode == 0, check(found.folder).stdout
        site.file("/copies/", body("something new", ""))
        found = mirror(site.url, tmp_path / "m")
        paths = {url: str(found.path_of(url)) for url in urls}
        assert b"something new" in found.read(paths[site.at("/copies/")])
        assert b"something new" not in found.read(paths[site.at("/copies/index.php")])
        assert check(found.folder).returncode == 0, check(found.folder).stdout


class TestLearnedRules:
    def test_urls_of_one_page_are_one_file(self, tmp_path: Path) -> None:
        with DynamicSite(RULED) as site:
            found = mirror(site.url, tmp_path / "m")
            assert not site.lost()
            outward = [
                address
                for path in found.pages
                for address in found.addresses(path)
                if address.startswith(site.origins)
            ]
        assert len(found.pages) <= 1.1 * len(site.truth)
        assert outward == [], "of what is here, no link leads to the network"
        assert check(found.folder).returncode == 0, check(found.folder).stdout


class TestStopped:
    def test_a_killed_mirror_goes_on_to_the_same_files(
        self, site: NeedingSite, mirrored: Mirrored, tmp_path: Path
    ) -> None:
        folder, chance = tmp_path / "killed", Random(12)
        for more in (1, 3, 5, 7):
            target = len(site.asked) + more
            process = start_scrapy("mirror", site.url, str(folder))
            wait_until(partial(_has_answered, site, target, process))
            some_moment(chance, 0.5)
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        found = mirror(site.url, folder)
        # Which of two URLs comes first, and has the plain name, is chance.
        assert found.served == mirrored.served
        assert check(folder).returncode == 0, check(folder).stdout

    def test_pages_are_whole_where_the_limit_is_reached(
        self, site: NeedingSite, tmp_path: Path
    ) -> None:
        found = mirror(site.url, tmp_path / "m", "--max-pages", "2")
        assert "not finished" in found.done.stdout
        assert f"{host(site)}/img/pixel.png" in found.files
        assert check(found.folder).returncode == 0, check(found.folder).stdout
        again = mirror(site.url, tmp_path / "m")
        assert f"{host(site)}/docs/folder/inner.html" in again.files


class TestOptions:
    def test_they_hold_until_something_else_is_said(
        self, site: NeedingSite, tmp_path: Path
    ) -> None:
        first = mirror(site.url, tmp_path / "m", "--reject", "pdf")
        assert f"{host(site)}/docs/manual.pdf" not in first.files
        again = Mirrored(first.folder, scrapy("mirror", str(first.folder)))
        assert "as before: --reject pdf" in again.done.stdout
        assert f"{host(site)}/docs/manual.pdf" not in again.files
        third = mirror(site.url, tmp_path / "m", "--reject", "nothing")
        assert f"{host(site)}/docs/manual.pdf" in third.files

    def test_a_limit_of_bytes_stops_it_and_a_larger_one_goes_on(
        self, site: NeedingSite, tmp_path: Path
    ) -> None:
        found = mirror(site.url, tmp_path / "m", "--max-bytes", "3k")
        assert "stopped: the limit of --max-bytes, 3.0 kB, is reached" in found.done.stdout
        first = check(found.folder).stdout.splitlines()[0]
        assert first.startswith(f"{found.folder}: the mirror is not finished, ")
        assert first.endswith(f"queued; this goes on with it: crawl-once mirror {found.folder}")
        asked = len(site.news())
        mirror(site.url, tmp_path / "m", "--max-bytes", "3k")
        assert len(site.news()) <= 2, "it is there already"
        more = mirror(site.url, tmp_path / "m", "--max-bytes", "1M")
        assert len(site.news()) > asked
        assert f"{host(site)}/docs/folder/inner.html" in more.files
        assert check(more.folder).returncode == 0, check(more.folder).stdout

    def test_a_new_archive_holds_pages_that_did_not_change(
        self, site: NeedingSite, mirrored: Mirrored
    ) -> None:
        mirror(site.url, mirrored.folder, "--warc")
        bodies = 0
        for path in (mirrored.folder / "warc").glob("*.warc.gz"):
            with path.open("rb") as stream:
                records = [record.rec_type for record in ArchiveIterator(stream)]
            bodies += records.count("response")
        assert bodies > 10
        assert check(mirrored.folder).returncode == 0
        assert scrapy("mirror", "check", "--deep", str(mirrored.folder)).returncode == 0
        path.unlink()
        done = check(mirrored.folder)
        assert (done.returncode, "lost of the WARC files: 1" in done.stdout) == (1, True)

    def test_a_slip_in_the_url_leaves_the_folder_free(
        self, site: NeedingSite, tmp_path: Path
    ) -> None:
        quick = ("-s", "CRAWL_PAUSE_SECS=0.05")
        wrong = mirror("http://127.0.0.1:1/", tmp_path / "m", *quick, "--warc", status=1)
        assert "connection refused" in wrong.done.stderr
        assert "open " not in wrong.done.stdout
        assert check(wrong.folder).returncode == 1
        found = mirror(site.url, tmp_path / "m")
        assert check(found.folder).returncode == 0, check(found.folder).stdout


def _has_answered(site: NeedingSite, target: int, process: subprocess.Popen[str]) -> bool:
    """Whether a site was asked so often, or the mirror has ended."""
    return len(site.asked) >= target or process.poll() is not None


class LateAnswer:
    """An answer that comes after a signal was sent; whatever came before, it leaves work to do."""

    def __init__(self) -> None:
        self.is_sent = Event()

    def __call__(self, exchange: Exchange) -> None:
        self.is_sent.wait(PATIENCE_SECS)
        exchange.answer(b'<a href="later.html">later</a>')


class TestEnded:
    @pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
    def test_a_mirror_that_is_told_to_end_leaves_whole_links(
        self, site: NeedingSite, tmp_path: Path, sent: signal.Signals
    ) -> None:
        if signal.getsignal(sent) == signal.SIG_IGN:
            pytest.skip(f"{sent.name} is ignored here, as nohup has it")
        folder = tmp_path / "m"
        site.added["/docs/b.html"] = late = LateAnswer()
        process = start_scrapy("mirror", site.url, str(folder))
        wait_until(lambda: "/docs/b.html" in site.paths(), process)
        os.kill(process.pid, sent)
        late.is_sent.set()
        output, errors = process.communicate(timeout=60)
        assert process.returncode == 130, output + errors
        assert "Traceback" not in errors
        assert check(folder).returncode == 0, check(folder).stdout

    def test_nobody_who_reads_is_no_error(self, mirrored: Mirrored) -> None:
        command = f"{sys.executable} -m scrapy mirror check {mirrored.folder} | true"
        done = subprocess.run(
            command, shell=True, cwd=PROJECT, capture_output=True, text=True, check=False
        )
        assert "Traceback" not in done.stderr


class TestWrongArguments:
    def test_a_folder_with_other_files_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "letter.txt").write_text("mine")
        done = scrapy("mirror", "http://127.0.0.1:1/", str(tmp_path))
        assert done.returncode == 2
        assert "holds other files" in done.stderr
