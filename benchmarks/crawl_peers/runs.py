"""One crawl as a process of its own, measured from outside and from within."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from process_watch import BROWSER, ProcessWatch

from crawl_peers import meter, plain

ROOT = Path(__file__).resolve().parents[2]

# The same for everybody, whatever a project's own settings say.
SETTINGS = {
    "CONCURRENT_REQUESTS": "16",
    "CONCURRENT_REQUESTS_PER_DOMAIN": "16",
    "DOWNLOAD_DELAY": "0",
    "RETRY_ENABLED": "False",
    "ROBOTSTXT_OBEY": "True",
    "LOG_LEVEL": "WARNING",
    "TELNETCONSOLE_ENABLED": "False",
    "REMOTE_CONTROL_ENABLED": "False",
    "EXTENSIONS": json.dumps({f"{meter.__name__}.{meter.Meter.__name__}": 0}),
}

_SOURCES = ("crawler", "neardup", "settings")

LINKS, TEXT, OURS = "links", "links and text", "ours"
CRAWLERS = (LINKS, TEXT, OURS)


class RunFailedError(Exception):
    """A crawl ended badly; the message holds the end of what it said."""


@dataclass(frozen=True)
class Mark:
    """What the main process had taken since the spider opened when it had so many pages."""

    pages: int
    secs: float
    cpu_secs: float
    bytes: int


@dataclass(frozen=True)
class Run:
    """What one crawl of one site took. CPU of the main process is split at the first request.

    ``all_cpu_secs`` counts the main process and all that descend from it, ``browser_cpu_secs``
    those of the browser and its driver alone.
    """

    crawler: str
    site: str
    pages: int
    whole_secs: float
    crawl_secs: float
    start_cpu_secs: float
    crawl_cpu_secs: float
    all_cpu_secs: float
    browser_cpu_secs: float
    peak_bytes: int
    marks: tuple[Mark, ...]


def _command(crawler: str, url: str, folder: Path, max_pages: int | None) -> list[str]:
    settings = dict(SETTINGS)
    scrapy = [sys.executable, "-m", "scrapy"]
    if crawler == OURS:
        settings["JOBDIR"] = str(folder / "job")
        arguments = ["crawl", "site", "-a", f"url={url}", "-a", "sitemaps=no"]
        if max_pages:
            arguments += ["-a", f"max_pages={max_pages}"]
    else:
        text = "yes" if crawler == TEXT else "no"
        arguments = ["runspider", str(plain.__file__), "-a", f"url={url}", "-a", f"text={text}"]
        if crawler == TEXT:
            settings["ITEM_PIPELINES"] = json.dumps({"crawl_peers.extraction.Extraction": 300})
        if max_pages:
            settings["CLOSESPIDER_PAGECOUNT"] = str(max_pages)
    for name, value in settings.items():
        arguments += ["-s", f"{name}={value}"]
    return [*scrapy, *arguments]


def _environment(measured: Path) -> dict[str, str]:
    paths = [str(Path(__file__).resolve().parents[1]), os.environ.get("PYTHONPATH", "")]
    own = {
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
        meter.FILE_VARIABLE: str(measured),
    }
    return {**installed_environment(), **own}


def installed_environment() -> dict[str, str]:
    """Return the environment with the sources compiled, as an installation has them.

    The peers are installed; a process that may keep no bytecode compiles ours at each start.
    """
    subprocess.run(
        [sys.executable, "-m", "compileall", "-q", *(str(ROOT / name) for name in _SOURCES)],
        check=True,
    )
    unwanted = "PYTHONDONTWRITEBYTECODE"
    return {name: value for name, value in os.environ.items() if name != unwanted}


def crawl(crawler: str, site: str, url: str, max_pages: int | None = None) -> Run:
    """Crawl a site with one of the ``CRAWLERS``, from a cold start, and wait for the end.

    Raises:
        RunFailedError: The process failed, or fetched nothing.
    """
    with tempfile.TemporaryDirectory(prefix="crawl-benchmark-") as temporary:
        folder = Path(temporary)
        measured, said = folder / "measured.json", folder / "said"
        began = time.monotonic()
        with said.open("wb") as output, ProcessWatch() as watch:
            process = subprocess.Popen(
                _command(crawler, url, folder, max_pages),
                # Ours is a project; the peers must not fall under its settings.
                cwd=ROOT if crawler == OURS else folder,
                env=_environment(measured),
                stdout=output,
                stderr=output,
            )
            process.wait()
            whole_secs = time.monotonic() - began
        if process.returncode != 0 or not measured.exists():
            words = said.read_text(errors="replace")[-2000:]
            raise RunFailedError(f"{crawler}, {site}: exit status {process.returncode}\n{words}")
        figures = json.loads(measured.read_text())
    if not figures["pages"]:
        raise RunFailedError(f"{crawler}, {site}: no page fetched")
    marks = tuple(Mark(**mark) for mark in figures.pop("marks"))
    return Run(
        crawler=crawler,
        site=site,
        whole_secs=whole_secs,
        all_cpu_secs=watch.cpu_secs,
        browser_cpu_secs=watch.secs_of(*BROWSER),
        marks=marks,
        **figures,
    )
