"""The planted pages, made from the table of what is planted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.demo.almanac import MONTHS, following, month_path, tide_table
from crawler.demo.catalogue import language_of
from crawler.demo.layout import Anchor, Frame, page, print_version
from crawler.demo.page import Page, document, redirect
from crawler.demo.planted import of_kind
from crawler.demo.texts import read_text

if TYPE_CHECKING:
    from collections.abc import Mapping

# The passage of a text that each of its later editions alters.
EDITIONS = {
    "/notices/autumn": ("odd", "notice", "14 March", "12 November"),
    "/notices/summer": ("odd", "notice", "14 March", "11 June"),
    "/drafts/harbourmaster": ("harbour", "harbourmaster", "forty feet", "sixty feet"),
    "/drafts/walk": ("odd", "walk", "the eleven steps", "the steps"),
}

NEST_DEPTH = 10_000

# Enough of a PDF for whoever looks at the first bytes.
_PLAN = (
    b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer\n<<>>\n%%EOF\n"
)


def _copies(pages: Mapping[str, Page]) -> dict[str, Page]:
    return {planted.path: pages[planted.of] for planted in of_kind("exact_duplicate")}


def _print_versions() -> dict[str, Page]:
    made = {}
    for planted in of_kind("text_duplicate"):
        _, folder, name = planted.of.split("/")
        frame = Frame(language=language_of(folder), canonical=planted.of)
        made[planted.path] = document(print_version(read_text(folder, name), frame))
    return made


def _editions() -> dict[str, Page]:
    return {
        path: document(page(read_text(folder, name).edited(old, new), Frame(canonical=path)))
        for path, (folder, name, old, new) in EDITIONS.items()
    }


def _calendar() -> dict[str, Page]:
    made = {}
    for month in MONTHS:
        after = following(month)
        links = (Anchor(month_path(after), "The month after"),) if after else ()
        frame = Frame(links=links, tail=tide_table(month))
        made[month_path(month)] = document(page(read_text("odd", "almanac"), frame))
    return made


def _damaged() -> dict[str, Page]:
    nest = "<div>" * NEST_DEPTH + "a dried pea" + "</div>" * NEST_DEPTH
    mislabelled = page(read_text("odd", "phare-latin"), Frame(language="fr"))
    return {
        "/nest": document(page(read_text("odd", "nested"), Frame(tail=nest))),
        # Every byte of it is UTF-8; only the label outside says otherwise.
        "/fr/phare-mal-etiquete": document(mislabelled, "text/html; charset=us-ascii"),
        "/envelope": document(b""),
        "/files/harbour-plan": document(_PLAN, "application/pdf"),
    }


def _guarded() -> dict[str, Page]:
    keep_out = Frame(head='<meta name="robots" content="noindex">')
    return {
        "/staff/minutes": document(page(read_text("odd", "noindex"), keep_out)),
        "/staff/rota": document(page(read_text("odd", "rota"), Frame())),
        "/private/cellar": document(page(read_text("odd", "cellar"), Frame())),
        "/appendix": document(page(read_text("odd", "appendix"), Frame())),
    }


def _redirects() -> dict[str, Page]:
    moved = {planted.path: redirect(planted.of) for planted in of_kind("redirect")}
    loop = [planted.path for planted in of_kind("redirect_loop")]
    onward = zip(loop, [*loop[1:], loop[0]], strict=True)
    return moved | {path: redirect(target) for path, target in onward}


def oddities(pages: Mapping[str, Page]) -> dict[str, Page]:
    """Everything planted that has a page, by path; ``pages`` are the plain ones."""
    made = _copies(pages) | _print_versions() | _editions()
    return made | _calendar() | _damaged() | _guarded() | _redirects()
