from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from crawler.warc.wacz import PageLists

if TYPE_CHECKING:
    from collections.abc import Iterable


def line(path: str, stamp: int, mime: str = "text/html", status: str | None = "200") -> bytes:
    entry = {"url": f"http://x/{path}", "mime": mime, "status": status}
    told = json.dumps({name: value for name, value in entry.items() if value})
    return f"x)/{path} 202605010000{stamp:02} {told}\n".encode()


LINES = (
    line("a", 1),
    line("a", 7, "warc/revisit", None),
    line("b", 2),
    line("c", 3, "warc/revisit"),
    line("d", 4, "image/png"),
    line("e", 5, status="404"),
)


def kept(path: str, **fields: Any) -> dict[str, Any]:
    return {
        "url": f"http://x/{path}",
        "title": f"Page {path}",
        "text": f"Text of {path}.",
        **fields,
    }


def read(lines: Iterable[bytes]) -> list[dict[str, Any]]:
    return [json.loads(each) for each in lines]


def test_kept_pages_have_title_and_text_and_the_time_of_their_newest_capture() -> None:
    pages = [kept("c"), kept("a#part", title="Page a", text=None), kept("not-recorded")]
    with closing(PageLists(LINES, pages)) as lists:
        head, first, second = read(lists.pages())
        others = read(lists.others())
    assert head["hasText"]
    assert first.pop("id") != second.pop("id")
    assert first == {
        "url": "http://x/c", "ts": "2026-05-01T00:00:03Z", "title": "Page c", "text": "Text of c."
    }  # fmt: skip
    assert second == {"url": "http://x/a", "ts": "2026-05-01T00:00:07Z", "title": "Page a"}
    assert [page["url"] for page in others[1:]] == ["http://x/b"]


@pytest.mark.parametrize("lines", [(), LINES])
def test_without_a_crawl_every_html_page_is_listed(lines: tuple[bytes, ...]) -> None:
    with closing(PageLists(lines, None)) as lists:
        head, *pages = read(lists.pages())
    assert not head["hasText"]
    assert [page["url"] for page in pages] == ["http://x/a", "http://x/b"][: len(lines)]
