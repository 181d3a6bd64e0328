"""Which of the pages that came show the same text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.reading.decoding import decode
from crawler.reading.flat_page import flatten
from crawler.reading.html_parsing import parse
from crawler.reading.visible_text import read_visible
from neardup.fingerprints.digest import payload_digest, text_digest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rules_peers.recorder import Answer


def text_names(answers: Iterable[Answer]) -> list[str | None]:
    """The digest of all visible text of each page, in order; equal pages are read once."""
    known: dict[bytes, str] = {}
    names: list[str | None] = []
    for answer in answers:
        payload = payload_digest(answer.body)
        if payload not in known:
            root = parse(decode(answer.body, answer.content_type).utf8)
            known[payload] = text_digest(read_visible(flatten(root)).text).hex()
        names.append(known[payload])
    return names
