"""Articles in many scripts within the frame of a real page: menus, a chooser, links, a footer.

A file of ``tongues_texts`` has paragraphs with empty lines between them: the heading, the text, the
lines of a list, the words of the menu, the line of the footer.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

_TEXTS = Path(__file__).with_name("tongues_texts")


class Tongue(NamedTuple):
    """An article in one language.

    Attributes:
        code: Language by BCP 47.
        title: Its heading.
        paragraphs: Its text.
        items: A short list within it.
        menu: Words of the menu around it.
        footer: The line below it.
    """

    code: str
    title: str
    paragraphs: tuple[str, ...]
    items: tuple[str, ...]
    menu: tuple[str, ...]
    footer: str


def _read(path: Path) -> Tongue:
    title, *text, items, menu, footer = path.read_text(encoding="utf-8").strip().split("\n\n")
    return Tongue(
        path.stem, title, tuple(text), tuple(items.split("\n")), tuple(menu.split("\n")), footer
    )


TONGUES = {path.stem: _read(path) for path in sorted(_TEXTS.glob("*.txt"))}
"""The articles by their languages."""

RIGHT_TO_LEFT = frozenset({"ar", "he"})


def article_of(tongue: Tongue) -> str:
    """Return the heading and the text of an article as HTML, with a list before its last part."""
    *first, last = (f"<p>{text}</p>" for text in tongue.paragraphs)
    items = "".join(f"<li>{item}</li>" for item in tongue.items)
    return f"<h1>{tongue.title}</h1>{''.join(first)}<ul>{items}</ul>{last}"


def page_of(tongue: Tongue, content: str = "", *, frame: Tongue | None = None) -> bytes:
    """Return the page of an article, within the frame of a site that has other languages too.

    Args:
        tongue: The article.
        content: HTML in the place of the article.
        frame: The language of menu and footer, where it is another.
    """
    around = frame or tongue
    menu = "".join(f'<li><a href="/{n}">{word}</a></li>' for n, word in enumerate(around.menu))
    chooser = "".join(
        f'<li><a href="/{code}/" hreflang="{code}" lang="{code}">{each.title}</a></li>'
        for code, each in TONGUES.items()
    )
    direction = ' dir="rtl"' if tongue.code in RIGHT_TO_LEFT else ""
    return f"""<!DOCTYPE html><html lang="{tongue.code}"{direction}><head><meta charset="utf-8">
<title>{tongue.title}</title></head><body>
<header class="site-header"><nav class="main-menu"><ul>{menu}</ul></nav>
<ul class="language-chooser">{chooser}</ul></header>
<main><article class="post">{content or article_of(tongue)}</article></main>
<footer class="site-footer"><p>{around.footer}</p><ul>{menu}</ul></footer>
</body></html>""".encode()
