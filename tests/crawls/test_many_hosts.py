"""A crawl of more hosts than a process may have files open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.crawls.command import report, scrapy
from tests.sites.prose import prose
from tests.sites.serving import NOT_FOUND, MadeSite, Response

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sites.serving import Request

HOSTS = 200
FILES = 150

# Every name is the one server; connections are kept for each name.
FEW_FILES = f"""
import resource, socket

def gethostbyname(name, real=socket.gethostbyname):
    return "127.0.0.2" if name.endswith(".invalid") else real(name)

socket.gethostbyname = gethostbyname
resource.setrlimit(resource.RLIMIT_NOFILE, ({FILES}, {FILES}))
"""


class KeepingSite(MadeSite):
    """One page under each name; connections stay open after an answer."""

    def respond(self, request: Request) -> Response:
        if request.target != "/":
            return NOT_FOUND
        return Response(f"<title>{request.host}</title><p>{prose(request.host, 120)}".encode())


def test_no_page_is_lost_for_connections_that_are_kept(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(FEW_FILES, encoding="utf-8")
    with KeepingSite(("127.0.0.2",)) as site:
        urls = [f"http://host{number}.invalid:{site.port}/" for number in range(HOSTS)]
        (tmp_path / "urls.txt").write_text("\n".join(urls), encoding="utf-8")
        done = scrapy(
            "crawl", "urls", "-a", f"file={tmp_path / 'urls.txt'}",
            "-s", f"JOBDIR={tmp_path / 'job'}", "-s", "CRAWL_PRIVATE_ADDRESSES=True",
            "-s", "DOWNLOAD_DELAY=0", "-s", "READING_WORKERS=1",
            environment={"PYTHONPATH": str(tmp_path)},
        )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Too many open files" not in done.stderr
    found = report(tmp_path / "job")
    assert (found["failed"], found["kept"]) == (0, HOSTS)
