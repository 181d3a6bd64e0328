"""Crawls from Python: what is yielded is what is stored, however the loop is left."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from crawler import Crawl, CrawlError, crawl, crawl_sync
from crawler.demo import DemoServer
from crawler.storage.errors import JobError
from tests.crawls.command import PROJECT, TIMEOUT_SECS
from tests.sites.many import ManyPages, pages
from tests.sites.statute import statute

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow

KEPT = 73
"""Pages that the demo's site has."""


@pytest.fixture(scope="module")
def site() -> Iterator[DemoServer]:
    with DemoServer() as server:
        yield server


@pytest.fixture(scope="module")
def stored(site: DemoServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("python") / "job"
    assert len(list(crawl_sync(site.url, directory=folder))) == KEPT
    return folder


def children() -> set[int]:
    """Return the processes that this one started."""
    found = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text(encoding="ascii")
    return {int(word) for word in found.split()}


def test_each_kept_page_is_yielded_once_with_its_stored_verdict(
    site: DemoServer, stored: Path, tmp_path: Path
) -> None:
    yielded = list(crawl_sync(site.url, directory=tmp_path / "job"))
    with Crawl.open(tmp_path / "job") as read:
        assert yielded == list(read.pages("kept"))
    with Crawl.open(stored) as other:
        assert {page.url for page in yielded} == {page.url for page in other.pages("kept")}


def test_every_capture_is_yielded_where_that_is_asked_for(site: DemoServer) -> None:
    async def crawled() -> list[tuple[str, str]]:
        found = crawl(site.url, kept_only=False)
        return [(page.url, page.verdict) async for page in found]

    verdicts = asyncio.run(crawled())
    assert len(verdicts) == len(set(verdicts))
    assert sum(verdict == "near_duplicate" for _, verdict in verdicts) == 4
    assert any(verdict == "failed" for _, verdict in verdicts)


def test_pages_that_are_kept_after_all_are_yielded(tmp_path: Path) -> None:
    """Sections whose host's boilerplate is not known when they come are duplicates at first."""
    with ManyPages(statute(14)) as site:
        yielded = [page.url for page in crawl_sync(site.url, directory=tmp_path / "job")]
    with Crawl.open(tmp_path / "job") as read:
        kept = [page.url for page in read.pages("kept")]
    assert len(yielded) == len(set(yielded))
    assert set(yielded) == set(kept)


def test_a_crawl_that_was_left_goes_on(site: DemoServer, tmp_path: Path) -> None:
    before = children()
    first = []
    for page in crawl_sync(site.url, directory=tmp_path / "job", settings={"DOWNLOAD_DELAY": 0}):
        first.append(page.url)
        if len(first) == 5:
            break
    assert children() == before
    with Crawl.open(tmp_path / "job") as left:
        held = {page.url for page in left.pages("kept")}
    rest = [page.url for page in crawl_sync(site.url, directory=tmp_path / "job")]
    assert set(first) <= held
    assert len(held | set(rest)) == len(held) + len(rest) == KEPT


def test_an_error_of_the_consumer_stops_the_crawl(site: DemoServer) -> None:
    before = children()

    async def consume() -> None:
        async for page in crawl(site.url):
            raise RuntimeError(page.url)

    with pytest.raises(RuntimeError, match="http"):
        asyncio.run(consume())
    assert children() == before


def test_a_cancelled_task_stops_the_crawl(site: DemoServer) -> None:
    before = children()

    async def cancelled() -> None:
        has_page = asyncio.Event()

        async def consume() -> None:
            async for _ in crawl(site.url):
                has_page.set()
                await asyncio.sleep(TIMEOUT_SECS)

        task = asyncio.create_task(consume())
        await has_page.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert children() == before


_SCRIPT = """
import sys
from crawler import crawl_sync
for page in crawl_sync(sys.argv[1], directory=sys.argv[2]):
    print(page.url, flush=True)
    input()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_script_that_ends_leaves_no_crawl_behind(tmp_path: Path, number: signal.Signals) -> None:
    with ManyPages(pages(300)) as site:
        script = [sys.executable, "-c", _SCRIPT, site.url, str(tmp_path / "job")]
        with subprocess.Popen(
            script, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            stderr=subprocess.PIPE,
        ) as process:  # fmt: skip
            assert process.stdout is not None
            assert process.stdout.readline()
            process.send_signal(number)
            _, errors = process.communicate(timeout=TIMEOUT_SECS)
        assert process.returncode == -number
        if number == signal.SIGINT:
            assert errors.rstrip().endswith("KeyboardInterrupt")
        # The directory is free again when the crawl has ended.
        rest = _going_on(site.url, tmp_path / "job")
    assert rest
    with Crawl.open(tmp_path / "job") as read:
        assert sum(page.verdict != "failed" for page in read.pages()) == 300


def _going_on(url: str, folder: Path) -> list[str]:
    """Go on with a crawl as soon as the process that had it has ended."""
    until = time.monotonic() + TIMEOUT_SECS
    while True:
        try:
            return [page.url for page in crawl_sync(url, directory=folder)]
        except CrawlError as error:
            if "in use by another process" not in str(error) or time.monotonic() > until:
                raise


def test_a_killed_crawl_is_an_error_and_goes_on(site: DemoServer, tmp_path: Path) -> None:
    before = children()
    found = crawl_sync(site.url, directory=tmp_path / "job")
    urls = [next(iter(found)).url]
    (child,) = children() - before
    os.kill(child, signal.SIGKILL)
    with pytest.raises(CrawlError, match="ended by signal 9; the same call goes on"):
        urls.extend(page.url for page in found)
    urls.extend(page.url for page in crawl_sync(site.url, directory=tmp_path / "job"))
    assert len(urls) == len(set(urls)) == KEPT


def test_a_url_that_gives_no_page_is_an_error() -> None:
    with pytest.raises(CrawlError, match=r"http://127\.0\.0\.1:1/: connection refused"):
        list(crawl_sync("http://127.0.0.1:1/"))


@pytest.mark.parametrize(
    ("arguments", "kind", "said"),
    [
        ({"max_page": 3}, TypeError, "no argument 'max_page'; did you mean max_pages?"),
        ({"max_pages": "x"}, ValueError, "max_pages must be a whole number above 0, got 'x'"),
        ({"scope": "hots"}, ValueError, "hots"),
        ({"deny": "("}, ValueError, "is not a regular expression"),
    ],
)
def test_a_wrong_argument_is_refused_before_anything_starts(
    arguments: dict[str, Any], kind: type[Exception], said: str
) -> None:
    before = children()
    with pytest.raises(kind, match=re.escape(said)):
        next(iter(crawl_sync("http://127.0.0.1:1/", **arguments)))
    assert children() == before


class TestDirectory:
    """``Crawl.open``."""

    def test_it_has_what_the_report_has(self, stored: Path) -> None:
        with Crawl.open(stored) as read:
            report = read.report()
            assert report.kept == len(list(read.pages("kept"))) == KEPT
            # Those with a query are variants, which try fixed rules.
            planted = [one for one in read.duplicates() if "?" not in one.url]
            assert len(planted) == 12 <= len(list(read.duplicates())) == report.duplicates
            assert {one.verdict for one in read.duplicates()} == {
                "exact_duplicate", "text_duplicate", "near_duplicate",
            }  # fmt: skip
            assert list(read.redirects())
            assert repr(read) == f"Crawl.open({str(stored)!r})"

    def test_arrow_has_the_same_rows_in_batches(self, stored: Path) -> None:
        with Crawl.open(stored) as read:
            batches = list(read.to_arrow("kept", batch_size=10))
            urls = [page.url for page in read.pages("kept")]
        assert max(batch.num_rows for batch in batches) == 10
        assert [row["url"] for batch in batches for row in batch.to_pylist()] == urls

    def test_what_is_not_there_is_told(self, stored: Path, tmp_path: Path) -> None:
        with pytest.raises(JobError, match="no such directory"):
            Crawl.open(tmp_path / "nope")
        with Crawl.open(stored) as read, pytest.raises(ValueError, match="did you mean kept"):
            read.pages("kpet")


_BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_the_examples_of_the_documentation_run(site: DemoServer, tmp_path: Path) -> None:
    examples = _BLOCK.findall((PROJECT / "docs" / "python.md").read_text(encoding="utf-8"))
    assert len(examples) == 4
    for example in examples:
        done = subprocess.run(
            [sys.executable, "-c", example.replace("https://docs.python.org/3/", site.url)],
            cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(PROJECT)},
            capture_output=True, text=True, check=False, timeout=TIMEOUT_SECS,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert done.stdout, example
