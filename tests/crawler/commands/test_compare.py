"""``crawl-once compare`` as a user runs it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from crawler.demo import DemoServer
from tests.crawler.commands.in_process import run
from tests.crawler.commands.lab_crawl import BASE, edited, make_lab_crawl
from tests.crawler.pages.test_capture import html
from tests.crawler.reading.documents.made import Placed, epub, packed, pdf
from tests.crawls.command import scrapy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_lab_crawl(tmp_path_factory.mktemp("compare") / "job")


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """The same edit, once in HTML and once in plain text."""
    (tmp_path / "a.html").write_bytes(html(edited(), "A title"))
    (tmp_path / "b.txt").write_text(f"A title\n{edited(100)}")
    return str(tmp_path / "a.html"), str(tmp_path / "b.txt")


@pytest.fixture
def site() -> Iterator[DemoServer]:
    with DemoServer() as server:
        yield server


def compare(*arguments: str) -> dict[str, Any]:
    done = run("compare", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    loaded: dict[str, Any] = json.loads(done.stdout)
    return loaded


def test_files_are_compared_under_every_measure(files: tuple[str, str]) -> None:
    done = run("compare", *files)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == f"A  {files[0]}  A title"
    words = [line.split()[0] for line in lines if line]
    for word in ("distance", "similarity", "estimated", "containment", "cosine", "verdict"):
        assert word in words
    assert f"[-{edited().split()[100]}-] {{+changed+}}" in done.stdout
    assert "\x1b" not in done.stdout


def test_bits_that_differ_are_marked(files: tuple[str, str]) -> None:
    lines = run("compare", *files).stdout.splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith("  A  "))
    first, second, marks = (line[5:].ljust(71) for line in lines[start : start + 3])
    assert len(first.replace(" ", "")) == 64
    assert [one != other for one, other in zip(first, second, strict=True)] == [
        mark == "^" for mark in marks
    ]
    assert f"distance      {marks.count('^')} of 64 bits" in "\n".join(lines)


def test_json_holds_it_all(files: tuple[str, str]) -> None:
    found = compare(*files)
    assert found["first"]["name"] == files[0]
    assert found["distance"] == len(found["differing_bits"])
    assert found["verdict"] == "near_duplicate"
    assert [at["max_distance"] for at in found["verdicts"]] == list(range(9))
    alone = [at["alone"] for at in found["verdicts"]]
    assert alone == ["new"] * found["distance"] + ["near_duplicate"] * (9 - found["distance"])
    assert "{+changed+}" in found["diff"]


def test_words_of_the_shown_texts_are_compared_on_demand(tmp_path: Path) -> None:
    files = [tmp_path / "1.html", tmp_path / "2.html"]
    for file, stock in zip(files, ("seventeen", "nineteen"), strict=True):
        aside = f"<aside class=sidebar><p>In stock: {stock} sacks.</p></aside>"
        file.write_bytes(html(edited(), "Mill").replace(b"</main>", f"</main>{aside}".encode()))
    judged, shown = (run("compare", *map(str, files), *more) for more in ((), ("--text", "shown")))
    assert "judged texts, which the verdict rests on: they differ in these words" in judged.stdout
    assert "[-seventeen-] {+nineteen+}" in judged.stdout
    assert shown.stdout.splitlines()[-1] == (
        "shown texts, which are exported and which no verdict rests on: the same, word for word"
    )
    before = judged.stdout.partition("judged texts")[0]
    assert shown.stdout.partition("shown texts")[0] == before
    assert before.count(", shown from chosen blocks of the page\n") == 2


def test_what_is_shown_is_not_looked_for_where_it_is_damaged(tmp_path: Path) -> None:
    folder = make_lab_crawl(tmp_path / "job")
    with closing(sqlite3.connect(folder / "crawl.db")) as connection:
        connection.execute("UPDATE pages SET content = x'0102' WHERE url LIKE '%/a'")
        connection.commit()
    pair = (f"{BASE}/a", f"{BASE}/one-word", "--crawl", str(folder))
    assert run("compare", *pair).returncode == 0
    done = run("compare", *pair, "--text", "shown")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{BASE}/a: what is shown of it cannot be read" in done.stderr
    assert "crawl-once verify" in done.stderr


def test_pages_of_one_title_are_told_apart_by_their_headings(tmp_path: Path) -> None:
    files = [tmp_path / "1.html", tmp_path / "2.html"]
    for number, file in enumerate(files, 1):
        head = f"<title>Act</title><h1>Act</h1><h2>Section {number}</h2>"
        file.write_text(f"{head}<p>{edited()} The fee is {number} crowns.</p>")
    found = compare(*map(str, files))
    assert (found["verdict"], found["names_differ_by"]) == ("same_template", "subheading")
    assert found["names"][1]["heading"] == "Act"
    assert found["names"][1]["subheading"] == "Section 2"


TEXT = (
    '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>'
    "<w:p><w:r><w:t>Tides</w:t></w:r></w:p><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:body></w:document>"
)
FEED = "<rss><channel><title>Tides</title><item><title>{}</title></item></channel></rss>"


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("a.epub", lambda said: epub({"a.xhtml": f"<h1>Tides</h1><p>{said}</p>"})),
        ("a.pdf", lambda said: pdf([[Placed("Tides"), Placed(said, y=650)]])),
        (
            "a.docx",
            lambda said: packed(
                {"[Content_Types].xml": "<Types/>", "word/document.xml": TEXT.format(said)}
            ),
        ),
        ("a.rss", lambda said: FEED.format(said).encode()),
    ],
)
def test_documents_are_compared_by_their_text(
    tmp_path: Path, name: str, made: Callable[[str], bytes]
) -> None:
    document, same = tmp_path / name, tmp_path / "a.txt"
    said = "the ferry to the island leaves the old harbour at nine each morning"
    document.write_bytes(made(said))
    same.write_text(f"Tides\n{said.replace('nine', 'ten')}\n", encoding="utf-8")
    done = run("compare", str(document), str(same))
    assert done.returncode == 0, done.stderr
    assert "nine" in done.stdout
    assert "ten" in done.stdout


def test_parameters_can_be_tried(files: tuple[str, str]) -> None:
    assert compare(*files, "--min-similarity", "0.999")["verdict"] == "new"
    assert compare(*files, "--min-words", "500")["verdict"] == "too_short"
    assert compare(*files, "--features", "word-3-set")["features"] == "word-3-set"
    assert "[...]" not in compare(*files, "--context", "500")["diff"]


def test_urls_are_looked_up_in_a_crawl(folder: Path) -> None:
    pair = (f"{BASE}/a", f"{BASE}/one-word#top")
    found = compare(*pair, "--crawl", str(folder))
    assert found["second"]["name"] == f"{BASE}/one-word"
    assert found["second"]["title"] == "One word"
    assert found["verdict"] == "same_template"  # they have other headings
    done = run("compare", f"{BASE}/a", f"{BASE}/one-wrd", "--crawl", str(folder))
    assert done.returncode == 2
    assert f"did you mean {BASE}/one-word?" in done.stderr


def test_url_of_a_crawl_is_compared_with_a_file(folder: Path, files: tuple[str, str]) -> None:
    assert compare(f"{BASE}/a", files[1], "--crawl", str(folder))["jaccard"] > 0.8


class TestFetching:
    def test_only_the_two_pages_and_their_robots_are_asked_for(self, site: DemoServer) -> None:
        pair = (f"{site.url}notices/spring", f"{site.url}notices/summer")
        done = scrapy("compare", *pair, "--json")
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert found["verdict"] == "near_duplicate"
        assert found["first"]["title"].startswith("Notice to mariners")
        asked = sorted(site.requests)
        assert asked == ["/notices/spring", "/notices/summer", "/robots.txt"]

    @pytest.mark.parametrize(
        ("path", "why"),
        [
            ("private/cellar", "forbidden by robots.txt"),
            ("nowhere", "http 404"),
            ("files/harbour-plan", "no page: a pdf document"),
        ],
    )
    def test_what_gives_no_page_is_named(self, site: DemoServer, path: str, why: str) -> None:
        done = scrapy("compare", f"{site.url}walk", f"{site.url}{path}")
        assert done.returncode == 2, done.stdout
        assert f"scrapy compare: {site.url}{path}: {why}" in done.stderr.lower()
        assert "Traceback" not in done.stderr

    def test_nothing_is_left_behind(self, site: DemoServer, tmp_path: Path) -> None:
        before = sorted(tmp_path.iterdir())
        assert scrapy("compare", f"{site.url}walk", f"{site.url}about").returncode == 0
        assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "two URLs or files are needed, got none"),
        (("FILE",), "two URLs or files are needed"),
        (("FILE", "nowhere.html"), "nowhere.html: No such file or directory"),
        (("FILE", "ftp://example.com/"), "neither http nor https"),
        (("FILE", "htp://example.com/"), "did you mean http://?"),
        (("FILE", "http://"), "has no host"),
        (("FILE", "FILE", "--crawl", "x"), "and none is given"),
        (("FILE", "http://example.com/", "--crawl", "x"), "x: no such file or directory"),
        (("FILE", "FILE", "--contxt", "3"), "did you mean --context?"),
        (("FILE", "FILE", "--context", "-3"), "--context"),
        (("FILE", "FILE", "--text", "show"), "--text show: no such text; did you mean shown?"),
        (("FILE", "BINARY"), "no HTML, document or text in UTF-8"),
        (("FILE", "FOLDER"), "Is a directory"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(
    tmp_path: Path, arguments: tuple[str, ...], complaint: str
) -> None:
    (tmp_path / "a.txt").write_text("words")
    (tmp_path / "b.bin").write_bytes(b"\xff\xfe\x00\xd8")
    names = {"FILE": "a.txt", "BINARY": "b.bin", "FOLDER": ""}
    named = [str(tmp_path / names[word]) if word in names else word for word in arguments]
    done = run("compare", *named)
    assert done.returncode == 2, done.stdout
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
