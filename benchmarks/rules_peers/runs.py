"""One crawl of a served site as a process of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from crawl_peers import plain
from crawl_peers.runs import ROOT, SETTINGS, RunFailedError

from rules_peers import recorder
from rules_peers.curves import Run
from rules_peers.texts import text_names

if TYPE_CHECKING:
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


def crawl(crawler: str, served: Served, cap: int) -> Run:
    """Crawl a site with one of the ``CRAWLERS``, from a cold start, and wait for the end.

    Raises:
        RunFailedError: The process failed, or fetched nothing.
    """
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
        known = served.names()
        names = text_names(recorder.answers(folder)) if known is None else known
        if process.returncode != 0 or not reason or not names:
            words = said.read_text(errors="replace")[-2000:]
            raise RunFailedError(f"{crawler}: exit status {process.returncode}\n{words}")
    return Run(
        site=served.site,
        crawler=crawler,
        names=tuple(names),
        has_ended=reason == "finished",
        cpu_secs=usage.ru_utime + usage.ru_stime,
        total=served.total,
    )


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
        below = "^" + re.escape(url)
        arguments = [
            "crawl",
            "site",
            "-a",
            f"url={url}",
            "-a",
            "scope=host",
            "-a",
            f"allow={below}",
        ]
        arguments += ["-a", "sitemaps=no"]
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
