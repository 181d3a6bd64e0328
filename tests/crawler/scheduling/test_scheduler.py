"""The scheduler inside real crawls of a foreign spider: who is served, what is refused."""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import sqlite3
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
import scrapy
from scrapy.dupefilters import RFPDupeFilter
from scrapy.utils.project import get_project_settings
from scrapy.utils.test import get_crawler

from crawler.frontier.order import NewRequest, QueuedRequest, host_number
from crawler.frontier.request_records import encode_parts
from crawler.job import Job
from crawler.scheduling.request_codec import encode_request
from crawler.scheduling.scheduler import FrontierScheduler
from crawler.spiders.site import SiteSpider
from crawler.storage.database import Database
from tests.crawler.pages.test_capture import OPTIONS
from tests.crawler.scheduling.two_hosts import TwoHosts

pytestmark = pytest.mark.slow

PROJECT = Path(__file__).parents[3]
SCRAPY_VERSIONS = os.environ.get("SCRAPY_VERSIONS")
"""A folder that ``.ci/run`` makes, with the lowest and the newest Scrapy that is allowed."""

RUN = """
import asyncio, json, sys
import scrapy
from scrapy.crawler import AsyncCrawlerProcess

class Asking(scrapy.Spider):
    name = "asking"
    custom_settings = {
        "ADDONS": {"crawler.addon.NearDuplicates": 300},
        "PROGRESS_ENABLED": False, "LOG_LEVEL": "ERROR", "RETRY_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False, "REMOTE_CONTROL_ENABLED": False,
        "DOWNLOAD_DELAY": 0, "READING_WORKERS": 1, **json.loads(sys.argv[1]),
    }

    got = []

    async def start(self):
        for request in self.requests():
            yield request

    def parse(self, response):
        self.got.append(response.url)

    def page(self, url, slot, **arguments):
        return scrapy.Request(url, meta={"download_slot": slot}, **arguments)

    def requests(self):
        REQUESTS

process = AsyncCrawlerProcess({"LOG_LEVEL": "ERROR"})
crawler = process.create_crawler(Asking)
process.crawl(crawler)
process.start()
stats = {name: value for name, value in crawler.stats.get_stats().items() if isinstance(value, int)}
print(json.dumps({"version": scrapy.__version__, "got": Asking.got, "stats": stats}))
"""


ANOTHER_ENGINE = """
import scrapy.core.engine

class Slot(scrapy.core.engine._Slot):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.requests = self.__dict__.pop("inprogress")

scrapy.core.engine._Slot = Slot
"""


def run(
    requests: str,
    settings: dict[str, Any],
    path: Path | None = None,
    engine: str = "",
    method: str = "",
) -> tuple[dict[str, Any], str]:
    """Crawl with a spider that begins with some requests; what it got, and what it complained."""
    code = RUN.replace("REQUESTS", requests)
    if method:
        code = code.replace("def requests(self):\n", method)
    paths = ([str(path)] if path else []) + [str(PROJECT)]
    done = subprocess.run(
        [sys.executable, "-c", engine + code, json.dumps(settings)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={"PYTHONPATH": ":".join(paths), "PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result, done.stderr


@pytest.fixture
def hosts() -> Any:
    with TwoHosts(fast_pages=20) as hosts:
        yield hosts


class TestFairness:
    @pytest.mark.parametrize("obeys_robots", [False, True])
    @pytest.mark.parametrize("has_jobdir", [False, True])
    def test_a_slow_host_holds_nobody_up(
        self, hosts: TwoHosts, tmp_path: Path, *, has_jobdir: bool, obeys_robots: bool
    ) -> None:
        """It is first in the queue, and has more there than the downloader takes in all."""
        requests = (
            f"yield from (self.page(f'{hosts.slow}/slow/{{n}}', 'slow') for n in range(20))\n"
            f"        yield from (self.page(f'{hosts.fast}/fast/{{n}}', 'fast') for n in range(20))"
        )
        settings: dict[str, Any] = {
            "CONCURRENT_REQUESTS": 6,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 4,
            "ROBOTSTXT_OBEY": obeys_robots,
        }
        if has_jobdir:
            settings["JOBDIR"] = str(tmp_path / "job")
        result, errors = run(requests, settings)
        assert not hosts.was_held_up
        assert len(set(result["got"])) == 40
        assert errors == ""


class TestRefusal:
    REQUESTS = (
        "yield self.page('URL/fast/lambda', 'x', callback=lambda response: self.parse(response))\n"
        "        yield self.page('URL/fast/meta', 'x', cb_kwargs={'lock': (n for n in ())})\n"
        "        yield self.page('URL/fast/lambda', 'x')\n"
        "        yield self.page('URL/fast/plain', 'x')"
    )

    def test_what_cannot_be_stored_is_named_and_not_queued(
        self, hosts: TwoHosts, tmp_path: Path
    ) -> None:
        jobdir = {"JOBDIR": str(tmp_path / "job")}
        result, errors = run(self.REQUESTS.replace("URL", hosts.fast), jobdir)
        assert f"<GET {hosts.fast}/fast/lambda> is refused" in errors
        assert f"<GET {hosts.fast}/fast/meta> is refused" in errors
        assert "is no method of the spider; make it one" in errors
        assert "cb_kwargs['lock'] holds <generator" in errors
        assert "Traceback" not in errors
        assert result["stats"]["scheduler/unserializable"] == 2
        assert result["stats"]["scheduler/enqueued"] == 2
        # The place itself is not taken for seen: it is asked for by the request that can be stored.
        assert sorted(result["got"]) == [f"{hosts.fast}/fast/lambda", f"{hosts.fast}/fast/plain"]

    def test_without_a_jobdir_any_request_will_do(self, hosts: TwoHosts) -> None:
        requests = f"yield self.page('{hosts.fast}/fast/1', 'x', callback=lambda r: self.parse(r))"
        result, errors = run(requests, {})
        assert result["got"] == [f"{hosts.fast}/fast/1"]
        assert "scheduler/unserializable" not in result["stats"]
        assert errors == ""


def depth_and_retries(settings: dict[str, Any]) -> tuple[int, int]:
    """Retry a request of depth 5 that was found at depth 2 meanwhile; the meta of the new one."""

    async def noted() -> scrapy.Request:
        crawler = get_crawler(SiteSpider, settings)
        crawler.spider = spider = crawler._create_spider(url="http://h.test/")
        scheduler = FrontierScheduler(crawler, RFPDupeFilter())
        scheduler._spider = spider
        request = scrapy.Request("http://h.test/a", callback=spider.parse, meta={"depth": 5})
        is_stored = settings["JOBDIR"] is not None
        stored: Any = encode_request(request, spider) if is_stored else request
        queued = QueuedRequest(1, 1, request.url, 0, stored, depth=2)
        sent = scheduler._rebuild(queued)
        assert sent is not None
        scheduler._leases[sent] = queued
        return scheduler._noted(sent, {"retry_times": 1})

    meta = asyncio.run(noted()).meta
    return meta["depth"], meta["retry_times"]


class TestRetriedRequest:
    @pytest.mark.parametrize("is_stored", [True, False])
    def test_it_is_as_near_as_was_found_while_it_waited(
        self, tmp_path: Path, is_stored: bool
    ) -> None:
        settings = {**get_project_settings(), "TWISTED_REACTOR_ENABLED": False}
        if is_stored:
            settings["JOBDIR"] = str(tmp_path)
        # A process of its own: in this one other tests may have installed a reactor.
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
            assert fresh.submit(depth_and_retries, settings).result() == (2, 1)


class Trap:
    """Makes a file when it is unpickled."""

    def __init__(self, sprung: Path) -> None:
        self._sprung = sprung

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self._sprung,)


class TestDirectoryOfAStranger:
    def test_runs_no_code_and_names_what_it_cannot_take_up(
        self, hosts: TwoHosts, tmp_path: Path
    ) -> None:
        folder, sprung = tmp_path / "job", tmp_path / "sprung"
        trap = pickle.dumps(Trap(sprung))
        with closing(Job(folder, OPTIONS)) as job:
            job.begin_visit()
            for name, stored in (("trap", trap), ("plain", encode_parts({"flags": ["x"]}))):
                job.frontier.queue.push(
                    NewRequest(host_number("x"), f"{hosts.fast}/fast/{name}", 0, stored, None)
                )
        (folder / "spider.state").write_bytes(trap)
        result, errors = run("yield from ()", {"JOBDIR": str(folder)})
        assert not sprung.exists()
        assert sorted(result["got"]) == [f"{hosts.fast}/fast/plain"]
        assert f"{hosts.fast}/fast/trap cannot be taken up again: no JSON" in errors
        assert "Traceback" not in errors


def state_in(folder: Path) -> Any:
    with closing(Database(folder)) as database:
        return json.loads(database.meta("spider_state") or "null")


class TestSpiderState:
    COUNTING = "self.state['starts'] = [*self.state.get('starts', ()), VALUE]; yield from ()"

    def test_goes_on_as_json(self, tmp_path: Path) -> None:
        jobdir = {"JOBDIR": str(tmp_path / "job")}
        for value in ("1", "'two'"):
            _, errors = run(self.COUNTING.replace("VALUE", value), jobdir)
            assert errors == ""
        assert state_in(tmp_path / "job") == {"starts": [1, "two"]}

    def test_what_json_cannot_say_is_named_and_the_last_state_stays(self, tmp_path: Path) -> None:
        jobdir = {"JOBDIR": str(tmp_path / "job")}
        run(self.COUNTING.replace("VALUE", "1"), jobdir)
        _, errors = run(self.COUNTING.replace("VALUE", "{2}"), jobdir)
        assert "spider.state['starts'][1] holds {2}, which JSON cannot say" in errors
        assert state_in(tmp_path / "job") == {"starts": [1]}


REPLACING = """
class Replacing:
    def process_response(self, request, response):
        response.request = request.replace(headers={"X": "replaced"})
        return response
"""


class TestReplacedRequest:
    def test_a_broken_callback_is_not_done_where_a_middleware_replaced_its_request(
        self, hosts: TwoHosts, tmp_path: Path
    ) -> None:
        settings = {
            "JOBDIR": str(tmp_path / "job"),
            "DOWNLOADER_MIDDLEWARES": {"__main__.Replacing": 500},
        }
        first = f"yield self.page('{hosts.fast}/fast/1', 'x', callback=self.broken)"
        broken = "def broken(self, response): raise ValueError('broke')\n    def requests(self):\n"
        _, errors = run(first, settings, engine=REPLACING, method=broken)
        assert "ValueError: broke" in errors
        with closing(sqlite3.connect(tmp_path / "job" / "crawl.db")) as connection:
            rows = connection.execute("SELECT state, tries FROM requests").fetchall()
        assert rows == [(3, 1)]


class TestScrapysEngine:
    """The acknowledgement rests on something private of Scrapy's."""

    def test_an_engine_without_it_is_refused_loudly(self, hosts: TwoHosts, tmp_path: Path) -> None:
        requests = f"yield self.page('{hosts.fast}/fast/1', 'x')"
        jobdir = {"JOBDIR": str(tmp_path / "job")}
        result, errors = run(requests, jobdir, engine=ANOTHER_ENGINE)
        assert result["got"] == hosts.served == []
        assert "RuntimeError: this version of Scrapy keeps no set engine._slot.inprogress" in errors
        assert "SCHEDULER = 'scrapy.core.scheduler.Scheduler'" in errors

    @pytest.mark.skipif(
        SCRAPY_VERSIONS is None, reason="SCRAPY_VERSIONS names no folder with other Scrapys in it"
    )
    @pytest.mark.parametrize("which", ["lowest", "newest"])
    def test_requests_are_acknowledged_in_every_scrapy_that_is_allowed(
        self, hosts: TwoHosts, tmp_path: Path, which: str
    ) -> None:
        path = Path(SCRAPY_VERSIONS or "") / which
        requests = f"yield from (self.page(f'{hosts.fast}/fast/{{n}}', 'f') for n in range(20))"
        result, errors = run(requests, {"JOBDIR": str(tmp_path / "job")}, path)
        assert errors == ""
        assert len(result["got"]) == 20
        with closing(sqlite3.connect(tmp_path / "job" / "crawl.db")) as connection:
            states = connection.execute("SELECT state, count(*) FROM requests GROUP BY state")
            assert states.fetchall() == [(2, 20)], f"Scrapy {result['version']}"
