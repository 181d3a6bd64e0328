"""``crawl-once mirror --login``: cookies of a visible browser, in a display of the test's own."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.crawls.command import scrapy
from tests.crawls.terminal import OnTerminal
from tests.sites.changing import ChangingSite, page
from tests.sites.packages import SiteUnavailableError, require_tool
from tests.sites.prose import prose
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.sites.exchange import Exchange

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("rendering_browser")]


@pytest.fixture
def display() -> Iterator[str]:
    """The name of a display that nobody sees."""
    try:
        server = require_tool("Xvfb")
    except SiteUnavailableError as lack:
        pytest.skip(f"no display here: {lack}")
    with subprocess.Popen(
        [server, "-displayfd", "1", "-nolisten", "tcp", "-screen", "0", "800x600x24"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as running:
        assert running.stdout is not None
        yield f":{running.stdout.readline().strip()}"
        running.terminate()


def _members(exchange: Exchange) -> None:
    """Show who logged in; a browser logs in by itself."""
    if "session=s1" in exchange.headers.get("Cookie", ""):
        exchange.answer(page(prose("within", 200)))
    elif "Chrome" in exchange.headers.get("User-Agent", ""):
        cookies = {"Set-Cookie": "session=s1; Path=/; HttpOnly; Max-Age=3600"}
        exchange.redirect("/", cookies)
    else:
        exchange.answer(b"Who?", status=403)


def _logged_in(site: ChangingSite) -> bool:
    return any("session=s1" in one.headers.get("cookie", "") for one in site.asked)


def test_the_mirror_is_of_the_person_who_logged_in(
    tmp_path: Path, display: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISPLAY", display)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    folder = tmp_path / "m"
    with ChangingSite() as site:
        site.added["/"] = _members
        command = [sys.executable, "-m", "scrapy", "mirror", "--login", site.url, str(folder)]
        with OnTerminal(400, command) as terminal:
            wait_until(lambda: _logged_in(site), terminal.process)
            terminal.press(b"\n")
            text = terminal.finish().text
    assert "press Enter here" in text
    assert "1 cookie from the browser" in text
    (served,) = folder.glob("127.0.0.1*/index.html")
    assert prose("within", 200).encode() in served.read_bytes()
    (profile,) = (tmp_path / "data" / "crawl-once" / "browser").iterdir()
    assert profile.stat().st_mode & 0o77 == 0
    names = [path.name for path in folder.rglob("*") if "cookie" in path.name.lower()]
    assert names == [], "a mirror that is given away holds no login"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "this machine has no display"),
        (("--cookies", "cookies.txt"), "give one of --login and --cookies"),
    ],
)
def test_what_is_wrong_is_one_line(arguments: tuple[str, ...], words: str, tmp_path: Path) -> None:
    nowhere = dict.fromkeys(("DISPLAY", "WAYLAND_DISPLAY"), "")
    command = ("mirror", "--login", "http://127.0.0.1:9/", str(tmp_path / "m"), *arguments)
    done = scrapy(*command, environment=nowhere)
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1
