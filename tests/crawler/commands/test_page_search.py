"""``pages --search WORDS DIR``: an index that is built on demand, and follows the crawl."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from crawler.pages.page_search import INDEX_NAME, PageSearch
from neardup import Parameters
from tests.crawler.commands.in_process import run
from tests.crawler.maintenance.rejudge.captured import Said, capture
from tests.read_only import run_read_only

if TYPE_CHECKING:
    from pathlib import Path

SAID = {
    "/harbour": "The harbour light burns at night, and the pilot sees it from the sea.",
    "/lights": "Light after light: a lighthouse keeper trims each light of the coast.",
    "/zh": "灯塔是建于港口附近的塔状建筑，用于引导船只。",
    "/ja": "港の灯台は船を導くために夜ごと光を放つ。",
    "/th": "ประภาคารส่องแสงให้เรือในเวลากลางคืน",
    "/hi": "बंदरगाह का प्रकाशस्तंभ रात में जहाज़ों को राह दिखाता है।",
    "/ru": "Маяк освещает вход в гавань каждую ночь.",
    "/fr": "Le phare éclaire l'entrée du port à marée basse.",
}
ORIGIN = "http://example.com"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    capture(tmp_path / "job", [(path, Said(text)) for path, text in SAID.items()], Parameters())
    return tmp_path / "job"


def found(folder: Path, words: str) -> list[str]:
    done = run("pages", str(folder), "--search", words)
    assert done.returncode == 0, done.stderr
    urls = [line for line in done.stdout.splitlines() if not line.startswith(" ")]
    return [line.split()[0].removeprefix(ORIGIN) for line in urls]


@pytest.mark.parametrize(
    ("words", "paths"),
    [
        ("light", ["/lights", "/harbour"]),
        ("LIGHT pilot", ["/harbour"]),
        ('"harbour light"', ["/harbour"]),
        ('"light harbour"', []),
        ("港口", ["/zh"]),
        ("灯", ["/zh", "/ja"]),
        ("灯台", ["/ja"]),
        ("台灯", []),
        ("แสง", ["/th"]),
        ("प्रकाशस्तंभ", ["/hi"]),
        ("маяк", ["/ru"]),
        ("eclaire maree", ["/fr"]),
        ("url:harbour", ["/harbour"]),
    ],
)
def test_words_of_any_script_are_found(folder: Path, words: str, paths: list[str]) -> None:
    assert set(found(folder, words)) == set(paths)
    if words == "light":
        assert found(folder, words) == paths, "the better one first"


def test_a_snippet_shows_the_words(folder: Path) -> None:
    assert "[港][口]附近" in run("pages", str(folder), "--search", "港口").stdout or (
        "[港口]附近" in run("pages", str(folder), "--search", "港口").stdout
    )
    assert "The harbour light burns at night, and the [pilot]" in (
        run("pages", str(folder), "--search", "pilot").stdout
    )


def test_the_index_follows_the_crawl(folder: Path) -> None:
    assert found(folder, "breakwater") == []
    more = [("/new", Said("A breakwater shelters the quay.")), ("/harbour", Said("Only a quay."))]
    capture(folder, more, Parameters())
    assert found(folder, "breakwater") == ["/new"]
    with closing(PageSearch(folder)) as search:
        assert search.update(lambda share, words: None) == 0
    (folder / INDEX_NAME).unlink()
    assert found(folder, "breakwater") == ["/new"]


def test_a_page_that_is_gone_since_is_marked(folder: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(folder / "crawl.db")) as crawl, crawl:
        sql = "UPDATE known SET outcome = 'gone' WHERE key = (SELECT key FROM pages WHERE url = ?)"
        assert crawl.execute(sql, (f"{ORIGIN}/lights",)).rowcount == 1
    lines = run("pages", str(folder), "--search", "light").stdout.splitlines()
    assert lines[0].endswith("  (gone at the last visit)")
    assert "at the last visit" not in "".join(lines[1:])
    output = tmp_path / "pages.json"
    run("pages", str(folder), "-o", str(output))
    rows = json.loads(output.read_text())
    assert {row["url"]: row["away"] for row in rows if row["away"]} == {f"{ORIGIN}/lights": "gone"}


def test_an_interrupted_index_goes_on(folder: Path) -> None:
    def interrupt(share: float, words: str) -> None:
        raise KeyboardInterrupt

    with closing(PageSearch(folder)) as search, pytest.raises(KeyboardInterrupt):
        search.update(interrupt)
    assert found(folder, "pilot") == ["/harbour"]


def test_verify_knows_the_file(folder: Path) -> None:
    found(folder, "pilot")
    done = run("verify", str(folder))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("words", ['"open', "a AND", "c++", "(", "name:x", " "])
def test_what_is_no_query_is_told_in_one_line(folder: Path, words: str) -> None:
    done = run("pages", str(folder), "--search", words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert f"cannot search for {words!r}: " in done.stderr


def test_it_combines_with_the_choice_of_pages(folder: Path) -> None:
    done = run("pages", str(folder), "--search", "light", "--under", f"{ORIGIN}/lights")
    assert [line.split()[0] for line in done.stdout.splitlines()[::2]] == [f"{ORIGIN}/lights"]
    done = run("pages", str(folder), "--search", "light", "--format", "csv")
    assert "--search prints a list; leave --format out" in done.stderr


def test_a_directory_that_cannot_be_written_is_searched(folder: Path) -> None:
    (folder / INDEX_NAME).unlink(missing_ok=True)
    done = run_read_only(folder, "pages", str(folder), "--search", "light")
    assert done.returncode == 0, done.stderr
    assert "/lights" in done.stdout
    assert not (folder / INDEX_NAME).exists()
    assert found(folder, "light") == ["/lights", "/harbour"]
