"""A crawl that is recorded: what the archive holds, and what replays it."""

from __future__ import annotations

import gzip
import json
import os
import socket
import subprocess
import sys
import urllib.request
import zipfile
import zlib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from crawler.warc.index_and_pack import finish
from tests.crawler.warc.exchanges import read_all
from tests.crawls.command import crawl, scrapy
from tests.crawls.crawled import exported
from tests.sites.changing import ChangingSite, page
from tests.sites.prose import prose
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crawler.warc.record_reading import WholeRecord
    from tests.sites.exchange import Exchange

RECORDED = ("-s", "WARC_ENABLED=True")
# One after the other: of two that come at the same time either may be judged first.
IN_TURN = ("-s", "CONCURRENT_REQUESTS=1", "-s", "READING_WORKERS=1")
LINKED = (
    "/plain", "/copy", "/near", "/packed", "/chunked", "/old", "/missing", "/noindex",
    "/picture", "/busy", "/latin", "/torn", "/short", "/odd", "/a.zip", "/b.zip",
)  # fmt: skip
TOOLS = os.environ.get("WARC_TOOLS")


def answer_gzipped(exchange: Exchange) -> None:
    body = gzip.compress(page(prose("packed", 200)), mtime=0)
    exchange.answer(body, headers={"Content-Encoding": "gzip"})


def answer_in_chunks(exchange: Exchange) -> None:
    exchange.head(200, {"Content-Type": "text/html", "Transfer-Encoding": "chunked"})
    body = page(prose("chunked", 200))
    for part in (body[:100], body[100:], b""):
        exchange.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
    exchange.wfile.flush()


ODD_HEAD = (
    b"HTTP/1.1 200 Here it is",
    b"server: Odd/1.0",
    b"content-TYPE: text/html",
    b"SET-COOKIE: a=1",
    b"X-Odd: caf\xe9",
    b"Set-Cookie: b=2",
    b"Keep-Alive: timeout=5",
    b"connection: Keep-Alive",
)


asked_oddly: list[bytes] = []
"""Heads of the requests that the odd page got, as they came."""


def answer_oddly(exchange: Exchange) -> None:
    asked = [f"{name}: {value}" for name, value in exchange.headers.items()]
    asked_oddly.append("\r\n".join([exchange.requestline, *asked, "", ""]).encode())
    body = page(prose("odd", 200))
    lines = (*ODD_HEAD, b"content-length: %d" % len(body), b"", body)
    exchange.wfile.write(b"\r\n".join(lines))
    exchange.wfile.flush()


class Busy:
    """An error at first, a page when it is asked for again."""

    def __init__(self) -> None:
        self._asked = 0

    def __call__(self, exchange: Exchange) -> None:
        self._asked += 1
        text = page(prose("busy", 200))
        exchange.answer(
            text if self._asked > 1 else b"<p>busy", status=503 if self._asked == 1 else 200
        )


class Torn:
    """A part, so many times, and then the whole."""

    def __init__(self, text: str, times: int) -> None:
        self._content = page(prose(text, 200))
        self._left = times

    def __call__(self, exchange: Exchange) -> None:
        self._left -= 1
        if self._left < 0:
            exchange.answer(self._content)
            return
        length = str(len(self._content))
        exchange.head(200, {"Content-Type": "text/html", "Content-Length": length})
        exchange.wfile.write(self._content[:700])
        exchange.hang_up()


def furnish(site: ChangingSite) -> None:
    site.put("/plain", "plain")
    site.added["/copy"] = site.added["/plain"]
    site.put("/near", prose("plain", 200) + " It is one o'clock.", etag=False)
    site.added["/packed"] = answer_gzipped
    site.added["/chunked"] = answer_in_chunks
    site.move("/old", "/plain?from=old")
    site.added["/plain?from=old"] = site.added["/plain"]
    site.fail("/missing", 404)
    site.put("/noindex", "hidden", head='<meta name="robots" content="noindex">')
    site.added["/picture"] = lambda exchange: exchange.answer(b"\x89PNG\r\n", "image/png")
    packed = b"PK\x03\x04" + bytes(4_000)
    for name in ("/a.zip", "/b.zip"):  # stopped, as a file, when all of it has come
        site.added[name] = lambda exchange: exchange.answer(packed, "application/octet-stream")
    site.added["/busy"] = Busy()
    site.added["/torn"] = Torn("torn", 1)
    site.added["/short"] = Torn("short", 1000)
    site.added["/odd"] = answer_oddly
    site.added["/latin"] = lambda exchange: exchange.answer(
        page("Été " + prose("latin", 200)).decode().encode("latin-1"),
        "text/html; charset=latin-1",
    )


def items(jobdir: Path) -> dict[str, dict[str, Any]]:
    """What is said of each page, by URL; robots.txt left out, the times too."""
    return {
        url: {name: value for name, value in row.items() if name != "fetched_at"}
        for url, row in exported(jobdir).items()
    }


@dataclass(frozen=True)
class Recorded:
    """A crawl of two visits, and what was recorded of it."""

    site: ChangingSite
    jobdir: Path
    first: dict[str, dict[str, Any]]
    first_records: list[WholeRecord]
    records: list[WholeRecord]

    @property
    def folder(self) -> Path:
        return self.jobdir / "warc"

    def of(self, path: str, kind: str = "response") -> list[WholeRecord]:
        return [
            found
            for found in self.records
            if found.kind == kind and found.url == self.site.at(path)
        ]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recorded]:
    jobdir = tmp_path_factory.mktemp("recorded") / "job"
    with ChangingSite(LINKED) as site:
        furnish(site)
        crawl(site.url, jobdir, *RECORDED, *IN_TURN)
        first, first_records = items(jobdir), read_all(jobdir / "warc")
        first_folder = jobdir.parent / "first"
        first_folder.mkdir()
        for file in (jobdir / "warc").glob("*.warc.gz"):
            os.link(file, first_folder / file.name)
        crawl(site.url, jobdir, *RECORDED, *IN_TURN, "-a", "revisit=yes")
        finish(jobdir / "warc", wacz=True)
        yield Recorded(site, jobdir, first, first_records, read_all(jobdir / "warc"))


def replay(
    word: Path | str, jobdir: Path, *arguments: str, status: int = 0
) -> subprocess.CompletedProcess[str]:
    done = scrapy("crawl", "replay", "-a", f"warc={word}", "-s", f"JOBDIR={jobdir}", *arguments)
    assert done.returncode == status, done.stdout + done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    return done


class TestRecords:
    def test_pass_the_check_of_warcio(self, recorded: Recorded) -> None:
        files = list(map(str, recorded.folder.glob("*.warc.gz")))
        command = [sys.executable, "-m", "warcio.cli", "check", "-v", *files]
        checked = subprocess.run(command, capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stdout + checked.stderr
        assert "digest pass" in checked.stdout
        assert len(files) == 2, "each process begins a file of its own"

    def test_every_request_is_joined_to_its_answer(self, recorded: Recorded) -> None:
        answers = {
            found.field("WARC-Record-ID"): found.url
            for found in recorded.records
            if found.kind in {"response", "revisit"}
        }
        asked = [found for found in recorded.records if found.kind == "request"]
        joined = {found.field("WARC-Concurrent-To"): found.url for found in asked}
        assert joined == answers
        assert len(asked) == len(recorded.site.asked)
        assert all(found.header("Host") for found in asked)

    def test_bodies_are_as_they_were_transferred(self, recorded: Recorded) -> None:
        (packed,) = recorded.of("/packed")
        assert packed.payload == gzip.compress(page(prose("packed", 200)), mtime=0)
        assert packed.header("Content-Encoding") == "gzip"
        (chunked,) = recorded.of("/chunked")
        assert chunked.payload == page(prose("chunked", 200))
        assert chunked.header("Transfer-Encoding") is None
        assert chunked.header("X-Orig-Transfer-Encoding") == "chunked"
        assert chunked.field("WARC-IP-Address") == "127.0.0.1"

    def test_heads_are_as_they_crossed(self, recorded: Recorded) -> None:
        (odd, *_) = recorded.of("/odd")
        (file, *_) = sorted(recorded.folder.glob("*.warc.gz"))
        with file.open("rb") as archive:
            archive.seek(odd.offset)
            answer, rest = gzip.decompress(archive.read(odd.length)), archive.read()
        length = b"content-length: %d" % len(odd.payload or b"")
        assert b"\r\n".join((b"", *ODD_HEAD, length, b"", b"")) in answer
        request = zlib.decompressobj(zlib.MAX_WBITS + 16).decompress(rest)
        assert b"WARC-Type: request" in request
        assert asked_oddly[0] in request

    @pytest.mark.parametrize(
        ("path", "statuses"),
        [("/missing", [404]), ("/old", [301]), ("/busy", [503, 200]), ("/robots.txt", [200])],
    )
    def test_are_of_everything_that_was_answered(
        self, recorded: Recorded, path: str, statuses: list[int]
    ) -> None:
        first = [found.status for found in recorded.of(path)]
        assert first[: len(statuses)] == statuses

    def test_are_of_parts_too_each_time_that_they_came(self, recorded: Recorded) -> None:
        cut = {
            path: [found.field("WARC-Truncated") for found in recorded.of(path)]
            for path in ("/torn", "/short")
        }
        assert cut["/torn"][:2] == ["disconnect", None]
        assert cut["/short"] == ["disconnect"] * 6, "with two retries in each of two visits"

    def test_same_bytes_are_written_once(self, recorded: Recorded) -> None:
        (copy, *_) = recorded.of("/copy", "revisit")
        assert copy.field("WARC-Refers-To-Target-URI") == recorded.site.at("/plain")
        assert not recorded.of("/copy")
        digests = Counter(
            found.field("WARC-Payload-Digest")
            for found in recorded.records
            if found.kind == "response" and found.payload and found.field("WARC-Truncated") is None
        )
        assert max(digests.values()) == 1

    def test_what_was_stopped_after_its_last_byte_is_whole(self, recorded: Recorded) -> None:
        (file,) = recorded.of("/a.zip")
        assert len(file.payload or b"") > 4_000
        assert file.field("WARC-Truncated") is None
        (copy, *_) = recorded.of("/b.zip", "revisit")
        assert copy.field("WARC-Payload-Digest") == file.field("WARC-Payload-Digest")

    def test_what_was_not_sent_again_is_a_revisit(self, recorded: Recorded) -> None:
        (again,) = [
            found
            for found in recorded.of("/plain", "revisit")
            if "server-not-modified" in (found.field("WARC-Profile") or "")
        ]
        (head,) = recorded.of("/plain", "metadata")
        assert b"http-status-line: HTTP/1.1 304 Not Modified" in (head.payload or b"")
        assert again.field("WARC-Refers-To-Target-URI") == recorded.site.at("/plain")

    def test_near_duplicate_names_the_kept_page(self, recorded: Recorded) -> None:
        (note,) = recorded.of("/near", "metadata")
        (answer,) = recorded.of("/near")
        assert note.field("WARC-Concurrent-To") == answer.field("WARC-Record-ID")
        told = dict(line.split(": ", 1) for line in (note.payload or b"").decode().splitlines())
        assert told["verdict"] == "near_duplicate"
        assert told["duplicate-of"] == recorded.site.at("/plain")
        assert int(told["distance"]) <= 8
        assert float(told["similarity"]) > 0.9


class TestPacked:
    def test_lists_kept_pages_with_titles_and_texts(self, recorded: Recorded) -> None:
        kept = {url: row for url, row in items(recorded.jobdir).items() if row["text"]}
        with zipfile.ZipFile(recorded.folder / "warc.wacz") as packed:
            pages = [json.loads(line) for line in packed.read("pages/pages.jsonl").splitlines()]
            others = [
                json.loads(line) for line in packed.read("pages/otherPages.jsonl").splitlines()
            ]
        assert pages[0]["hasText"]
        assert {page["url"]: page["text"] for page in pages[1:]} == {
            url: row["text"] for url, row in kept.items()
        }
        assert {page["title"] for page in pages[1:]} == {row["title"] for row in kept.values()}
        found = {page["url"] for page in others[1:]}
        assert recorded.site.at("/near") in found
        assert not found & set(kept)

    @pytest.mark.skipif(TOOLS is None, reason="WARC_TOOLS names no environment with wacz in it")
    def test_is_valid(self, recorded: Recorded) -> None:
        command = [f"{TOOLS}/wacz", "validate", "-f", str(recorded.folder / "warc.wacz")]
        checked = subprocess.run(command, capture_output=True, text=True, check=False)
        assert "the passed WACZ is valid" in checked.stdout, checked.stdout + checked.stderr

    @pytest.mark.skipif(TOOLS is None, reason="WARC_TOOLS names no environment with wacz in it")
    def test_page_lists_are_those_that_wacz_takes(self, recorded: Recorded, tmp_path: Path) -> None:
        with zipfile.ZipFile(recorded.folder / "warc.wacz") as packed:
            packed.extract("pages/pages.jsonl", tmp_path)
        files = map(str, recorded.folder.glob("*.warc.gz"))
        command = [f"{TOOLS}/wacz", "create", "-o", str(tmp_path / "again.wacz"),
                   "-p", str(tmp_path / "pages" / "pages.jsonl"), *files]  # fmt: skip
        made = subprocess.run(command, capture_output=True, text=True, check=False)
        assert made.returncode == 0, made.stdout + made.stderr
        assert "Invalid passed page" not in made.stdout, made.stdout


class TestReplay:
    def test_gives_what_the_crawl_gave(self, recorded: Recorded, tmp_path: Path) -> None:
        asked = len(recorded.site.asked)
        replay(recorded.jobdir.parent / "first", tmp_path / "job")
        assert items(tmp_path / "job") == recorded.first
        assert len(recorded.site.asked) == asked, "a replay needs no network"

    def test_of_all_visits_finds_the_same_texts(self, recorded: Recorded, tmp_path: Path) -> None:
        done = replay(recorded.folder / "warc.wacz", tmp_path / "job")
        texts = {url: row["text"] for url, row in items(tmp_path / "job").items()}
        assert texts == {url: row["text"] for url, row in items(recorded.jobdir).items()}
        assert "WARNING" not in done.stderr, done.stderr

    def test_again_judges_nothing_again(self, recorded: Recorded, tmp_path: Path) -> None:
        replay(recorded.folder, tmp_path)
        before = items(tmp_path)
        done = replay(recorded.folder, tmp_path)
        assert "what is new in the archive" in done.stdout
        assert items(tmp_path) == before

    def test_with_another_threshold_gives_other_verdicts(
        self, recorded: Recorded, tmp_path: Path
    ) -> None:
        replay(recorded.folder, tmp_path, "-s", "NEARDUP_MIN_SIMILARITY=1")
        assert items(tmp_path)[recorded.site.at("/near")]["verdict"] != "near_duplicate"

    def test_damaged_and_broken_off_files_cost_what_is_damaged(
        self, recorded: Recorded, tmp_path: Path
    ) -> None:
        (first, _) = sorted(recorded.folder.glob("*.warc.gz"))
        data = bytearray(first.read_bytes())
        (hit,) = recorded.of("/plain")
        data[hit.offset + hit.length // 2] ^= 0xFF
        (tmp_path / "damaged.warc.gz").write_bytes(data[:-50])
        done = replay(tmp_path / "damaged.warc.gz", tmp_path / "job", status=1)
        assert f"damaged at byte {hit.offset:,}" in done.stderr
        assert "nothing can be read after it" in done.stderr
        found = items(tmp_path / "job")
        assert recorded.site.at("/plain") not in found
        assert recorded.site.at("/packed") in found

    @pytest.mark.parametrize(
        ("argument", "message"),
        [
            ("warc=", "which archive?"),
            ("warc=none.warc.gz", "none.warc.gz: No such file or directory"),
            ("wrac=x", "did you mean warc?"),
        ],
    )
    def test_bad_argument_is_one_line(self, argument: str, message: str) -> None:
        done = scrapy("crawl", "replay", "-a", argument)
        assert done.returncode == 2
        assert message in done.stderr
        assert len(done.stderr.splitlines()) == 1


@pytest.fixture(scope="module")
def player(recorded: Recorded, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """pywb, in an environment of its own: it pins older versions of what we use."""
    if TOOLS is None:
        pytest.skip("WARC_TOOLS names no environment with pywb in it")
    folder = tmp_path_factory.mktemp("pywb")
    for name, pattern in (("archive", "*.warc.gz"), ("indexes", "*.cdxj")):
        (folder / "collections" / "site" / name).mkdir(parents=True)
        for file in recorded.folder.glob(pattern):
            os.link(file, folder / "collections" / "site" / name / file.name)
    for action in (["init", "own"], ["add", "own", *map(str, recorded.folder.glob("*.warc.gz"))]):
        subprocess.run([f"{TOOLS}/wb-manager", *action], cwd=folder, check=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [f"{TOOLS}/wayback", "-b", "127.0.0.1", "-p", str(port)]
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
    try:
        wait_for_player(port, process, folder / "log")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def wait_for_player(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    def answers() -> bool:
        assert process.poll() is None, log.read_text()
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    wait_until(answers)


@pytest.mark.parametrize("collection", ["site", "own"])
class TestPlayer:
    """With our index (``site``), and with the one that pywb makes of our files (``own``)."""

    @pytest.mark.parametrize("path", ["/plain", "/copy", "/chunked", "/near", "/odd", "/"])
    def test_shows_the_page_that_was_served(
        self, recorded: Recorded, player: str, collection: str, path: str
    ) -> None:
        with urllib.request.urlopen(recorded.site.at(path)) as served:
            wanted = served.read()
        for found in [*recorded.of(path), *recorded.of(path, "revisit")]:
            stamp = "".join(filter(str.isdigit, found.field("WARC-Date") or ""))[:14]
            with urllib.request.urlopen(f"{player}/{collection}/{stamp}id_/{found.url}") as played:
                assert played.read() == wanted, (path, stamp, found.kind)
                assert played.status == 200

    def test_shows_what_was_sent_compressed(
        self, recorded: Recorded, player: str, collection: str
    ) -> None:
        url = f"{player}/{collection}/2026mp_/{recorded.site.at('/packed')}"
        with urllib.request.urlopen(url) as played:
            assert prose("packed", 200)[:100] in played.read().decode()
