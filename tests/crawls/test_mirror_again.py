"""``crawl-once mirror`` once more, after something went wrong on the site, or on the disk."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.crawls.command import scrapy
from tests.crawls.mirrored import check, host, mirror
from tests.sites.changing import ChangingSite
from tests.sites.needing import PIXEL, NeedingSite, body

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.sites.exchange import Exchange

XHTML = (
    b'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/>'
    b'<script src="/script.js"/></head><body><p>It is read.</p></body></html>'
)
FAST = ("-s", "CRAWL_PAUSE_SECS=0.05")


@pytest.fixture
def site() -> Iterator[NeedingSite]:
    with NeedingSite() as served:
        yield served


def assert_whole(folder: Path) -> None:
    done = check(folder)
    assert done.returncode == 0, done.stdout


class TestPartsOfPages:
    def test_a_part_takes_no_whole_files_place(self, site: NeedingSite, tmp_path: Path) -> None:
        path = f"{host(site)}/docs/b.html"
        before = mirror(site.url, tmp_path / "m").read(path)
        cut(site, "/docs/b.html", body("b anew", "more"), tag='"2"')
        found = mirror(site.url, tmp_path / "m", *FAST)
        assert found.read(path) == before
        assert_whole(found.folder)


class TestDamage:
    def test_a_missing_file_of_what_is_now_something_else(
        self, site: NeedingSite, tmp_path: Path
    ) -> None:
        found = mirror(site.url, tmp_path / "m")
        (found.folder / host(site) / "docs" / "folder" / "inner.html").unlink()
        site.file("/docs/folder/inner", b"%PDF-1.4 a paper now", "application/pdf")
        again = mirror(site.url, found.folder)
        assert "written again" not in again.done.stdout
        assert f"{host(site)}/docs/folder/inner.pdf" in again.files
        assert_whole(found.folder)

    def test_one_file_of_several_names_that_was_written_over(
        self, site: NeedingSite, tmp_path: Path
    ) -> None:
        found = mirror(site.url, tmp_path / "m")
        path = found.folder / host(site) / "img" / "pixel.png"
        with path.open("r+b") as file:
            file.write(b"BAD")
        again = mirror(site.url, found.folder)
        assert "written again: missing or changed on the disk" in again.done.stdout
        assert path.read_bytes() == PIXEL
        assert_whole(found.folder)

    def test_a_file_that_was_removed_is_told(self, site: NeedingSite, tmp_path: Path) -> None:
        found = mirror(site.url, tmp_path / "m")
        (found.folder / host(site) / "docs" / "b.html").unlink()
        told = mirror(site.url, found.folder).done.stdout.splitlines()
        assert "1 file was written again: missing or changed on the disk" in told
        assert_whole(found.folder)

    def test_the_way_in_is_made_again(self, site: NeedingSite, tmp_path: Path) -> None:
        found = mirror(site.url, tmp_path / "m")
        (found.folder / "index.html").unlink()
        mirror(site.url, found.folder)
        assert_whole(found.folder)


class TestGone:
    def test_files_stay_until_they_are_to_be_removed(
        self, site: NeedingSite, tmp_path: Path
    ) -> None:
        path = f"{host(site)}/docs/b.html"
        page = site.added.get("/docs/b.html")
        before = mirror(site.url, tmp_path / "m")
        files = {name: before.read(name) for name in before.files}
        links = [name for name, content in files.items() if b"b.html" in content]
        site.fail("/docs/b.html", 410)
        kept = mirror(site.url, tmp_path / "m")
        assert "1 file is gone from the site and kept; --gone remove takes" in kept.done.stdout
        assert path in kept.files
        assert_whole(kept.folder)

        removed = mirror(site.url, tmp_path / "m", "--gone", "remove")
        assert "1 file removed: gone from the site" in removed.done.stdout
        assert set(files) - removed.files == {path}
        at = f"{site.origin}/docs/b.html".encode()
        assert any(at in removed.read(name) for name in links if name != path)
        assert_whole(removed.folder)
        assert "gone from the site" not in mirror(site.url, tmp_path / "m").done.stdout

        assert page is not None
        site.added["/docs/b.html"] = page
        again = mirror(site.url, tmp_path / "m")
        assert again.read(path) == files[path], "it is there again, and so is its file"
        assert_whole(again.folder)

    def test_a_site_that_lost_half_of_its_pages_takes_none(self, tmp_path: Path) -> None:
        with ChangingSite() as site:
            site.put("/", "home", ["/a", "/b", "/c"])
            for name in ("/a", "/b", "/c"):
                site.put(name, name[1:])
            mirror(site.url, tmp_path / "m", "--gone", "remove")
            site.fail("/a", 404)
            site.fail("/b", 404)
            found = mirror(site.url, tmp_path / "m")
        assert "2 files are gone from the site, half of all or more, and kept" in found.done.stdout
        assert len([name for name in found.files if name.endswith(("a.html", "b.html"))]) == 2
        assert_whole(found.folder)


class TestOtherAnswers:
    def test_a_seed_that_leads_elsewhere_now(self, site: NeedingSite, tmp_path: Path) -> None:
        site.move("/home", "/docs/")
        mirror(site.at("/home"), tmp_path / "m", "--scope", "host")
        site.file("/new/", body("a new home", '<a href="/docs/">old</a>'))
        for target, folder in (("/new/", "new"), ("/docs/", "docs")):
            site.move("/home", target)
            found = mirror(site.at("/home"), tmp_path / "m", "--scope", "host")
            refresh = f"1; url={host(site)}/{folder}/index.html"
            assert refresh.encode() in found.read("index.html")
            assert_whole(found.folder)

    def test_the_same_bytes_in_another_encoding(self, site: NeedingSite, tmp_path: Path) -> None:
        content = b"<html><head><title>x</title><body>\xe9 <a href=./>up</a>"
        for encoding in ("iso-8859-2", "iso-8859-5"):
            site.file("/docs/b.html", content, f"text/html; charset={encoding}")
            found = mirror(site.url, tmp_path / "m")
            # docs/B.html, which differs by case alone, may have come first and have this name.
            (path,) = (name for name in found.files if f"{host(site)}/docs/b" in name)
            assert encoding.encode() in found.read(path)
        assert_whole(found.folder)

    def test_a_copy_of_which_the_original_changed_and_that_gave_no_answer(
        self, site: NeedingSite, tmp_path: Path
    ) -> None:
        # The folder is met first, so that its index is the copy.
        site.linked = ("/docs/", "/copies/")
        for name in ("", "index.php"):
            site.file(f"/copies/{name}", body("copy", '<a href="index.php">index</a>'))
        mirror(site.url, tmp_path / "m", *FAST)
        site.file("/copies/", body("something else", '<a href="index.php">index</a>'))
        site.fail("/copies/index.php", 500)
        found = mirror(site.url, tmp_path / "m", *FAST)
        assert found.path_of(site.at("/copies/index.php")) is None
        path = str(found.path_of(site.at("/copies/")))
        assert found.addresses(path) == [site.at("/copies/index.php")]
        assert_whole(found.folder)


def test_a_mirror_of_another_version_is_refused_in_a_line(
    site: NeedingSite, tmp_path: Path
) -> None:
    folder = mirror(site.url, tmp_path / "m").folder
    with closing(sqlite3.connect(folder / ".mirror" / "crawl.db")) as database, database:
        database.execute("UPDATE meta SET value = 10 WHERE name = 'schema_version'")
    for arguments in ((str(folder),), (site.url, str(folder)), ("check", str(folder))):
        done = scrapy("mirror", *arguments)
        assert done.returncode == 2
        assert "expected, got 10" in done.stderr
        assert len(done.stderr.splitlines()) == 1, done.stderr


class TestNamesAndKinds:
    def test_a_style_that_is_served_as_text(self, site: NeedingSite, tmp_path: Path) -> None:
        site.linked = ("/plain/",)
        site.file("/plain/", body("plain", "", '<link rel=stylesheet href="look.css">'))
        site.file("/plain/look.css", b"p{background:url(only.png)}", "text/plain")
        site.file("/plain/only.png", PIXEL + b"1", "image/png")
        assert_whole(mirror(site.url, tmp_path / "m").folder)

    def test_what_is_written_as_xml_is_named_so(self, site: NeedingSite, tmp_path: Path) -> None:
        site.linked = ("/x/page",)
        site.file("/x/page", XHTML, "application/xhtml+xml")
        found = mirror(site.url, tmp_path / "m")
        assert f"{host(site)}/x/page.xhtml" in found.files
        assert_whole(found.folder)


class TestWhereRequisitesComeFrom:
    def test_a_seed_that_leads_to_another_host_brings_what_its_pages_need(
        self, site: NeedingSite, tmp_path: Path
    ) -> None:
        with NeedingSite() as other:
            site.move("/home", other.at("/docs/"))
            for _ in range(2):
                found = mirror(site.at("/home"), tmp_path / "m")
                assert f"{host(other)}/style/more.css" in found.files
                assert f"{host(other)}/img/font.woff2" in found.files
                assert_whole(found.folder)

    def test_hosts_of_the_domain_are_the_sites(self, site: NeedingSite, tmp_path: Path) -> None:
        with NeedingSite() as other:
            site.linked = (other.at("/docs/"),)
            found = mirror(site.url, tmp_path / "m", "--scope", "domain")
            assert f"{host(other)}/img/pixel.png" in found.files

    def test_an_image_may_move_out_of_the_folder_as_it_may_lie_there(
        self, site: NeedingSite, tmp_path: Path
    ) -> None:
        site.file("/docs/", body("start", '<img src="i.png">'))
        site.file("/docs/i.png", PIXEL + b"1", "image/png")
        mirror(site.at("/docs/"), tmp_path / "m")
        site.file("/img/new.png", PIXEL + b"2", "image/png")
        site.move("/docs/i.png", "/img/new.png")
        found = mirror(site.at("/docs/"), tmp_path / "m")
        assert f"{host(site)}/img/new.png" in found.targets(f"{host(site)}/docs/index.html")
        assert_whole(found.folder)

    def test_it_is_told_where_one_moved_to_a_host_of_which_nothing_is_taken(
        self, site: NeedingSite, tmp_path: Path
    ) -> None:
        with NeedingSite() as other:
            site.move("/img/small.png", other.at("/img/small.png"))
            found = mirror(site.url, tmp_path / "m")
        assert "redirected out of the scope" in found.done.stdout
        assert_whole(found.folder)


def test_sitemaps_are_left_out_until_they_are_wanted_again(
    site: NeedingSite, tmp_path: Path
) -> None:
    site.robots_txt = f"User-agent: *\nAllow: /\nSitemap: {site.at('/pages.txt')}\n"
    site.file("/pages.txt", site.at("/lonely.html").encode(), "text/plain")
    site.file("/lonely.html", body("lonely", ""))
    lonely = f"{host(site)}/lonely.html"
    assert lonely not in mirror(site.url, tmp_path / "m", "--no-sitemaps").files
    again = mirror(site.url, tmp_path / "m")
    assert "as before: --no-sitemaps" in again.done.stdout
    assert lonely not in again.files
    assert lonely in mirror(site.url, tmp_path / "m", "--sitemaps").files
    assert lonely in mirror(site.url, tmp_path / "m").files
    assert_whole(tmp_path / "m")


def test_frames_in_frames_without_an_end_are_bounded_as_pages_are(
    site: NeedingSite, tmp_path: Path
) -> None:
    site.linked = ("/frames/0",)
    for number in range(100):
        site.added[f"/frames/{number}"] = frame_in_frame
    for limit in (("--max-pages", "2"), ("--max-depth", "1")):
        site.news()
        found = mirror(site.url, tmp_path / limit[0], *limit)
        assert f"{host(site)}/frames/1.html" in found.files, "a page is whole"
        assert len(site.news()) < 20
        assert_whole(found.folder)


def frame_in_frame(exchange: Exchange) -> None:
    number = int(exchange.path.rpartition("/")[2])
    exchange.answer(body(f"frame {number}", f'<iframe src="/frames/{number + 1}"></iframe>'))


def cut(site: NeedingSite, path: str, content: bytes, tag: str) -> None:
    """Send half of something from now on, and hang up."""

    def serve(exchange: Exchange) -> None:
        if exchange.headers.get("if-none-match") == tag:
            exchange.head(304, {"ETag": tag})
            return
        length = {"Content-Type": "text/html", "Content-Length": str(len(content))}
        exchange.head(200, {"ETag": tag, **length})
        exchange.wfile.write(content[: len(content) // 2])
        exchange.wfile.flush()
        exchange.hang_up()

    site.added[path] = serve
