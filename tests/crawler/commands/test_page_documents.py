"""``crawl-once pages --format markdown|text|xml|html``: documents of what pages show."""

from __future__ import annotations

import asyncio
import csv
import json
import os
import pty
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest
import zstandard
from lxml import etree

from crawler.console.page_export import PagePaths
from crawler.job import Job
from crawler.mirror.paths import path_key
from crawler.reading.content.content_xml import PackedContent, pack_content
from crawler.reading.metadata.metadata_record import Metadata
from crawler.reading.reading import Reading, extract_of
from neardup import Parameters
from neardup.fingerprints.digest import text_digest
from tests.crawler.commands.in_process import run
from tests.crawler.pages.test_capture import OPTIONS, fetched
from tests.crawls.command import PROJECT, TIMEOUT_SECS
from tests.sites.prose import prose

if TYPE_CHECKING:
    from pathlib import Path

TITLE = 'A "title": with # signs\u2028and - marks'
GUIDE = """<body><head rend="h1">Guide</head>
<p>Read <ref target="../more?a=1">the rest</ref> or <ref target="javascript:alert(1)">not</ref>.</p>
<graphic src="/a.png" alt="a picture"/>
<list rend="ul"><item>first</item><item>second</item></list>
<table><row><cell role="head">Name</cell></row><row><cell>One</cell></row></table>
<code>x = 1\ny = 2</code></body>"""
COMMENTS = {"/guide/index.html": "Anna:\nIs 1 < 2?"}
PAGES = {
    "/guide/": (GUIDE, "documentation", "en-GB"),
    "/guide/index.html": (f"<body><p>{prose('index', 90)}</p></body>", "article", "de"),
    "/CON?a=1&b=*": (f"<body><p>{prose('odd', 60)}</p></body>", "forum", "en"),
    "/guide": (f"<body><p>{prose('guide', 50)}</p></body>", None, None),
}


def capture(job: Job, path: str, content: str, kind: str | None, language: str | None) -> None:
    body = etree.fromstring(content)
    text = " ".join(body.itertext()) + prose(path, 100)
    packed = PackedContent(pack_content(body, COMMENTS.get(path, "")), kind, "test")
    packed_text = zstandard.compress(text.encode())
    extract = extract_of(text, packed_text, True, text_digest(text), Parameters())
    answer = fetched(job, path, text.encode())
    metadata = Metadata(title=TITLE if path == "/guide/" else path, language=language)
    reading = Reading(
        answer.url,
        visible_digest=extract.visible_digest,
        extract=replace(extract, content=packed),
        metadata=metadata,
    )
    asyncio.run(job.processor.capture_read(answer, reading))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    jobdir = tmp_path_factory.mktemp("crawl") / "job"
    with closing(Job(jobdir, OPTIONS)) as job:
        job.begin_visit()
        for path, page in PAGES.items():
            capture(job, path, *page)
    return jobdir


def export(folder: Path, output: Path, *arguments: str) -> dict[str, str]:
    """The files of an export into a folder, by their paths."""
    done = run("pages", str(folder), "-o", f"{output}/", *arguments)
    assert done.returncode == 0, done.stderr
    return {
        path.relative_to(output).as_posix(): path.read_text(encoding="utf-8")
        for path in output.rglob("*")
        if path.is_file()
    }


def table(folder: Path, tmp_path: Path, *arguments: str) -> list[dict[str, Any]]:
    """The rows of an export."""
    output = tmp_path / "rows"
    done = run("pages", str(folder), "-o", str(output), "--format", "jsonl", *arguments)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in output.read_bytes().splitlines()]


def front(document: str) -> tuple[dict[str, Any], str]:
    _, matter, text = document.split("---\n", 2)
    return pytest.importorskip("yaml").safe_load(matter), text


def test_each_page_becomes_a_file_that_is_named_like_its_url(folder: Path, tmp_path: Path) -> None:
    files = export(folder, tmp_path / "out")
    assert len(files) == len(PAGES)
    assert "example.com/guide/index.md" in files
    assert len({path_key(path) for path in files}) == len(files)
    assert not any(set(path) & set('*?:"<>|\\') for path in files)


def test_files_of_an_earlier_export_are_counted_and_stay(folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "out"
    export(folder, output)
    export(folder, output, "--format", "text")
    (output / "notes.csv").write_text("mine")
    done = run("pages", str(folder), "-o", f"{output}/", "--type", "forum")
    said = f"{output}/: 7 files belong to no page of this export, left there: 3 .md, 4 .txt"
    assert done.stderr.splitlines()[::2] == [said, f"1 file in {output}/"]
    assert len([path for path in output.rglob("*") if path.is_file()]) == 9
    assert "of no page" not in run("pages", str(folder), "-o", f"{tmp_path}/new/").stderr


def test_parquet_is_not_written_to_a_terminal(folder: Path) -> None:
    ours, theirs = pty.openpty()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "scrapy", "pages", str(folder), "--format", "parquet"],
            cwd=PROJECT,
            stdin=subprocess.DEVNULL,
            stdout=theirs,
            stderr=subprocess.PIPE,
            text=True,
            timeout=TIMEOUT_SECS,
            check=False,
        )
    finally:
        os.close(theirs)
        os.close(ours)
    assert done.returncode == 2
    assert done.stderr == (
        "scrapy pages: parquet cannot be shown on a terminal; name a file, such as -o a.parquet\n"
    )


def test_markdown_has_its_metadata_in_front(folder: Path, tmp_path: Path) -> None:
    matter, text = front(export(folder, tmp_path / "out")["example.com/guide/index.md"])
    assert matter["title"] == TITLE
    assert matter["url"] == "http://example.com/guide/"
    assert (matter["language"], matter["page_type"]) == ("en-GB", "documentation")
    assert "# Guide" in text
    assert "[the rest](http://example.com/more?a=1)" in text
    assert "- first\n- second" in text
    assert "| Name |" in text
    assert "```\nx = 1\ny = 2\n```" in text
    assert "javascript" not in text
    assert "a.png" not in text


def test_links_and_images_are_written_by_options(folder: Path, tmp_path: Path) -> None:
    without = export(folder, tmp_path / "without", "--no-links")["example.com/guide/index.md"]
    assert "the rest" in without
    assert "more?a=1" not in without
    images = export(folder, tmp_path / "images", "--images")["example.com/guide/index.md"]
    assert "![a picture](http://example.com/a.png)" in images


def test_documents_are_a_type_of_page(folder: Path, tmp_path: Path) -> None:
    assert table(folder, tmp_path, "--type", "document") == []


def test_text_is_that_of_the_table(folder: Path, tmp_path: Path) -> None:
    files = export(folder, tmp_path / "out", "--format", "text")
    rows = {row["url"]: row for row in table(folder, tmp_path)}
    text = rows["http://example.com/guide/"]["text"]
    assert files["example.com/guide/index.txt"] == f"{text}\n"
    assert "Read the rest or not." in text
    assert "http" not in text


def test_xml_and_html_can_be_parsed(folder: Path, tmp_path: Path) -> None:
    found = export(folder, tmp_path / "xml", "--format", "xml")["example.com/guide/index.xml"]
    root = etree.fromstring(found.encode())
    assert (root.tag, root[0].tag, root.get("page_type")) == ("doc", "main", "documentation")
    page = export(folder, tmp_path / "html", "--format", "html")["example.com/guide/index.html"]
    hrefs: list[str | None] = []

    class Links(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            if tag == "a":
                hrefs.append(dict(attrs).get("href"))

    Links().feed(page)
    assert hrefs == ["http://example.com/more?a=1"]
    assert "javascript" not in page


COMMENTED = "http://example.com/guide/index.html"


def test_comments_are_a_field_of_rows_beside_the_text(folder: Path, tmp_path: Path) -> None:
    rows = {row["url"]: row for row in table(folder, tmp_path)}
    said = COMMENTS["/guide/index.html"]
    assert {url: row["comments"] for url, row in rows.items()} == {
        **dict.fromkeys(rows),
        COMMENTED: said,
    }
    assert "Anna" not in rows[COMMENTED]["text"]
    for kind in ("csv", "xml"):
        assert run("pages", str(folder), "-o", f"{tmp_path}/rows.{kind}").returncode == 0
    with (tmp_path / "rows.csv").open(encoding="utf-8", newline="") as file:
        assert {row["url"]: row["comments"] for row in csv.DictReader(file)} == {
            **dict.fromkeys(rows, ""),
            COMMENTED: said,
        }
    found = etree.parse(tmp_path / "rows.xml").iterfind("item")
    assert {item.findtext("url"): item.findtext("comments") for item in found} == {
        **dict.fromkeys(rows),
        COMMENTED: said,
    }


def test_comments_are_a_column_of_parquet(folder: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "rows.parquet"
    assert run("pages", str(folder), "-o", str(path)).returncode == 0
    found = {row["url"]: row["comments"] for row in parquet.read_table(path).to_pylist()}
    assert found == {**dict.fromkeys(found), COMMENTED: COMMENTS["/guide/index.html"]}


@pytest.mark.parametrize("kind", ["markdown", "text", "html", "xml"])
def test_of_documents_only_xml_has_comments(folder: Path, tmp_path: Path, kind: str) -> None:
    files = export(folder, tmp_path / "out", "--format", kind)
    commented = [name for name, said in files.items() if "Anna" in said]
    assert commented == (["example.com/guide/index.html.xml"] if kind == "xml" else [])
    for name in commented:
        root = etree.fromstring(files[name].encode())
        assert [part.tag for part in root] == ["main", "comments"]
        assert [part.text for part in root[1]] == ["Anna:", "Is 1 < 2?"]


def test_a_second_export_changes_nothing(folder: Path, tmp_path: Path) -> None:
    assert export(folder, tmp_path / "out") == export(folder, tmp_path / "out")


@pytest.mark.parametrize(
    ("arguments", "paths"),
    [
        (["--language", "en"], {"/guide/", "/CON?a=1&b=*", "/guide"}),
        (["--language", "EN-gb"], {"/guide/"}),
        (["--type", "forum"], {"/CON?a=1&b=*"}),
        (["--min-words", "60"], {"/guide/index.html", "/CON?a=1&b=*"}),
        (["--min-words", "60", "--language", "de"], {"/guide/index.html"}),
        (["--min-words", "0"], set(PAGES)),
    ],
)
def test_filters_choose_pages(
    folder: Path, tmp_path: Path, arguments: list[str], paths: set[str]
) -> None:
    urls = [row["url"] for row in table(folder, tmp_path, *arguments)]
    assert {url.removeprefix("http://example.com") for url in urls} == paths


def test_all_pages_can_stand_in_one_file(folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "pages.md"
    done = run("pages", str(folder), "-o", str(output))
    assert done.stderr.strip().endswith(f"{len(PAGES)} pages in {output}")
    assert output.read_text(encoding="utf-8").count("\nurl: ") == len(PAGES)
    other = tmp_path / "pages"
    assert run("pages", str(folder), "-o", f"{other}:markdown").returncode == 0
    assert other.read_bytes() == output.read_bytes()
    other.unlink()
    # A name without an ending is that of a folder.
    assert run("pages", str(folder), "-o", str(other), "--format", "md").returncode == 0
    assert len(list(other.rglob("*.md"))) == len(PAGES)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--format", "markdwon"], "--format markdwon: no such format; did you mean markdown?"),
        (["--format", "foo"], "--format foo: no such format; there are csv, html, jl"),
        (["--verdict", "dup"], "--verdict dup: no such verdict; there are kept, new, "),
        (["--format", "html"], "html is written one file a page: -o DIR/ --format html"),
        (["-o", "{tmp}/out/", "--format", "parquet"], "parquet is one file: -o pages.parquet"),
        (["-o", "{tmp}/pages.doc"], "its ending names no format"),
        (["-o", "{tmp}/none/pages.md"], "no such directory"),
        (["--type", "articel"], "--type articel: no such type of page; did you mean article?"),
        (["--min-words", "many"], "--min-words"),
        (["--images"], "--links and --images are for documents"),
    ],
)
def test_wrong_arguments_are_said_in_one_line(
    folder: Path, tmp_path: Path, arguments: list[str], said: str
) -> None:
    done = run("pages", str(folder), *(word.format(tmp=tmp_path) for word in arguments))
    assert done.returncode == 2
    assert said in done.stderr
    assert list(tmp_path.iterdir()) == []


class TestPagePaths:
    @pytest.mark.parametrize("kind", ["markdown", "text", "xml", "html"])
    def test_every_page_has_a_path_of_its_own_below_the_folder(self, kind: str) -> None:
        urls = [
            *("http://h/a", "http://h/a.md", "http://h/A", "http://h/a/", "http://h/a/index.md"),
            *("http://h/a.md/b", "https://h/a", "http://h/a#x", "http://h/" + "long" * 200),
            *("", "", "file:///etc/passwd", "http://h/../../x", "http://h/%2e%2e/%2e%2e/x"),
        ]
        paths = PagePaths(kind)
        found = [paths.path_of(url) for url in urls]
        keys = {path_key(path) for path in found}
        assert len(keys) == len(urls)
        folders = {key.rsplit("/", end)[0] for key in keys for end in range(1, key.count("/") + 1)}
        assert not folders & keys
        assert all(".." not in path.split("/") and path[0] != "/" for path in found)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--language", "fr,it"], "no page matches --language fr,it; languages of kept pages: "),
        (["--type", "product"], "no page matches --type product; types of kept pages: "),
    ],
)
def test_where_no_page_is_chosen_it_is_said_what_there_is(
    folder: Path, tmp_path: Path, arguments: list[str], said: str
) -> None:
    done = run("pages", str(folder), *arguments, "-o", str(tmp_path / "pages.jsonl"))
    assert done.returncode == 0
    assert " 1" in done.stderr.partition(said)[2]


def test_types_are_told_as_a_guess_with_those_of_the_other_pages(
    folder: Path, tmp_path: Path
) -> None:
    kept = [row["page_type"] for row in table(folder, tmp_path) if row["page_type"]]
    wanted, *others = sorted({*kept})
    assert others
    done = run("pages", str(folder), "--type", wanted, "-o", str(tmp_path / "x.jsonl"))
    said = done.stderr.partition("--type goes by a guess; types of kept pages: ")[2]
    assert all(f"{one} {kept.count(one)}" in said.partition("\n")[0] for one in {*kept})


@pytest.mark.parametrize("language", ["english", "en,", ","])
def test_what_is_no_code_of_a_language_is_refused(
    folder: Path, tmp_path: Path, language: str
) -> None:
    done = run("pages", str(folder), "--language", language, "-o", str(tmp_path / "x.jsonl"))
    assert done.returncode == 2
    assert "languages are codes such as en, pt-BR or en,de" in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("language", ["de", "fr"])
def test_pages_that_declare_no_language_are_counted_where_one_is_chosen(
    folder: Path, tmp_path: Path, language: str
) -> None:
    rows = table(folder, tmp_path)
    undeclared = sum(row["language"] is None and row["text"] is not None for row in rows)
    assert undeclared
    command = ("pages", str(folder), "-o", str(tmp_path / "x.jsonl"))
    said = f"{undeclared} kept page"
    assert said in run(*command, "--language", language).stderr
    assert "without a declared language" not in run(*command).stderr


def test_pages_that_declare_no_language_are_chosen_by_their_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    english = "The keeper writes into the book when the lamp was lit and when the fog came in."
    german = "Der Wärter schreibt in das Buch, wann die Lampe brannte und wann der Nebel kam."
    with closing(Job(tmp_path / "job", OPTIONS)) as job:
        job.begin_visit()
        for path, text in (("/english", english), ("/deutsch", german), ("/404", "404")):
            capture(job, path, f"<body><p>{text}</p></body>", None, None)
    command = ("pages", str(tmp_path / "job"), "--language", "en", "-o", str(tmp_path / "a.jsonl"))
    said = run(*command).stderr
    assert "3 kept pages without a declared language, told by their texts" in said
    told = table(tmp_path / "job", tmp_path, "--language", "en")
    assert [(row["title"], row["language"]) for row in told] == [("/english", "en")]
    assert told[0]["sources"]["language"] == "text"
    assert [row["language"] for row in table(tmp_path / "job", tmp_path)] == [None] * 3
    both = table(tmp_path / "job", tmp_path, "--language", "de,en")
    assert [row["title"] for row in both] == ["/english", "/deutsch"]
    command_of_none = (*command[:3], "fr", *command[4:])
    assert "languages of kept pages: en 1, de 1\n" in run(*command_of_none).stderr
    for module in ("neardup.languages", "crawler.console.page_export"):
        monkeypatch.setattr(f"{module}.TELLS_TEXTS", False)
    monkeypatch.setattr("crawler.console.page_export.install_command", "pip install {}".format)
    hint = "left out; their texts tell it after pip install languages"
    assert f"3 kept pages without a declared language, {hint}" in run(*command).stderr
    assert not table(tmp_path / "job", tmp_path, "--language", "en")
