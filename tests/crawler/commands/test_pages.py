"""``crawl-once pages --without-boilerplate`` and what ``crawl-once report`` says of boilerplate."""

from __future__ import annotations

import csv
import json
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING
from xml.etree.ElementTree import parse

import pytest

from crawler.pages.boilerplate import HostBoilerplate
from crawler.storage.database import open_for_reading
from neardup import Parameters
from tests.crawler.commands.in_process import run
from tests.crawler.maintenance.rejudge.captured import Said, capture, judge_again
from tests.crawler.pages.test_boilerplate import TEMPLATE, section, sections
from tests.sites.prose import prose

if TYPE_CHECKING:
    from pathlib import Path

ALONE = "/act/contents"
HALF = "\n".join(TEMPLATE.splitlines()[:2])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sections on one template, half of the template alone, and other pages, all of them kept."""
    jobdir = tmp_path_factory.mktemp("crawl") / "job"
    others = [(f"/other/{number}", Said(prose(f"other {number}", 80))) for number in range(3)]
    capture(jobdir, [*sections(), (ALONE, Said(HALF)), *others], Parameters())
    judge_again(jobdir)
    return jobdir


def texts(folder: Path, output: Path, *arguments: str) -> dict[str, str]:
    """What is exported of each page that is kept, by its path."""
    done = run("pages", str(folder), "-o", str(output), "--verdict", "kept", *arguments)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    return {row["url"].removeprefix("http://example.com"): row["text"] for row in read(output)}


def read(path: Path) -> list[dict[str, str]]:
    if path.suffix == ".parquet":
        parquet = pytest.importorskip("pyarrow.parquet")
        found: list[dict[str, str]] = parquet.read_table(path).to_pylist()
        return found
    if path.suffix == ".xml":
        items = parse(path).getroot()
        return [{field.tag: field.text or "" for field in item} for item in items]
    with path.open(encoding="utf-8", newline="") as file:
        if path.suffix == ".csv":
            return list(csv.DictReader(file))
        if path.suffix == ".json":
            return list(json.load(file))
        return [json.loads(line) for line in file]


@pytest.mark.parametrize("kind", ["jsonl", "json", "csv", "xml", "parquet"])
def test_what_many_pages_repeat_is_left_out_in_every_format(
    folder: Path, tmp_path: Path, kind: str
) -> None:
    whole = texts(folder, tmp_path / f"whole.{kind}")
    clean = texts(folder, tmp_path / f"clean.{kind}", "--without-boilerplate")
    assert clean.keys() == whole.keys()
    lines = Counter(line for text in whole.values() for line in set(text.splitlines()))
    repeated = {line for line, count in lines.items() if count >= 10}
    assert repeated == set(TEMPLATE.splitlines())
    for path, text in whole.items():
        own = [line for line in text.splitlines() if line not in repeated]
        assert clean[path] == ("\n".join(own) or text)


def test_a_text_of_nothing_else_stays_whole(folder: Path, tmp_path: Path) -> None:
    assert texts(folder, tmp_path / "pages.jsonl", "--without-boilerplate")[ALONE] == HALF


def test_where_nothing_is_known_texts_are_whole_and_it_says_so(tmp_path: Path) -> None:
    capture(tmp_path / "job", sections()[:9], Parameters())
    output = tmp_path / "pages.jsonl"
    done = run("pages", str(tmp_path / "job"), "--without-boilerplate", "-o", str(output))
    assert "no boilerplate is known of any host" in done.stderr
    assert read(output)[0]["text"] == section(0).text


def test_help_says_what_stays_whole() -> None:
    told = " ".join(run("pages", "--help").stdout.split())
    assert "--without-boilerplate" in told
    assert "a text that is nothing else stays whole" in told


def test_report_says_how_much_is_repeated_with_an_example(folder: Path) -> None:
    done = run("report", str(folder))
    (found,) = json.loads(run("report", str(folder), "--json").stdout)["boilerplate"]
    whole = [said.text for _, said in sections()] + [prose(f"other {n}", 80) for n in range(3)]
    repeated = len(sections()) * (len(TEMPLATE) + 1)
    assert found["host"] == "example.com"
    assert found["share"] == pytest.approx(repeated / sum(map(len, whole)), abs=0.06)
    assert found["example"] in TEMPLATE.splitlines()
    assert (found["pages"], found["counted"]) == (31, 34)
    assert f"{found['share']:.0%}  of the text of example.com; in 31 of 34 pages:" in done.stdout
    assert found["example"][:60] in done.stdout


def test_report_says_nothing_where_nothing_is_repeated(tmp_path: Path) -> None:
    capture(tmp_path / "job", sections()[:9], Parameters())
    assert "repeated by pages" not in run("report", str(tmp_path / "job")).stdout


def test_pages_that_are_exported_whole_are_no_example(folder: Path) -> None:
    with closing(open_for_reading(folder)) as connection:
        boilerplate = HostBoilerplate(connection.execute)
        assert boilerplate.repeated("example.com", [HALF]) is None
        assert boilerplate.repeated("example.com", [HALF, f"{HALF}\nand its own end"]) is not None
