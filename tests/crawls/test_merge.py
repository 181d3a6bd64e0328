"""``crawl-once merge`` as a user runs it: two crawls of parts of a site, and one that goes on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.crawler.maintenance.merge.test_any_deal import exported, problems
from tests.crawls.command import crawl, scrapy
from tests.sites.changing import ChangingSite
from tests.sites.prose import prose

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PATHS = ("/one/a", "/one/b", "/two/copy", "/two/c", "/gone")


@pytest.fixture
def site() -> Iterator[ChangingSite]:
    with ChangingSite() as site:
        for part in ("/one", "/two"):
            site.put(f"{part}/", f"A list of {part}.", [path for path in PATHS if part in path])
        article = prose("article", 200)
        for path in ("/one/a", "/two/copy"):
            site.put(path, article)
        for path in ("/one/b", "/two/c"):
            site.put(path, prose(path, 200))
        yield site


def test_two_crawls_become_one_that_goes_on(site: ChangingSite, tmp_path: Path) -> None:
    folders = [tmp_path / part for part in ("one", "two")]
    for folder in folders:
        crawl(f"{site.origin}/{folder.name}/", folder, "-a", f"allow=/{folder.name}/")
    out = tmp_path / "out"
    done = scrapy("merge", *map(str, folders), str(out))
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert "6 URLs of 2 directories" in done.stdout
    assert problems(out) == ()
    found = {path.removeprefix(site.origin): page for path, page in exported(out).items()}
    assert found["/two/copy"]["duplicate_of"] == f"{site.origin}/one/a"
    site.news()
    again = crawl(site.url, out, "-a", "revisit=yes")
    assert "Traceback" not in again.stderr
    assert {"/one/a", "/one/b", "/two/copy", "/two/c"} <= set(site.news())
    assert problems(out) == ()


def test_what_cannot_be_is_said_in_one_line(site: ChangingSite, tmp_path: Path) -> None:
    crawl(f"{site.origin}/one/", tmp_path / "one", "-a", "allow=/one/")
    wrong: list[tuple[list[str], str]] = [
        ([], "at least one crawl directory and a new one are needed"),
        (["out"], "at least one crawl directory and a new one are needed"),
        (["--verbos", "one", "out"], "unknown option --verbos"),
        (["one", "one"], "there is something in it already"),
        (["absent", "out"], "no such directory"),
        (["--name", "fleet", "one", "out"], "--name names a fleet"),
        (["--redis", "redis://127.0.0.1:1", "one", "out"], "is it running"),
    ]
    for arguments, message in wrong:
        places = [
            one if one.startswith(("-", "redis:")) else str(tmp_path / one) for one in arguments
        ]
        done = scrapy("merge", *places)
        assert done.returncode == 2, done.stdout
        assert message in done.stderr
        assert done.stderr.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one"]


def test_as_json(site: ChangingSite, tmp_path: Path) -> None:
    crawl(f"{site.origin}/one/", tmp_path / "one", "-a", "allow=/one/")
    done = scrapy("merge", "--json", str(tmp_path / "one"), str(tmp_path / "out"))
    found = json.loads(done.stdout)
    assert (found["pages"], found["kept"], found["lost"]) == (3, 3, [])
