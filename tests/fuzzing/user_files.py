"""Files that users name and others may have made: configuration, rules, labels, exported feeds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from crawler.console.options import CommandError
from crawler.console.profile import read_configuration
from crawler.lab.labels import LabelError, export_labels, read_label_file
from crawler.maintenance.verify.verification import FeedError, feed_urls
from crawler.url_rules.learning.address import Address
from crawler.url_rules.rule_files import (
    RuleFileError,
    discarder_text,
    read_rules,
    rules_text,
)
from tests.crawler.url_rules.test_rule_files import EVERY_KIND
from tests.fuzzing.target import Target, together

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.fuzzing.target import Read

_URL = "http://example.com:8080/x/print/index.html?ref=1&sort=a&start=0&id=12"


def _of_file(name: str, read_file: Callable[[Path], object]) -> Callable[[Path], Read]:
    """Return what begins a reader of the file into which each input is written."""

    def begin(folder: Path) -> Read:
        path = folder / name

        def read(data: bytes) -> None:
            path.write_bytes(data)
            read_file(path)

        return read

    return begin


def _configuration(path: Path) -> None:
    read_configuration(str(path))


def _rules(path: Path) -> None:
    rules = read_rules(path)
    again = path.with_suffix(".again")
    again.write_text(rules_text(rules), encoding="utf-8")
    assert read_rules(again) == rules
    discarder_text(rules)
    address = Address.parse(_URL)
    for context, transform in rules:
        context.holds(address)
        transform(address)
        transform.varying(address)
        str(context), str(transform)


def _labels(path: Path) -> None:
    with path.with_suffix(".again").open("w", encoding="utf-8") as file:
        export_labels(read_label_file(path).values(), file)


def _feed(path: Path) -> None:
    """Read a feed, whose first byte says in which format."""
    data = path.read_bytes()
    named = path.with_suffix(_FEEDS[(data[:1] or b"\0")[0] % len(_FEEDS)])
    named.write_bytes(data[1:])
    for url in feed_urls(named):
        url.encode("utf-8", "surrogatepass")


_FEEDS = (".jsonl", ".json", ".csv", ".xml", ".parquet")


def _feed_seeds() -> list[bytes]:
    rows = [{"url": "http://a.example/", "title": "é"}, {"url": "b"}]
    lines = "\n".join(map(json.dumps, rows))
    return [
        b"\0" + lines.encode(),
        b"\1" + json.dumps(rows).encode(),
        b'\2url,title\nhttp://a.example/,"a ""b""\n"\n',
        b"\3<items><item><url>http://a.example/</url></item></items>",
        b"\4PAR1",
    ]


_TOML = b"""max-pages = 7
url = "http://example.com/"
hours = "22-6"
[settings]
DOWNLOAD_DELAY = 1.5
NEARDUP_MAX_DISTANCE = 3
USER_AGENT = "x"
"""
_LABEL = {
    "first": "00" * 16, "second": "ff" * 16, "label": "duplicate", "first_url": "http://a/",
    "second_url": "http://b/", "labelled_at": "2026-01-31T12:00:00.000+00:00",
}  # fmt: skip


def _configurations() -> list[bytes]:
    return [_TOML, b'url = """a"""\n[a.b]\nc = 2026-01-01T00:00:00Z\nd = [1, {e = 2}]\n']


def _label_seeds() -> list[bytes]:
    return [
        b"\n".join(json.dumps(one).encode() for one in (_LABEL, _LABEL | {"label": "different"}))
    ]


def _rule_seeds() -> list[bytes]:
    return [rules_text(EVERY_KIND).encode(), *(rules_text([one]).encode() for one in EVERY_KIND)]


TARGETS = (
    together(
        "user-files",
        Target(
            "configuration",
            _configurations,
            _of_file("crawl-once.toml", _configuration),
            (CommandError,),
        ),
        Target("rules", _rule_seeds, _of_file("rules.json", _rules), (RuleFileError,)),
        Target("labels", _label_seeds, _of_file("x.labels.jsonl", _labels), (LabelError,)),
        Target("exported", _feed_seeds, _of_file("feed", _feed), (FeedError,), 8192),
    ),
)
