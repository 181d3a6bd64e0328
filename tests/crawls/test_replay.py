"""Crawls made of archives of other programs, of HTML files and of JSON lines."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest

from neardup import analyse
from tests.crawler.pages.test_capture import LONG, OTHER, html
from tests.crawler.warc.foreign import answer, asked, record
from tests.crawls.command import pages, scrapy
from tests.crawls.planting import PLANTED, PlantingLogs
from tests.sites.changing import page
from tests.sites.prose import prose

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

COUNT = 3
GOOD = [answer(f"/{number}", page(prose(f"good {number}", 200))) for number in range(COUNT)]
UNCHANGED = answer(
    "/0", b"", "Content-Type: text/html", status="304 Not Modified", WARC_Date="2026-02-01"
)


def replayed(parts: list[bytes], folder: Path) -> subprocess.CompletedProcess[str]:
    archive = folder / "x.warc.gz"
    archive.write_bytes(b"".join(map(gzip.compress, parts)))
    done = scrapy(
        *("crawl", "replay", "-a", f"warc={archive}"),
        *("-s", f"JOBDIR={folder / 'crawl'}", "-s", "READING_WORKERS=1"),
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


@pytest.mark.parametrize(
    ("parts", "status", "said"),
    [
        pytest.param([UNCHANGED], 0, "", id="not modified, and there before"),
        pytest.param(
            [answer("/x", b"", "ETag: x", status="304 Not Modified"), asked("/1", "GET")],
            0, 'left out as no pages: answers "not modified" whose page is not in the archive: 1',
            id="not modified, and not there",
        ),
        pytest.param(
            [answer("/x", b"<p>", WARC_Record_ID="<urn:uuid:7>"),
             asked("/x", "POST", WARC_Concurrent_To="<urn:uuid:7>")],
            0, "answers to HEAD, POST or another method than GET: 1", id="another method",
        ),
        pytest.param(
            [answer("http://[/x", b"<p>")], 1, "bad record at byte 0: http://[/x is no URL",
            id="no URL",
        ),
        pytest.param(
            [answer("http://h.example:99999/", b"<p>")], 1, "Port out of range", id="no port"
        ),
        pytest.param(
            [record("revisit", b"", WARC_Target_URI="http://example.org/x")],
            1, "what it repeats is not in the archive", id="a revisit of nothing",
        ),
        pytest.param(
            [answer("/x", b"<p>", Content_Length="1" * 30)], 1, "damaged at byte 0", id="a length"
        ),
    ],
)  # fmt: skip
def test_all_good_pages_come_and_the_status_says_whether_others_are_missing(
    tmp_path: Path, parts: list[bytes], status: int, said: str
) -> None:
    done = replayed([*parts, *GOOD], tmp_path)
    assert done.returncode == status, done.stderr
    assert said in done.stderr
    assert ("1 place of the archive could not be read" in done.stderr) is bool(status)
    urls = [each["url"] for each in pages(tmp_path / "crawl") if each["text"]]
    assert urls == [f"http://example.org/{number}" for number in range(COUNT)]


def test_an_error_in_judging_a_page_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PLANTED, "crawler.spiders.replay:ReplaySpider:_response")
    (tmp_path / "x.warc").write_bytes(b"".join(GOOD))
    done = scrapy(
        *("crawl", "replay", "-a", f"warc={tmp_path}", "-s", f"JOBDIR={tmp_path / 'crawl'}"),
        *("-s", f"LOG_FORMATTER={PlantingLogs.__module__}.PlantingLogs"),
    )
    assert done.returncode == 1
    assert "/0 could not be judged: planted" in done.stderr
    assert f"{COUNT} places of the archive could not be read" in done.stderr


def write(file: Path, *rows: Any) -> Path:
    content = "".join(json.dumps(row) + "\n" for row in rows).encode()
    file.write_bytes(gzip.compress(content) if file.suffix == ".gz" else content)
    return file


def replay(source: Path, jobdir: Path) -> subprocess.CompletedProcess[str]:
    return scrapy("crawl", "replay", "-a", f"warc={source}", "-s", f"JOBDIR={jobdir}")


def test_each_line_is_a_page(tmp_path: Path) -> None:
    page = html(prose("page", 100), "A title").decode()
    file = write(
        tmp_path / "PAGES.JL.gz",
        {"url": "http://example.com/a", "title": "A", "text": LONG},
        {"url": "http://example.com/a#part", "text": OTHER},  # one passage of several
        {"url": "no URL", "text": "\ud800 half"},
        {"text": ""},
        {"url": "http://example.com/h", "html": page, "title": "its own counts"},
        {"url": "http://example.com/copy", "html": page},
        {"url": "http://example.com/t", "html": "<p>No title of its own.", "title": "T & <x>"},
        {"html": "<meta name=robots content=noindex><p>mine"},
        {"url": "http://example.com/none", "text": None},
    )
    file.rename(tmp_path / "pages.jsonl.gz")
    done = replay(tmp_path / "pages.jsonl.gz", tmp_path / "job")
    assert done.returncode == 0, done.stderr
    assert "lines without text or html: 1" in done.stderr
    place = (tmp_path / "pages.jsonl.gz").as_uri()
    found = {page["url"]: page for page in pages(tmp_path / "job")}
    assert {url: page["verdict"] for url, page in found.items()} == {
        "http://example.com/a": "new",
        f"{place}#2": "new",
        "no URL": "too_short",
        f"{place}#4": "too_short",
        "http://example.com/h": "new",
        "http://example.com/copy": "exact_duplicate",
        "http://example.com/t": "too_short",
        f"{place}#8": "noindex",
    }
    first = found["http://example.com/a"]
    assert (first["title"], first["text"]) == ("A", LONG)
    assert first["words"] == analyse(LONG).words
    assert found["no URL"]["text"] == "? half"
    assert found["http://example.com/h"]["title"] == "A title"
    assert found["http://example.com/t"]["title"] == "T & <x>"


def test_lines_that_are_added_are_judged_by_the_same_command(tmp_path: Path) -> None:
    rows = [{"text": LONG}, {"url": "http://example.com/b", "text": OTHER}]
    file, jobdir = tmp_path / "pages.jsonl", tmp_path / "job"
    replay(write(file, *rows), jobdir)
    done = replay(write(file, *rows, rows[1], {"text": LONG}), jobdir)
    assert done.returncode == 0, done.stderr
    found = pages(jobdir)
    assert [(page["url"].rpartition("/")[2], page["verdict"]) for page in found] == [
        ("pages.jsonl#1", "new"),
        ("b", "new"),
        ("pages.jsonl#3", "exact_duplicate"),
        ("pages.jsonl#4", "exact_duplicate"),
    ]


def test_each_html_file_of_a_folder_is_a_page(tmp_path: Path) -> None:
    saved = tmp_path / "saved site"
    (saved / "below").mkdir(parents=True)
    (saved / ".git").mkdir()
    polish = f"<meta charset=iso-8859-2><title>Łódź</title><p>{'żółw ' * 60}"
    (saved / "a.html").write_bytes(polish.encode("iso-8859-2"))
    (saved / "below" / "B.HTM").write_bytes(html(OTHER, "Second"))
    (saved / "below" / "c.html?view=1").write_bytes(html(OTHER, "Second"))
    (saved / ".git" / "hidden.html").write_bytes(html(LONG, "Hidden"))
    (saved / "gone.html").symlink_to(saved / "nowhere")
    (saved / "style.css").write_text("html {}")
    with (saved / "huge.html").open("wb") as file:
        file.truncate(2**25 + 1)
    done = replay(saved, tmp_path / "job")
    assert done.returncode == 1, done.stderr
    assert "gone.html: no file, or a link that leads nowhere" in done.stderr
    assert "huge.html: larger than 32 MiB" in done.stderr
    (saved / "aa.html").write_bytes(html(LONG, "Added"))
    assert replay(saved, tmp_path / "job").returncode == 1
    found = {page["url"]: (page["title"], page["verdict"]) for page in pages(tmp_path / "job")}
    assert found == {
        (saved / "a.html").as_uri(): ("Łódź", "new"),
        (saved / "aa.html").as_uri(): ("Added", "new"),
        (saved / "below" / "B.HTM").as_uri(): ("Second", "new"),
        (saved / "below" / "c.html?view=1").as_uri(): ("Second", "exact_duplicate"),
    }


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b'{"url": "u"}\n', 'row 1: a field "text" or "html" expected, there are url'),
        (b'{"text": "a"}\n{"text": 7}\n', 'row 2: field "text" must be a text'),
        (b'{"text": "a"}\nno\n', "row 2: a line that is no JSON"),
        (gzip.compress(b'{"text": "a"}\n' * 9, mtime=0)[:-9], "damaged: "),
    ],
)
def test_bad_line_is_named(tmp_path: Path, content: bytes, complaint: str) -> None:
    file = tmp_path / f"pages.jsonl{'.gz' if content[:1] == bytes([31]) else ''}"
    file.write_bytes(content)
    done = scrapy("sweep", str(file))
    assert done.returncode == 2
    assert complaint in done.stderr
    assert done.stderr.endswith("no crawl could be made of it, see above\n")


@pytest.mark.parametrize(
    ("named", "complaint"),
    [
        ("empty", "empty: no WARC files and no HTML files in it"),
        ("nowhere.jsonl", "nowhere.jsonl: No such file or directory"),
        ("a.jsonl,b.warc", "archives and other files cannot be replayed together"),
    ],
)
def test_what_holds_no_pages_is_refused(tmp_path: Path, named: str, complaint: str) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("a.jsonl", "b.warc"):
        (tmp_path / name).touch()
    source = ",".join(str(tmp_path / name) for name in named.split(","))
    done = scrapy("crawl", "replay", "-a", f"warc={source}", "-s", f"JOBDIR={tmp_path / 'job'}")
    assert done.returncode == 2
    assert complaint in done.stderr


def test_another_file_with_one_text_at_many_known_urls_is_judged_to_its_end(tmp_path: Path) -> None:
    urls = [f"http://example.com/{number}" for number in range(9)]
    last = {"url": "http://example.com/last", "text": LONG}
    first = [{"url": url, "text": prose(url, 100)} for url in urls]
    second = [{"url": url, "text": OTHER} for url in urls]
    for name, rows in (("first.jsonl", first), ("second.jsonl", second)):
        done = replay(write(tmp_path / name, *rows, last), tmp_path / "job")
        assert done.returncode == 0, done.stderr
    found = {page["url"]: page["text"] for page in pages(tmp_path / "job")}
    assert found.keys() == {*urls, last["url"]}
    assert {found[url] for url in urls} == {OTHER, None}, "copies have no text of their own"
