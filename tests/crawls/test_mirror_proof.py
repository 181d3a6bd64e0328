"""``crawl-once mirror prove``: pages from the disk beside the same pages as recorded."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.crawls.command import scrapy
from tests.crawls.mirrored import host
from tests.sites.changing import ChangingSite

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("rendering_browser")]

PLAYER = os.environ.get("REPLAY_WEB_PAGE")
STYLE = b"main { background: #246; color: #fff; padding: 5em }"
HEAD = '<link rel="stylesheet" href="/style" integrity crossorigin>'
SAYING = b"document.querySelector('h1').textContent = document.querySelectorAll('a').length;"


def mirrored(site: ChangingSite, mirror: Path, head: str = HEAD, *arguments: str) -> str:
    """Mirror three pages with a style sheet and a script; return the folder of their host."""
    site.added["/style"] = lambda exchange: exchange.answer(STYLE, "text/css")
    site.added["/said"] = lambda exchange: exchange.answer(SAYING, "text/javascript")
    site.put("/", "home", ["/a/"], head=head)
    site.put("/a/", "one", ["/", "/b?c=1"], head=head)
    site.put("/b", "two", ["/"], head=head)
    done = scrapy("mirror", site.url, str(mirror), *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return host(site)


def test_pages_are_as_recorded_until_a_file_is_gone(tmp_path: Path) -> None:
    mirror = tmp_path / "mirror"
    with ChangingSite() as site:
        folder = mirrored(site, mirror, f"{HEAD}<script src=/said defer></script>")
    done = scrapy("mirror", "prove", str(mirror))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 pages opened from the disk: 3 as recorded, 0 worse" in done.stdout
    proof = mirror / ".mirror" / "proof"
    assert len(list(proof.glob("*.png"))) == 6
    assert (proof / "index.html").read_text().count("<p>as recorded</p>") == 3
    assert scrapy("mirror", "check", str(mirror)).returncode == 0, "the proof is no stranger"

    (mirror / folder / "a" / "index.html").write_text("<p>Another text.")
    (mirror / folder / "said.js").unlink()
    worse = scrapy("mirror", "prove", "--pages", "2", str(mirror))
    assert worse.returncode == 1
    assert "2 pages of 3 opened from the disk" in worse.stdout
    assert f"{folder}/said.js did not load" in worse.stdout
    assert f"{folder}/a/index.html: changed since it was written" in worse.stdout


def test_what_needs_a_server_is_told(tmp_path: Path) -> None:
    mirror = tmp_path / "mirror"
    with ChangingSite() as site:
        folder = mirrored(site, mirror, "<script src=/said type=module></script>")
    done = scrapy("mirror", "prove", str(mirror))
    assert done.returncode == 1
    assert f"{folder}/index.html: the text differs; {folder}/said.js did not load" in done.stdout


@pytest.mark.skipif(PLAYER is None, reason="REPLAY_WEB_PAGE names no folder with ReplayWeb.page")
def test_archive_is_as_recorded_in_a_player_until_the_mirror_is_newer(tmp_path: Path) -> None:
    mirror = tmp_path / "mirror"
    proof = ("mirror", "prove", "--player", str(PLAYER), str(mirror))
    with ChangingSite() as site:
        folder = mirrored(site, mirror, f"{HEAD}<script src=/said defer></script>", "--wacz")
        done = scrapy(*proof)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "3 pages opened in ReplayWeb.page: 3 as recorded, 0 worse" in done.stdout
        other = SAYING.replace(b".length", b".length + 7")
        site.added["/said"] = lambda exchange: exchange.answer(other, "text/javascript")
        assert scrapy("mirror", str(mirror)).returncode == 0
    worse = scrapy(*proof)
    assert worse.returncode == 1
    assert f"{folder}/index.html: the text differs" in worse.stdout
