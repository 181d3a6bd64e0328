"""Links that look like files: pages are kept, the others cost no more than a look."""

from __future__ import annotations

import json
import signal
from collections import Counter
from contextlib import suppress
from functools import partial
from io import BytesIO
from threading import Event
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast
from zipfile import ZipFile

from crawler.url_rules.kinds import PAGE_OF_FILE
from crawler.urls.canonical import Canonicalizer
from tests.crawler.reading.documents.made import pdf
from tests.crawls.command import scrapy, start_scrapy
from tests.crawls.crawled import crawl_site
from tests.crawls.fleet import Fleet, end
from tests.crawls.mirrored import check, mirror
from tests.crawls.test_documents import pages_of, word
from tests.sites.hostile import HostileSite
from tests.sites.prose import prose
from tests.waiting import wait_until

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from tests.sites.exchange import Exchange

SIZE = 8 << 20


def page(seed: str, *links: str) -> Callable[[Exchange], None]:
    anchors = "".join(f'<a href="{link}">on</a> ' for link in links)
    body = f"<main><p>{prose(seed, 200)}</p></main>{anchors}"
    return lambda exchange: exchange.answer(f"<html><body>{body}</body></html>".encode())


def file(content_type: str, sent: list[int]) -> Callable[[Exchange], None]:
    """A large file, and how much of it was taken."""

    def play(exchange: Exchange) -> None:
        exchange.head(200, {"Content-Type": content_type, "Content-Length": str(SIZE)})
        sent.append(0)
        try:
            for _ in range(SIZE >> 16):
                exchange.wfile.write(b"\x01" * (1 << 16))
                sent[-1] += 1 << 16
        except OSError:
            exchange.close_connection = True

    return play


def test_pages_that_end_like_files_are_kept(tmp_path: Path) -> None:
    pages = ("/wiki/Node.js", "/wiki/File:Boat.jpg", "/pool/tool.deb", "/wiki/a.b.mp3")
    with HostileSite(linked=pages) as site:
        site.added = {path: page(path) for path in pages}
        found = crawl_site(site, tmp_path)
    assert found.kept == {"/", *pages}


def test_files_are_not_taken_whole(tmp_path: Path) -> None:
    sent: list[int] = []
    files = {"/a.jpg": "image/jpeg", "/b.iso": "application/octet-stream", "/c.pdf": "text/plain"}
    with HostileSite(linked=tuple(files)) as site:
        site.added = {path: file(kind, sent) for path, kind in files.items()}
        found = crawl_site(site, tmp_path)
    assert {path: found.rows[path]["verdict"] for path in files} == dict.fromkeys(files, "not_html")
    # What the system takes in advance is not known; the whole is not taken.
    assert len(sent) == len(files)
    assert max(sent) < SIZE


STREAMS = {
    "/listen/1": "audio/mpeg",
    "/listen/2": "Text/Event-Stream; charset=utf-8",
    "/listen/3": "multipart/x-mixed-replace;boundary=frame",
    "/listen/4": "VIDEO/MP2T",
    "/listen/5": "application/ogg",
    "/listen/6": "application/octet-stream",
}


def stream(content_type: str) -> Callable[[Exchange], None]:
    """An answer without end, in chunks of no declared length."""

    def play(exchange: Exchange) -> None:
        exchange.head(200, {"Content-Type": content_type, "Connection": "close"})
        with suppress(OSError):
            while not exchange.stage.closing.wait(0.01):
                exchange.wfile.write(b"\xff\xfb\x90\0" * 300)
        exchange.close_connection = True

    return play


def test_what_the_head_says_is_no_page_is_stopped_there_whatever_its_url(tmp_path: Path) -> None:
    """The time is short, so that waiting for the end of a stream would be a failure."""
    sent: list[int] = []
    types = "application/zip", "video/mp4", "image/jpeg", "application/octet-stream"
    files = {f"/get/{number}?id={number}": kind for number, kind in enumerate(types)}
    documents = {
        "/get/docx?id=1": "application/zip",
        "/get/docx/2?id=2": "application/msword",
        "/get/docx/3": "Application/Force-Download",
        "/get/pdf": "application/octet-stream",
        "/get/pdf/2": "application/x-download; name=a.pdf",
        "/get/pdf/3": "image/pdf",
    }
    with HostileSite() as site:
        site.linked = ("/go", *STREAMS, *files, *documents, "/plain/1")
        site.added = {path: stream(kind) for path, kind in STREAMS.items()}
        site.added |= {path.partition("?")[0]: file(kind, sent) for path, kind in files.items()}
        site.added["/go"] = lambda exchange: exchange.redirect("/listen/1")
        for path, kind in documents.items():
            body = document_of(path)
            site.added[path.partition("?")[0]] = partial(_answer, body, kind)
        found = crawl_site(site, tmp_path, "-s", "DOWNLOAD_TIMEOUT=9")
    gone = {*STREAMS, *files}
    assert {path: found.rows[path]["verdict"] for path in gone} == dict.fromkeys(gone, "not_html")
    assert found.kept == {"/", "/plain/1", *documents}
    assert (found.report.failed, found.report.rested) == (0, ())
    assert Counter(found.asked).most_common(1)[0][1] == 1
    assert max(sent) < SIZE


def _answer(body: bytes, content_type: str, exchange: Exchange) -> None:
    exchange.answer(body, content_type)


def document_of(path: str) -> bytes:
    """A large PDF, or a large Word document whose first entry is none of the usual ones."""
    if path.startswith("/get/pdf"):
        return pdf(pages_of(prose(path, 20_000)))
    made = BytesIO()
    with ZipFile(BytesIO(word(prose(path, 200)))) as plain, ZipFile(made, "w") as other:
        other.writestr("customXml/item9.xml", bytes(2**17))
        for name in plain.namelist():
            other.writestr(name, plain.read(name))
    return made.getvalue()


def test_a_mirror_has_files_and_no_streams(tmp_path: Path) -> None:
    with HostileSite() as site:
        endless = {path: STREAMS[path] for path in ("/listen/2", "/listen/3")}
        site.linked = (*endless, "/get", "/plain/1")
        site.added = {path: stream(kind) for path, kind in endless.items()}
        picture = b"\xff\xd8\xff" + bytes(2**17)
        site.added["/get"] = partial(_answer, picture, "image/jpeg")
        mirrored = mirror(site.url, tmp_path)
        assert Counter(site.paths()).most_common(1)[0][1] == 1
        path = mirrored.path_of(site.at("/get"))
    assert path is not None
    assert mirrored.read(path) == picture
    assert [mirrored.path_of(site.at(path)) for path in endless] == [None, None]
    assert check(tmp_path).returncode == 0


def gallery(site: HostileSite, *, pages: tuple[int, ...] = ()) -> set[str]:
    """Images of one folder, a few of which are pages about the image; their paths."""
    images = [f"/img/{number}.jpg" for number in range(400)]
    site.linked = ("/gallery",)
    site.added = {"/gallery": page("gallery", *images)}
    for number, path in enumerate(images):
        played = page(path) if number in pages else _image
        site.added[path] = played
    return set(images)


def _image(exchange: Exchange) -> None:
    exchange.answer(b"\xff\xd8\xff", "image/jpeg")


def test_many_files_of_a_kind_are_put_aside_and_counted(tmp_path: Path) -> None:
    with HostileSite() as site:
        images = gallery(site)
        found = crawl_site(site, tmp_path)
        again = crawl_site(site, tmp_path, "-a", "revisit=yes")
    asked = images & set(found.asked)
    assert PAGE_OF_FILE.enough <= len(asked) < 200
    assert found.report.file_links == {"jpg": len(images) - len(asked)}
    assert again.report.file_links == found.report.file_links


def test_one_page_among_files_brings_all_back(tmp_path: Path) -> None:
    """It is found late: of those that are asked for first none is a page."""
    with HostileSite() as site:
        images = gallery(site, pages=tuple(range(PAGE_OF_FILE.enough, 400)))
        found = crawl_site(site, tmp_path)
    assert images <= set(found.asked)
    assert len(found.kept & images) == 400 - PAGE_OF_FILE.enough
    assert found.report.file_links == {}


def asked_first(site: HostileSite, images: set[str]) -> set[str]:
    """Images that are asked for while none was seen to be a page."""
    key = Canonicalizer().key
    sampled = {
        one
        for one in images
        if int.from_bytes(key(site.at(one))[:4]) % PAGE_OF_FILE.sampled_of == 0
    }
    return sampled | {f"/img/{number}.jpg" for number in range(PAGE_OF_FILE.enough)}


def held_back(answer: Callable[[Exchange], None], release: Event) -> Callable[[Exchange], None]:
    def play(exchange: Exchange) -> None:
        release.wait(60)
        answer(exchange)

    return play


def test_a_crawl_that_is_stopped_before_it_takes_links_back_asks_for_them_when_it_goes_on(
    tmp_path: Path,
) -> None:
    release = Event()
    with HostileSite() as site:
        images = gallery(site, pages=tuple(range(PAGE_OF_FILE.enough, 400)))
        first = asked_first(site, images)
        site.added["/img/0.jpg"] = held_back(_image, release)
        process = start_scrapy("crawl", "site", "-a", f"url={site.url}", "-s", f"JOBDIR={tmp_path}")
        try:
            wait_until(lambda: first <= set(site.paths()))
            process.send_signal(signal.SIGINT)
            wait_for_line(process, "Ctrl-C again ends at once")
        finally:
            release.set()
            output, _ = process.communicate(timeout=120)
        left = len(images - set(site.paths()))
        assert left > 100
        assert f"files: {left} links still to be asked for: others of their kind" in output
        assert f"not finished, {left} links still to ask for: the same command goes on" in output
        gallery_url = site.at("/gallery")
        other = scrapy("crawl", "site", "-a", f"url={gallery_url}", "-s", f"JOBDIR={tmp_path}")
        assert "in the middle of another crawl" in other.stderr
        found = crawl_site(site, tmp_path)
    assert "going on" in found.done.stdout.splitlines()[0]
    assert images <= set(found.asked)
    assert len(found.kept & images) == 400 - PAGE_OF_FILE.enough
    assert found.report.file_links == found.report.file_links_to_ask == {}


def wait_for_line(process: subprocess.Popen[str], words: str) -> None:
    """Read what a process logs until it says something."""
    assert process.stderr is not None
    assert any(words in line for line in process.stderr)


def test_a_fleet_loses_no_link_of_a_worker_that_is_killed(redis_url: str, tmp_path: Path) -> None:
    release = Event()
    with HostileSite() as site:
        images = gallery(site, pages=tuple(range(PAGE_OF_FILE.enough, 400)))
        site.added["/img/0.jpg"] = held_back(_image, release)
        fleet = Fleet(cast("Any", SimpleNamespace(seeds=site.url)), redis_url, tmp_path)
        killed = fleet.start(1)
        try:
            wait_until(lambda: requests_done(redis_url) > 20)  # the gallery is acknowledged
        finally:
            end(killed)
            release.set()
        fleet.crawl_into(2)
        assert images <= set(site.paths())


def requests_done(redis_url: str) -> int:
    done = scrapy("fleet", redis_url, "--json")
    return int(json.loads(done.stdout)["counts"]["done"]) if done.stdout.strip() else 0


def test_what_a_sitemap_lists_is_treated_alike(tmp_path: Path) -> None:
    with HostileSite("Sitemap: /map\n", linked=()) as site:
        listed = [site.at(path) for path in ("/wiki/Node.js", "/wiki/real.jpg")]

        def sitemap(exchange: Exchange) -> None:
            exchange.answer("\n".join(listed).encode(), "text/plain")

        site.added = {"/map": sitemap, "/wiki/Node.js": page("node"), "/wiki/real.jpg": _image}
        found = crawl_site(site, tmp_path)
    assert found.kept == {"/", "/wiki/Node.js"}
    assert found.rows["/wiki/real.jpg"]["verdict"] == "not_html"
