"""A crawl directory made of what a corpus kept."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from crawler.maintenance.adopt.adopting import Corpus, adopt
from crawler.maintenance.merge.merging import merge
from crawler.storage.database import Database, open_for_reading
from crawler.storage.errors import JobError
from crawler.url_rules.fixed_rules import FixedRules
from crawler.urls.canonical import Canonicalizer
from neardup.batch.parsing import WebPage
from neardup.fingerprints.digest import text_digest
from neardup.names import unpacked
from tests.crawler.maintenance.adopt.outputs import write_output, write_pages
from tests.crawler.maintenance.verify.crawled import check
from tests.neardup.texts import prose
from tests.no_watch import NoWatch

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = {f"http://example.org/{number}": prose(number, 100) for number in range(20)}


def made(corpus: Path, folder: Path) -> int:
    return adopt(Corpus(corpus), folder, Canonicalizer(), NoWatch())


def test_a_directory_holds_every_page_and_nothing_is_amiss(tmp_path: Path) -> None:
    write_output(tmp_path / "corpus", {**TEXTS, "a short one": "few words", "no URL": prose(30)})
    assert made(tmp_path / "corpus", tmp_path / "job") == 22
    assert not check(tmp_path / "job").problems
    connection = open_for_reading(tmp_path / "job")
    rows = connection.execute("SELECT url, verdict, fingerprint IS NULL FROM pages ORDER BY id")
    found = {url: (verdict, is_short) for url, verdict, is_short in rows}
    connection.close()
    assert found == {
        **dict.fromkeys(TEXTS, ("new", 0)),
        "a short one": ("too_short", 1),
        "no URL": ("new", 0),
    }


def test_pages_have_the_names_that_the_corpus_told_them_apart_by(tmp_path: Path) -> None:
    lamp = prose(1, 200)
    pages = [
        WebPage(number, f"http://example.org/{url}", text, title=title)
        for number, (url, text, title) in enumerate(
            [
                ("red", lamp, "Red lamp"),
                ("blue", f"{lamp} Blue.", "Blue lamp"),
                ("red", f"{lamp} Green.", "Lamp"),
            ]
        )
    ]
    write_pages(tmp_path / "corpus", pages)
    made(tmp_path / "corpus", tmp_path / "job")
    assert not check(tmp_path / "job").problems
    with closing(open_for_reading(tmp_path / "job")) as connection:
        rows = connection.execute(
            "SELECT pages.verdict, other.url, pages.name FROM pages"
            " LEFT JOIN pages AS other ON other.id = pages.resembles ORDER BY pages.id"
        ).fetchall()
    assert [(verdict, url) for verdict, url, _ in rows] == [
        ("new", None),
        ("new", None),  # what it resembles is an older version
        ("same_template", "http://example.org/blue"),
    ]
    assert [unpacked(name).title for _, _, name in rows] == ["Red lamp", "Blue lamp", "Lamp"]


def test_a_corpus_without_a_column_is_told_in_one_line(tmp_path: Path) -> None:
    write_output(tmp_path / "corpus", TEXTS)
    for file in (tmp_path / "corpus" / "kept").glob("*.parquet"):
        parquet.write_table(parquet.read_table(file).drop_columns(["text"]), file)
    with pytest.raises(JobError, match=r"kept: cannot be read: [^\n]*text[^\n]*$"):
        made(tmp_path / "corpus", tmp_path / "job")
    assert not (tmp_path / "job").exists()


@pytest.mark.parametrize("column", ["name", "words", "digest", "text"])
def test_a_value_of_another_type_is_told_in_one_line(column: str, tmp_path: Path) -> None:
    write_output(tmp_path / "corpus", TEXTS)
    path = tmp_path / "corpus" / "kept" / "part.parquet"
    table = parquet.read_table(path)
    for wrong in (pa.nulls(len(table)), pa.array([1.5] * len(table))):
        at = table.schema.get_field_index(column)
        parquet.write_table(table.set_column(at, column, wrong), path)
        with pytest.raises(JobError, match=f"no {column}"):
            made(tmp_path / "corpus", tmp_path / "job")


@pytest.mark.parametrize(
    "about", ["", "[]", "{", '{"format": 4}', '{"format": 4, "parameters": {"features": 7}}', None]
)
def test_a_damaged_description_is_told_in_one_line(about: str | None, tmp_path: Path) -> None:
    write_output(tmp_path / "corpus", TEXTS)
    path = tmp_path / "corpus" / "about" / "part.parquet"
    parquet.write_table(pa.table({"about": [about]}), path)
    with pytest.raises(JobError, match="damaged"):
        Corpus(tmp_path / "corpus")
    path.write_bytes(path.read_bytes()[:-9] + bytes(9))
    with pytest.raises(JobError, match="damaged"):
        Corpus(tmp_path / "corpus")


def test_tables_lie_where_the_description_of_the_run_says(tmp_path: Path) -> None:
    """As Spark writes them: a folder for each run, and one file that names the one that counts."""
    write_output(tmp_path / "run-old", {"http://a.org/old": prose(1, 80)}, "old")
    write_output(tmp_path / "run-new", {"http://a.org/new": prose(2, 80)}, "new")
    about = replace(Corpus(tmp_path / "run-new").about, tables="run-new")
    parquet.write_table(pa.table({"about": [about.to_json()]}), tmp_path / "about")
    corpus = Corpus(tmp_path)
    assert corpus.about.run == "new"
    assert [page.name for page in corpus.pages()] == ["http://a.org/new"]


def test_runs_that_it_goes_on_from_are_adopted_too(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    write_output(first, TEXTS)
    against: dict[str, Any] = {"against": (first.as_uri(),), "runs": ("one",)}
    write_pages(second, [WebPage(100, "http://example.org/new", prose(99))], "two", **against)
    assert made(second, tmp_path / "job") == 21
    with pytest.raises(JobError, match="something in it already"):
        made(second, tmp_path / "job")
    first.rename(tmp_path / "elsewhere")
    with pytest.raises(JobError, match="no longer in"):
        made(second, tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_the_digest_of_what_a_page_shows_is_taken_for_that(tmp_path: Path) -> None:
    """Where no fingerprint stands for its text."""
    shown = [text_digest("all that one shows"), text_digest("all that the other one shows")]
    pages = [
        WebPage(0, "http://example.org/short", "few words", visible_digest=shown[0]),
        WebPage(
            1, "http://example.org/list", prose(1, 100), is_main=False, visible_digest=shown[1]
        ),
    ]
    write_pages(tmp_path / "corpus", pages)
    assert made(tmp_path / "corpus", tmp_path / "job") == 2
    assert not check(tmp_path / "job").problems


def test_no_text_takes_the_place_of_another_one_but_the_newest_of_a_url(tmp_path: Path) -> None:
    years = (2025, 2026, 2024)
    pages = [
        WebPage(year, "http://example.org/", prose(year, 100), date=f"{year}-01-01")
        for year in years
    ]
    pages += [
        WebPage(number, "17", prose(number, 100)) for number in range(3)
    ]  # an id of each file
    write_pages(tmp_path / "corpus", pages)
    assert made(tmp_path / "corpus", tmp_path / "job") == 6
    with closing(open_for_reading(tmp_path / "job")) as connection:
        sql = "SELECT url, date(fetched_at, 'unixepoch') FROM pages WHERE latest = 1 ORDER BY id"
        urls, dates = zip(*connection.execute(sql), strict=True)
        assert urls == ("http://example.org/", "17", "17", "17")
        assert dates[0] == "2026-01-01"
        held = connection.execute("SELECT count(*) FROM pages WHERE text IS NOT NULL")
        assert held.fetchone()[0] == 6
    assert not check(tmp_path / "job").problems


@pytest.mark.parametrize("order", [1, -1])
def test_urls_that_a_tried_rule_takes_for_one_page_keep_each_its_own(
    order: int, tmp_path: Path
) -> None:
    queries = ["b=2&a=1", "a=1&b=2", "a=1&b=2&utm_source=x", "a=1&b=2&utm_source=y"][::order]
    urls = [f"http://example.org/list?{query}" for query in queries]
    urls += [f"http://example.org/s?sid={letter}{'1a' * 15}0" for letter in "bcd"]
    pages = [WebPage(n, url, prose(n, 100), date="2026-01-01") for n, url in enumerate(urls)]
    pages.append(WebPage(len(urls), urls[0], prose(99, 100), date="2026-02-01"))
    write_pages(tmp_path / "corpus", pages)
    assert made(tmp_path / "corpus", tmp_path / "job") == len(pages)
    assert not check(tmp_path / "job").problems
    with closing(open_for_reading(tmp_path / "job")) as connection:
        found = connection.execute("SELECT url, key FROM pages WHERE latest = 1").fetchall()
    with closing(Database(tmp_path / "job")) as database:
        canonicalizer = Canonicalizer()
        FixedRules(database, canonicalizer)  # as the crawl that goes on from it
        assert {url: canonicalizer.key(url) for url in urls} == dict(found)


def test_the_canonical_url_of_an_adopted_page_counts_as_another_one(tmp_path: Path) -> None:
    urls = [f"http://example.org/{place}" for place in ("p?b=2&a=1", "q?b=2&a=1", "q?a=1&b=2")]
    write_pages(tmp_path / "corpus", [WebPage(n, url, prose(n, 100)) for n, url in enumerate(urls)])
    assert made(tmp_path / "corpus", tmp_path / "job") == len(urls)
    assert not check(tmp_path / "job").problems
    with closing(Database(tmp_path / "job")) as database:
        canonicalizer = Canonicalizer()
        FixedRules(database, canonicalizer)  # as the crawl that goes on from it
        assert canonicalizer.key("http://example.org/p?a=1&b=2") != canonicalizer.key(urls[0])
        assert canonicalizer.key(urls[2]) != canonicalizer.key(urls[1])


def test_texts_of_two_corpora_that_are_named_alike_stay_two_where_they_are_merged(
    tmp_path: Path,
) -> None:
    for number, name in enumerate(("one", "two")):
        pages = [WebPage(0, "17", prose(number, 100)), WebPage(1, "18", prose(18, 100))]
        write_pages(tmp_path / f"of {name}", pages)
        made(tmp_path / f"of {name}", tmp_path / name)
    found = merge(tmp_path / "out", [tmp_path / "one", tmp_path / "two"], NoWatch())
    assert (found.pages, found.kept, found.fetched_twice) == (3, 3, 1)
    assert not check(tmp_path / "out").problems


def test_what_breaks_off_leaves_no_crawl(tmp_path: Path) -> None:
    write_output(tmp_path / "corpus", TEXTS)

    class Interrupting(NoWatch):
        def advance(self, steps: int = 1) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        adopt(Corpus(tmp_path / "corpus"), tmp_path / "job", Canonicalizer(), Interrupting())
    assert not (tmp_path / "job").exists()
    assert made(tmp_path / "corpus", tmp_path / "job") == 20


def test_what_stands_in_the_directory_stays(tmp_path: Path) -> None:
    write_output(tmp_path / "corpus", TEXTS)
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / "mine").write_text("mine")
    with pytest.raises(JobError, match="something in it already"):
        made(tmp_path / "corpus", tmp_path / "job")
    assert {file.name for file in tmp_path.iterdir()} == {"corpus", "job"}
    assert (tmp_path / "job" / "mine").read_text() == "mine"
