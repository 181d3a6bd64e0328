"""One mirror as a process of its own, measured from outside."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING

from crawl_peers.runs import ROOT, RunFailedError, installed_environment
from process_watch import ProcessWatch

from mirror_peers.mirrors import FINE, command
from mirror_peers.pages import PAGES
from mirror_peers.tree import Tree, weigh

if TYPE_CHECKING:
    from collections.abc import Callable

    from mirror_peers.sites import Original
    from tests.sites.nginx import Answered


@dataclass(frozen=True)
class Run:
    """What one mirror of one site took and left.

    Attributes:
        cpu_secs: Of the process and all its descendants.
        peak_bytes: Of the process and its descendants together.
        asked: Requests that the server answered, of every kind.
        fetches: Pages among what was sent whole.
        site_texts: How many different texts the site has.
        is_whole: It ended by itself, not by the time limit.
    """

    mirror: str
    site: str
    wall_secs: float
    cpu_secs: float
    peak_bytes: int
    asked: int
    fetches: int
    site_texts: int
    is_whole: bool
    tree: Tree


def run_mirror(
    mirror: str,
    site: Original,
    cap: int | None,
    max_secs: float,
    look: Callable[[Path], None] | None = None,
) -> Run:
    """Mirror a site from nothing and look at what came of it; the folder is deleted.

    Args:
        mirror: Name of the mirror.
        site: The site.
        cap: At most so many pages.
        max_secs: Seconds after which it is ended.
        look: Function that gets the folder before it is deleted.

    Raises:
        RunFailedError: The process failed, or left no page.
    """
    before, environment = len(site.served.answered()), installed_environment()
    with tempfile.TemporaryDirectory(prefix="mirror-benchmark-") as temporary:
        folder, said = Path(temporary) / "mirror", Path(temporary) / "said"
        folder.mkdir()
        began = time.monotonic()
        with said.open("wb") as output, ProcessWatch(with_memory=True) as watch:
            process = subprocess.Popen(
                command(mirror, site, folder, cap),
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
            timer = Timer(max_secs, os.killpg, [process.pid, signal.SIGKILL])
            timer.start()
            process.wait()
            timer.cancel()
            wall_secs = time.monotonic() - began
        is_whole = process.returncode != -signal.SIGKILL
        tree = weigh(folder, site)
        if not tree.pages or (is_whole and process.returncode not in FINE[mirror]):
            words = said.read_text(errors="replace")[-2000:]
            raise RunFailedError(f"{mirror}, {site.name}: status {process.returncode}\n{words}")
        answered = site.served.answered()[before:]
        if look is not None:
            look(folder)
    return Run(
        mirror=mirror,
        site=site.name,
        wall_secs=wall_secs,
        cpu_secs=watch.cpu_secs,
        peak_bytes=watch.peak_bytes,
        asked=len(answered),
        fetches=sum(_is_page(one) for one in answered),
        site_texts=len(set(site.texts.values())),
        is_whole=is_whole,
        tree=tree,
    )


def _is_page(answered: Answered) -> bool:
    path = answered.target.partition("?")[0]
    return answered.status == 200 and answered.method == "GET" and path.endswith(("/", *PAGES))
