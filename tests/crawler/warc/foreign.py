"""Archives as other programs write them, byte by byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.warc.captures import Captures
from crawler.warc.sources import find_sources
from tests.crawler.warc.exchanges import MAX_COUNT

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.warc.captures import Capture

DATE = "2026-01-01T00:00:00Z"


def record(kind: str, block: bytes, **fields: str) -> bytes:
    """A record; ``WARC_Target_URI`` names the field of that name, with hyphens."""
    head = {"WARC-Type": kind, "WARC-Record-ID": "<urn:uuid:1>", "WARC-Date": DATE}
    head["Content-Length"] = str(len(block))
    told = head | {name.replace("_", "-"): value for name, value in fields.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in told.items())
    return f"WARC/1.0\r\n{lines}\r\n".encode() + block + b"\r\n\r\n"


def answer(path: str, body: bytes, *headers: str, status: str = "200 OK", **fields: str) -> bytes:
    told = "".join(f"{header}\r\n" for header in headers or ("Content-Type: text/html",))
    block = f"HTTP/1.1 {status}\r\n{told}\r\n".encode() + body
    url = path if ":" in path else f"http://example.org{path}"
    named = {"WARC_Target_URI": url, "Content_Type": "application/http", **fields}
    return record("response", block, **named)


def asked(path: str, method: str, **fields: str) -> bytes:
    """The record of a request."""
    block = f"{method} {path} HTTP/1.1\r\nHost: example.org\r\n\r\n".encode()
    url = f"http://example.org{path}"
    return record("request", block, WARC_Target_URI=url, Content_Type="application/http", **fields)


def captured(place: Path, most: int = MAX_COUNT, start: int = 0) -> tuple[list[Capture], Captures]:
    """The pages of an archive, and what is said of the rest."""
    captures = Captures(find_sources(str(place)), most)
    list(captures.look_through())
    found = list(captures.pages(lambda _: start))
    captures.close()
    return found, captures


def pages(place: Path, most: int = MAX_COUNT, start: int = 0) -> list[Capture]:
    return captured(place, most, start)[0]
