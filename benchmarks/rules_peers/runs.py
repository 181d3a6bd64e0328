"""One crawl of a served site as a process of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from crawl_peers import plain
from crawl_peers.runs import ROOT, SETTINGS, RunFailedError

from crawler.urls.scope import Scope
from rules_peers import recorder
from rules_peers.curves import Run
from rules_peers.recordings import Recording, recorded_pages, write_recording
from rules_peers.texts import text_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rules_peers.sites import Served

PLAIN, OURS, LEARNING = "Scrapy", "ours", "ours, learning"
CRAWLERS = (PLAIN, OURS, LEARNING)

# Scrapy follows links whatever robots meta and rel=nofollow say; gitweb says nofollow everywhere.
_OURS = {
    "CRAWL_OBEY_ROBOTS_META": "False",
    "CRAWL_OBEY_NOFOLLOW": "False",
    "PROGRESS_ENABLED": "False",
}
_WITHOUT_RULES = {"CRAWL_LEARN_URL_RULES": "False"}


class _Ended(NamedTuple):
    """A crawl that is over, while what it left behind is there.

    Attributes:
        folder: What the recorder wrote.
        reason: Why it ended, as Scrapy says it.
        cpu_secs: Of its process and those that this one waited for.
    """

    folder: Path
    reason: str
    cpu_secs: float


def crawl(crawler: str, served: Served, cap: int) -> Run:
    """Crawl a site with one of the ``CRAWLERS``, from a cold start, and wait for the end.

    Raises:
        RunFailedError: The process failed, or fetched nothing.
    """
    with _ended(crawler, served, cap) as ended:
        known = served.names()
        names = text_names(recorder.answers(ended.folder)) if known is None else known
    if not names:
        raise RunFailedError(f"{crawler}: no page fetched")
    return Run(
        site=served.site,
        crawler=crawler,
        names=tuple(names),
        has_ended=ended.reason == "finished",
        cpu_secs=ended.cpu_secs,
        total=served.total,
    )


def record(served: Served, cap: int, file: Path) -> Recording:
    """Crawl a site by ours without learning, and keep what it is to be simulated by.

    Files: ``file``, as ``rules_peers.recordings`` describes it.

    Raises:
        RunFailedError: The process failed, or fetched nothing.
    """
    with _ended(OURS, served, cap) as ended:
        pages = recorded_pages(list(recorder.answers(ended.folder)), scope_of(served.url))
        if not pages:
            raise RunFailedError(f"{OURS}: no page fetched")
        recording = Recording(served.site, (served.url,), pages)
    write_recording(file, recording)
    return recording


def scope_of(url: str) -> Scope:
    """Return the scope of a crawl by ours."""
    return Scope([url], "host", _below(url))


def _below(url: str) -> str:
    return "^" + re.escape(url)


@contextmanager
def _ended(crawler: str, served: Served, cap: int) -> Iterator[_Ended]:
    """Crawl a site, and hold what was recorded while a ``with`` block lasts."""
    served.forget()
    with tempfile.TemporaryDirectory(prefix="rules-benchmark-") as temporary:
        folder = Path(temporary)
        said = folder / "said"
        with said.open("wb") as output:
            process = subprocess.Popen(
                _command(crawler, served.url, folder, cap),
                # Ours is a project; plain Scrapy must not fall under its settings.
                cwd=folder if crawler == PLAIN else ROOT,
                env=_environment(folder),
                stdout=output,
                stderr=output,
            )
            _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        reason = recorder.reason(folder)
        if process.returncode != 0 or not reason:
            words = said.read_text(errors="replace")[-2000:]
            raise RunFailedError(f"{crawler}: exit status {process.returncode}\n{words}")
        yield _Ended(folder, reason, usage.ru_utime + usage.ru_stime)


def _command(crawler: str, url: str, folder: Path, cap: int) -> list[str]:
    extension = f"{recorder.__name__}.{recorder.Recorder.__name__}"
    settings = {
        **SETTINGS,
        "EXTENSIONS": json.dumps({extension: 0}),
        "CLOSESPIDER_PAGECOUNT": str(cap),
    }
    if crawler == PLAIN:
        arguments = ["runspider", str(plain.__file__), "-a", f"url={url}"]
    else:
        told = (f"url={url}", "scope=host", f"allow={_below(url)}", "sitemaps=no")
        arguments = ["crawl", "site"]
        for argument in told:
            arguments += ["-a", argument]
        settings |= {**_OURS, "JOBDIR": str(folder / "job")}
    if crawler == OURS:
        settings |= _WITHOUT_RULES
    for name, value in settings.items():
        arguments += ["-s", f"{name}={value}"]
    return [sys.executable, "-m", "scrapy", *arguments]


def _environment(folder: Path) -> dict[str, str]:
    paths = [str(Path(__file__).resolve().parents[1]), os.environ.get("PYTHONPATH", "")]
    own = {
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
        recorder.FOLDER_VARIABLE: str(folder),
    }
    return {**os.environ, **own}
