"""Replays of archives that other programs made, and what their exit status says."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

from tests.crawler.warc.foreign import answer, asked, record
from tests.crawls.command import pages, scrapy
from tests.crawls.planting import PLANTED, PlantingLogs
from tests.sites.changing import page
from tests.sites.prose import prose

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

COUNT = 3
GOOD = [answer(f"/{number}", page(prose(f"good {number}", 200))) for number in range(COUNT)]
UNCHANGED = answer(
    "/0", b"", "Content-Type: text/html", status="304 Not Modified", WARC_Date="2026-02-01"
)


def replayed(parts: list[bytes], folder: Path) -> subprocess.CompletedProcess[str]:
    archive = folder / "x.warc.gz"
    archive.write_bytes(b"".join(map(gzip.compress, parts)))
    done = scrapy(
        *("crawl", "replay", "-a", f"warc={archive}"),
        *("-s", f"JOBDIR={folder / 'crawl'}", "-s", "READING_WORKERS=1"),
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


@pytest.mark.parametrize(
    ("parts", "status", "said"),
    [
        pytest.param([UNCHANGED], 0, "", id="not modified, and there before"),
        pytest.param(
            [answer("/x", b"", "ETag: x", status="304 Not Modified"), asked("/1", "GET")],
            0, 'left out as no pages: answers "not modified" whose page is not in the archive: 1',
            id="not modified, and not there",
        ),
        pytest.param(
            [answer("/x", b"<p>", WARC_Record_ID="<urn:uuid:7>"),
             asked("/x", "POST", WARC_Concurrent_To="<urn:uuid:7>")],
            0, "answers to HEAD, POST or another method than GET: 1", id="another method",
        ),
        pytest.param(
            [answer("http://[/x", b"<p>")], 1, "bad record at byte 0: http://[/x is no URL",
            id="no URL",
        ),
        pytest.param(
            [answer("http://h.example:99999/", b"<p>")], 1, "Port out of range", id="no port"
        ),
        pytest.param(
            [record("revisit", b"", WARC_Target_URI="http://example.org/x")],
            1, "what it repeats is not in the archive", id="a revisit of nothing",
        ),
        pytest.param(
            [answer("/x", b"<p>", Content_Length="1" * 30)], 1, "damaged at byte 0", id="a length"
        ),
    ],
)  # fmt: skip
def test_all_good_pages_come_and_the_status_says_whether_others_are_missing(
    tmp_path: Path, parts: list[bytes], status: int, said: str
) -> None:
    done = replayed([*parts, *GOOD], tmp_path)
    assert done.returncode == status, done.stderr
    assert said in done.stderr
    assert ("1 place of the archive could not be read" in done.stderr) is bool(status)
    urls = [each["url"] for each in pages(tmp_path / "crawl") if each["text"]]
    assert urls == [f"http://example.org/{number}" for number in range(COUNT)]


def test_an_error_in_judging_a_page_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PLANTED, "crawler.spiders.replay:ReplaySpider:_response")
    (tmp_path / "x.warc").write_bytes(b"".join(GOOD))
    done = scrapy(
        *("crawl", "replay", "-a", f"warc={tmp_path}", "-s", f"JOBDIR={tmp_path / 'crawl'}"),
        *("-s", f"LOG_FORMATTER={PlantingLogs.__module__}.PlantingLogs"),
    )
    assert done.returncode == 1
    assert "/0 could not be judged: planted" in done.stderr
    assert f"{COUNT} places of the archive could not be read" in done.stderr
