"""A site that wants to know who asks; and what is written of it."""

from __future__ import annotations

import os
from base64 import b64encode
from typing import TYPE_CHECKING

import pytest

from tests.crawls.command import PROJECT, scrapy
from tests.crawls.crawled import read_back
from tests.sites.changing import ChangingSite, page
from tests.sites.prose import prose

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sites.exchange import Exchange

SECRET = "open sesame"
HEADER = f"Basic {b64encode(f'me:{SECRET}'.encode()).decode()}"


def test_a_password_opens_the_site_and_is_written_nowhere(tmp_path: Path) -> None:
    busy = iter([True])

    def answer(exchange: Exchange) -> None:
        if exchange.headers.get("Authorization") != HEADER:
            exchange.answer(b"Who?", status=401)
        elif next(busy, False):
            exchange.answer(b"Later.", status=500)
        else:
            exchange.answer(page(prose("secret", 120), [elsewhere]))

    folder = tmp_path / "job"
    with ChangingSite() as site, ChangingSite() as other:
        elsewhere = other.at("/").replace("127.0.0.1", "127.0.0.2")
        site.added["/"] = answer
        done = scrapy(
            "crawl", "site", "-a", f"url={site.url},{elsewhere}", "-s", f"JOBDIR={folder}",
            "-s", "WARC_ENABLED=True", "-s", "LOG_LEVEL=DEBUG", "-s", "HTTPAUTH_DOMAIN=127.0.0.1",
            environment={"HTTPAUTH_USER": "me", "HTTPAUTH_PASS": SECRET},
        )  # fmt: skip
        found = read_back(done, folder, site.origin, site.paths())
        assert other.paths()
        assert not [one for one in other.asked if "authorization" in one.headers]
    assert done.returncode == 0, done.stderr
    assert found.is_kept("/")
    written = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    for secret in (SECRET, HEADER.split()[1]):
        assert secret not in done.stdout + done.stderr
        assert not [content for content in written if secret.encode() in content]
    assert not [os.fsdecode(path) for path in folder.rglob("*sesame*")]


@pytest.mark.parametrize("spider", ["site", "mirror"])
def test_a_password_in_a_seed_is_refused_in_one_line(spider: str, tmp_path: Path) -> None:
    url = "http://me:swordfish@127.0.0.1:9/"
    where = tmp_path / "there"
    arguments = (
        ("crawl", "site", "-a", f"url={url}", "-s", f"JOBDIR={where}")
        if spider == "site"
        else ("mirror", url, str(where))
    )
    done = scrapy(*arguments)
    assert done.returncode != 0
    assert "put HTTPAUTH_USER and HTTPAUTH_PASS into the environment" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "swordfish" not in done.stdout + done.stderr
    assert not where.exists()
    assert not list((PROJECT / "crawls").glob("*swordfish*"))
