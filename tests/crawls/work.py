"""Count what a crawl costs its main process: calls, statements, rows and bytes, never seconds."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from cProfile import Profile
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy import signals

from crawler.job_registry import job_of
from crawler.reading.process import WorkerProcess
from settings.crawl import EXTENSIONS
from tests.crawler.storage.counting import rows_written
from tests.crawls.command import PROJECT, TIMEOUT_SECS
from tests.sites.prose import prose
from tests.sites.serving import NOT_FOUND, MadeSite, Response

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

    from crawler.reading.protocol import Message
    from tests.sites.serving import Request

FILE_VARIABLE = "CRAWL_WORK_FILE"

ARTICLES = 740
"""Number of articles of the site whose crawl is pinned, a thousand pages with their copies."""

MARGIN = 1.05
"""Counts differ between two crawls by so much, since answers come in another order."""

_MARGIN_OF_COMMITS = 2.2
"""So much do counts differ that grow with commits, which come ten times a second: a busy machine
makes more of them for as many pages, 1.72 times the bytes beside five other tests. A commit writes
some 50 pages of 4 kB of the database, whether one page of the site is in it or twenty: 135 to 167
commits were 34 to 38 kB a page, on a machine with as much other work as it has processors."""

_RULES = "crawler.url_rules"
_CALLS_OF_RULES = "calls of URL rules"

_OTHER_MARGINS = {"calls": 1.15, "calls of ours": 1.15, _CALLS_OF_RULES: 1.9}
"""What the rules learn, and so compute, depends on the order of the answers: 348 to 474 calls a
page were seen. They are counted apart, so that the others can be held to a ceiling that is nearer:
965 to 973 of ours were seen, and of all 2,951 to 2,996; where one page was asked for at a time,
so that the loop went round more often, an eighth more. Each ceiling is 1 or 2 percent above
that."""

_OF_COMMITS = frozenset({"statements", "rows", "bytes written"})
_OF_CHANCE = _OF_COMMITS | {_CALLS_OF_RULES, "bytes sent to workers"}

_PINNED = Path(__file__).with_name("work_pinned.json")
_WRITTEN = re.compile(r"^wchar: (\d+)", re.MULTILINE)
_PEAK = re.compile(r"VmHWM:\s+(\d+)")
_SITE_PACKAGES = re.compile(r".*/site-packages/(\w+)[/.]")


@dataclass(frozen=True)
class Work:
    """The work of one crawl between the opening of its spider and its end.

    Attributes:
        pages: Pages that were fetched and stored.
        calls: Calls of Python functions by module; of other packages by the package.
        statements: Statements that SQLite was told, many rows at once as one.
        rows: Rows that were written.
        written: Bytes that were written to files.
        sent: Bytes that were sent to reading workers.
        peak: Bytes of memory at most.
    """

    pages: int
    calls: dict[str, int]
    statements: int
    rows: int
    written: int
    sent: int
    peak: int

    @property
    def ours(self) -> dict[str, float]:
        """Calls a page by our own modules, the most first."""
        own = {name: n for name, n in self.calls.items() if name.startswith(("crawler", "neardup"))}
        return {name: n / self.pages for name, n in sorted(own.items(), key=lambda one: -one[1])}

    @property
    def a_page(self) -> dict[str, float]:
        """The counts for each page."""
        of_rules = sum(n for name, n in self.ours.items() if name.startswith(_RULES))
        return {
            "calls": sum(self.calls.values()) / self.pages - of_rules,
            "calls of ours": sum(self.ours.values()) - of_rules,
            _CALLS_OF_RULES: of_rules,
            "statements": self.statements / self.pages,
            "rows": self.rows / self.pages,
            "bytes written": self.written / self.pages,
            "bytes sent to workers": self.sent / self.pages,
        }


class WorkCounter:
    """A Scrapy extension that counts, and writes a ``Work`` where ``CRAWL_WORK_FILE`` says."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._profile = Profile()
        self._sent = self._statements = self._rows = self._written = 0
        crawler.signals.connect(self._opened, signals.spider_opened)
        crawler.signals.connect(self._closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def _opened(self) -> None:
        tell = WorkerProcess.tell

        def counted(worker: WorkerProcess, message: Message, payload: bytes = b"") -> None:
            self._sent += len(payload)
            tell(worker, message, payload)

        WorkerProcess.tell = counted  # type: ignore[assignment, method-assign]
        self._rows = rows_written(job_of(self._crawler).database)
        self._written = bytes_written()
        self._profile.enable()

    def _closed(self) -> None:
        self._profile.disable()
        database = job_of(self._crawler).database
        calls, statements = Counter[str](), 0
        for entry in self._profile.getstats():
            if isinstance(entry.code, str):
                statements += entry.callcount if "execute" in entry.code else 0
            else:
                calls[module_of(entry.code.co_filename)] += entry.callcount
        work = Work(
            database.read("SELECT count(*) FROM pages WHERE verdict IS NOT NULL").fetchone()[0],
            dict(calls),
            statements,
            rows_written(database) - self._rows,
            bytes_written() - self._written,
            self._sent,
            peak_bytes(),
        )
        Path(os.environ[FILE_VARIABLE]).write_text(json.dumps(asdict(work)), encoding="utf-8")


def module_of(file: str) -> str:
    """Return the module of ours that a file is, or the package that it is of."""
    path = Path(file)
    if path.is_relative_to(PROJECT) and "site-packages" not in file:
        return ".".join(path.relative_to(PROJECT).with_suffix("").parts)
    found = _SITE_PACKAGES.match(file)
    return found[1] if found else "python"


def bytes_written() -> int:
    """Return the number of bytes that this process has written to files."""
    found = _WRITTEN.search(Path("/proc/self/io").read_text())
    return int(found[1]) if found else 0


def peak_bytes() -> int:
    found = _PEAK.search(Path("/proc/self/status").read_text())
    return int(found[1]) * 1024 if found else 0


def count_work(url: str, folder: Path) -> Work:
    """Crawl a site into a folder and return what it cost.

    Raises:
        RuntimeError: The crawl failed; the message has its last words.
    """
    file = folder.with_suffix(".json")
    counter = f"{WorkCounter.__module__}.{WorkCounter.__name__}"
    # Beside those of the profile: what it leaves out is no work of a crawl.
    extensions = json.dumps({**EXTENSIONS, counter: 0})
    arguments = ["crawl", "site", "-a", f"url={url}", "-a", "sitemaps=no"]
    settings = [f"JOBDIR={folder}", f"EXTENSIONS={extensions}", "LOG_LEVEL=WARNING"]
    settings += ["DOWNLOAD_DELAY=0", "CONCURRENT_REQUESTS_PER_DOMAIN=16"]
    for setting in settings:
        arguments += ["-s", setting]
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", *arguments],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECS,
        check=False,
        env={**os.environ, FILE_VARIABLE: str(file), "PYTHONPATH": str(PROJECT)},
    )
    if done.returncode or not file.exists():
        raise RuntimeError(done.stderr[-2000:])
    return Work(**json.loads(file.read_text(encoding="utf-8")))


class CopyingSite(MadeSite):
    """Articles on one template, some of them also as a print view or with an edited sentence.

    Args:
        articles: Number of articles; every fourth has a print view, every tenth an edited copy.
    """

    def __init__(self, articles: int) -> None:
        super().__init__()
        self._pages = {"/": "Index"}
        for number in range(articles):
            self._pages[f"/articles/{number}.html"] = prose(f"article {number}", 220)
            if number % 4 == 0:
                self._pages[f"/print/{number}.html"] = prose(f"article {number}", 220)
            if number % 10 == 0:
                edited = prose(f"article {number}", 220) + " An edition of another day."
                self._pages[f"/editions/{number}.html"] = edited
        paths = [path for path in self._pages if path != "/"]
        self._paths = paths

    def respond(self, request: Request) -> Response | None:
        text = self._pages.get(request.target)
        if text is None:
            return NOT_FOUND
        at = self._paths.index(request.target) if request.target != "/" else 0
        count = len(self._paths)
        links = (
            self._paths
            if request.target == "/"
            else [self._paths[(at + step) % count] for step in range(1, 41)]
        )
        navigation = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
        title = text.split(".", maxsplit=1)[0]
        body = (
            f"<title>{title}</title><nav><ul>{navigation}</ul></nav><main><h1>{title}</h1>"
            f"<p>{text}</p></main><footer>Set in Garamond</footer>"
        )
        return Response(body.encode())


def margin_of(name: str) -> float:
    """Return how many times a count of ``Work.a_page`` may be as high as the one that is pinned."""
    usual = _MARGIN_OF_COMMITS if name in _OF_COMMITS else MARGIN
    return _OTHER_MARGINS.get(name, usual)


def pinned() -> Work:
    """Return the crawl of ``CopyingSite`` with the least work so far."""
    return Work(**json.loads(_PINNED.read_text(encoding="utf-8")))


def pin(work: Work) -> None:
    """Store a crawl as the one to be measured by, if none of its counts rose.

    Only counts that grow with commits, with what the order of the answers lets rules learn or with
    the digits of a port have a margin here, and stay as they were pinned where they rose within it:
    else their ceilings would creep up from one change to the next.
    """
    before = pinned()
    rose = [
        name
        for name, n in work.a_page.items()
        if n > (margin_of(name) if name in _OF_CHANCE else 1.0) * before.a_page[name]
    ]
    if rose:
        raise SystemExit(f"not pinned, {', '.join(rose)} rose:\n{modules_that_rose(work)}")
    share = work.pages / before.pages
    least = {
        name: min(getattr(work, name), round(getattr(before, name) * share))
        for name in ("statements", "rows", "written", "sent")
    }
    calls = work.calls
    if work.a_page[_CALLS_OF_RULES] > before.a_page[_CALLS_OF_RULES]:
        of_rules = {name: n for name, n in before.calls.items() if name.startswith(_RULES)}
        others = {name: n for name, n in calls.items() if not name.startswith(_RULES)}
        calls = others | {name: round(n * share) for name, n in of_rules.items()}
    work = replace(work, calls=calls, **least)
    _PINNED.write_text(json.dumps(asdict(work), indent=1, sort_keys=True) + "\n", encoding="utf-8")


def modules_that_rose(work: Work) -> str:
    """Return the modules with more calls a page than in ``pinned``, those that rose most first."""
    before = pinned()
    rises = {
        name: (n / work.pages, before.calls.get(name, 0) / before.pages)
        for name, n in work.calls.items()
    }
    lines = [
        f"{name}: {now:.1f} calls a page, {then:.1f} before"
        for name, (now, then) in sorted(rises.items(), key=lambda one: one[1][1] - one[1][0])
        if now > then
    ]
    return "\n".join(lines[:10])
