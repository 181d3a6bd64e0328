"""A press in memory: a book, an archive of posts and a story, each with pages that are parts of it.

What holds others is linked from the front page, and the parts are linked from what holds them.
"""

from __future__ import annotations

from tests.sites.prose import prose

CHAPTERS = [prose(f"chapter {number}", 240) for number in range(6)]
POSTS = [prose(f"post {number}", 120) for number in range(3)]
STORY = prose("story", 300)

PARTS = {
    "/book/print/5.html": "/book.html",
    "/book/excerpt.html": "/book.html",
    "/book/cut.html": "/book.html",
    "/post/0.html": "/archive.html",
    "/post/1.html": "/archive.html",
    "/post/2.html": "/archive.html",
    "/story.html": "/sponsored.html",
}
"""The path of the page that holds each part."""

NAMED = {"/post/0.html", "/post/1.html", "/post/2.html"}
"""Parts under a title of their own."""


def press() -> dict[str, bytes]:
    """Return pages by path."""
    excerpt = " ".join(CHAPTERS[5].split()[60:180])
    advertisements = [prose(f"advertisement {number}", 150) for number in range(2)]
    pages = {
        "/": _page(
            "The Press", [prose("about the press", 60)], ["/book", "/archive", "/sponsored"]
        ),
        "/book.html": _page("The Walk", CHAPTERS, ["/book/print/5", "/book/excerpt", "/book/cut"]),
        "/book/print/5.html": _page("The Walk", [CHAPTERS[4]]),
        "/book/excerpt.html": _page("The Walk", [excerpt]),
        "/book/cut.html": _page("The Walk", CHAPTERS[:3]),
        "/archive.html": _page("Archive", POSTS, [f"/post/{number}" for number in range(3)]),
        "/sponsored.html": _page(
            "The Storm", [advertisements[0], STORY, advertisements[1]], ["/story"]
        ),
        "/story.html": _page("The Storm", [STORY]),
    }
    for number, post in enumerate(POSTS):
        title = prose(f"title {number}", 3).strip(".")
        pages[f"/post/{number}.html"] = _page(title, [post])
    return pages


def other_book() -> bytes:
    """Return a page of the book's title that holds none of its parts."""
    return _page("The Walk", [prose("another book", 500)])


def _page(title: str, paragraphs: list[str], linked: list[str] | None = None) -> bytes:
    links = "".join(f'<a href="{path}.html">{path}</a> ' for path in linked or [])
    text = "\n".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return (
        f"<!DOCTYPE html><html lang=en><title>{title} | Press</title><body><main><article>"
        f"<h1>{title}</h1>\n{text}</article></main><nav>{links}</nav></body></html>"
    ).encode()
