"""``--max-rate`` and ``--hours``: how fast, and when."""

from __future__ import annotations

import signal
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from tests.crawls.command import start_scrapy
from tests.crawls.mirrored import host, mirror
from tests.sites.needing import NeedingSite, body

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sites.exchange import Exchange

pytestmark = pytest.mark.slow

LARGE = bytes(range(256)) * 4_000
RATE = 250_000


def _stalled(exchange: Exchange) -> None:
    exchange.head(200, {"Content-Type": "video/mp4", "Content-Length": "100000"})
    exchange.wfile.write(b"x" * 1_000)
    exchange.wfile.flush()
    exchange.stage.closing.wait()


def test_the_rate_holds_for_a_large_file_and_beyond_the_time_of_an_answer(tmp_path: Path) -> None:
    with NeedingSite() as site:
        links = "".join(f'<img src="/img/{name}">' for name in ("large.bin", "stalled", "last.bin"))
        site.file("/docs/", body("paced", links))
        site.file("/img/large.bin", LARGE, "image/x-large")
        site.file("/img/last.bin", b"last", "image/x-large")
        site.added["/img/stalled"] = _stalled
        one_after_another = ("-s", "CONCURRENT_REQUESTS=1", "-s", "RETRY_TIMES=0")
        timeout = ("-s", "DOWNLOAD_TIMEOUT=3")
        made = mirror(
            f"{site.url}docs/",
            tmp_path / "m",
            *("--max-rate", f"{RATE}", *one_after_another, *timeout, "--max-depth", "0"),
            status=1,
        )
        asked = {one.path: one.at for one in site.asked}
    took = (
        min(at for at in asked.values() if at > asked["/img/large.bin"]) - asked["/img/large.bin"]
    )
    # The buffers of the connection come at once; all that follows waits for them.
    assert took > 3.0, "longer than DOWNLOAD_TIMEOUT, of which nothing is lost"
    assert took >= len(LARGE) / RATE * 0.9
    assert made.read(f"{host(site)}/img/large.bin") == LARGE
    assert made.read(f"{host(site)}/img/last.bin") == b"last"
    assert "1 file is only a part" in made.done.stdout, "of a server that says nothing any more"


def test_outside_of_its_hours_it_waits_and_can_be_stopped(tmp_path: Path) -> None:
    now = datetime.now().astimezone()
    hours = f"{now + timedelta(hours=2):%H}-{now + timedelta(hours=3):%H}"
    with NeedingSite() as site:
        running = start_scrapy("mirror", f"{site.url}docs/", str(tmp_path / "m"), "--hours", hours)
        assert running.stderr is not None
        words = next(line for line in running.stderr if "--hours" in line)
        assert f"outside of --hours {hours}, pauses for" in words
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=240)
        assert running.returncode == 130
        assert site.paths() == []
