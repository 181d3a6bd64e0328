"""Hosts whose names are slow to resolve hold up no others."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tests.crawls.command import report, scrapy
from tests.sites.many import pages
from tests.sites.refusing import RefusingSite, Visit

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sites.refusing import Refusal

SLOW_NAMES = 12
PAGES = 11
PATIENCE_SECS = 15

# Names of the hosts that are slow are known when a file is there.
NAME_SERVER = f"""
import os, socket, time

def gethostbyname(name, real=socket.gethostbyname):
    if not name.endswith(".invalid"):
        return real(name)
    folder, deadline = os.environ["NAMES"], time.monotonic() + {PATIENCE_SECS}
    while name.startswith("slow") and not os.path.exists(folder + "/known"):
        if time.monotonic() > deadline:
            open(folder + "/gave_up", "w").close()
            raise socket.gaierror("no answer")
        time.sleep(0.02)
    return "127.0.0.2"

socket.gethostbyname = gethostbyname
"""


def test_a_quick_name_does_not_wait_for_slow_ones(tmp_path: Path) -> None:
    """The slow names are known when all pages of the quick one were asked for."""
    (tmp_path / "sitecustomize.py").write_text(NAME_SERVER, encoding="utf-8")
    asked: set[str] = set()

    def note(visit: Visit, site: RefusingSite) -> Refusal | None:
        asked.add(visit.path)
        if asked >= set(site.pages):
            (tmp_path / "known").touch()
        return None

    with RefusingSite(pages(PAGES), note, address="127.0.0.2") as site:
        port = urlsplit(site.url).port
        names = [*(f"slow{number}.invalid" for number in range(SLOW_NAMES)), "quick.invalid"]
        done = scrapy(
            "crawl", "site", "-a", f"url={','.join(f'http://{name}:{port}/' for name in names)}",
            "-s", f"JOBDIR={tmp_path / 'job'}", "-s", "CRAWL_PRIVATE_ADDRESSES=True",
            "-s", "DOWNLOAD_DELAY=0", "-s", "READING_WORKERS=1",
            environment={"PYTHONPATH": str(tmp_path), "NAMES": str(tmp_path)},
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "gave_up").exists()
    assert report(tmp_path / "job")["failed"] == 0
