"""A statute in memory: sections of one wording that nothing names, each with a fee of its own."""

from __future__ import annotations

import random

from tests.sites.prose import prose

TITLE = "The Fees Act 1988"

WORDING = [prose(f"subsection {number}", 60) for number in range(5)]
"""The paragraphs of every section."""


def own_words(number: int) -> str:
    """Return what only one section says."""
    fee = random.Random(number).randint(100, 999)
    return f"Under section {number} the fee is {fee} crowns a year, payable in {prose(f'{fee}', 6)}"


def statute(sections: int) -> dict[str, bytes]:
    """Return pages by path: the contents, and the sections, each with a copy of a session."""
    numbers = range(1, sections + 1)
    links = "".join(f'<li><a href="/act/{number}">{number}</a>' for number in numbers)
    pages = {"/": _page(f"<p>{prose('contents', 80)}</p>", f"<ul>{links}</ul>")}
    for number in numbers:
        body = "".join(f"<p>{text}</p>" for text in (*WORDING, own_words(number)))
        copy = f"/s/7f3a/act/{number}"
        pages[f"/act/{number}"] = _page(body, f'<a href="{copy}">share</a>')
        pages[copy] = _page(body, "<!-- session 7f3a -->")
    return pages


def _page(body: str, nav: str) -> bytes:
    return (
        f"<!DOCTYPE html><html lang=en><title>{TITLE}</title><body><main><article>{body}"
        f"</article></main><nav>{nav}</nav></body></html>"
    ).encode()
