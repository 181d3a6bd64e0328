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


ERRING = """
import socket

def gethostbyname(name, asked=[], real=socket.gethostbyname):
    if not name.endswith(".invalid"):
        return real(name)
    asked.append(name)
    if name == "none.invalid":
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
    if asked.count(name) == 1:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
    return "127.0.0.2"

socket.gethostbyname = gethostbyname
"""


def test_a_host_whose_name_does_not_exist_is_not_waited_for(tmp_path: Path) -> None:
    """One whose name server does not answer is: its pages are there."""
    (tmp_path / "sitecustomize.py").write_text(ERRING, encoding="utf-8")
    with RefusingSite(pages(1), lambda visit, site: None, address="127.0.0.2") as site:
        port = urlsplit(site.url).port
        names = ("none.invalid", "late.invalid")
        done = scrapy(
            "crawl", "site", "-a", f"url={','.join(f'http://{name}:{port}/' for name in names)}",
            "-s", f"JOBDIR={tmp_path / 'job'}", "-s", "CRAWL_PRIVATE_ADDRESSES=True",
            "-s", "READING_WORKERS=1", environment={"PYTHONPATH": str(tmp_path)},
        )  # fmt: skip
    assert done.returncode == 1, done.stderr
    found = report(tmp_path / "job")
    assert [host["name"].partition(":")[0] for host in found["rested"]] == ["late.invalid"]
    assert found["missing"] == {"no such host": 1}
    assert found["kept"] == 1
