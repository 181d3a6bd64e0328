"""Recognise pages that show next to nothing until their scripts fill them: shells of applications.

Such a page says the same at every URL of its site, and shows something else at each of them. What
is taken for one by mistake is kept at each of its URLs, so that no page is lost.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import re2
from lxml.etree import XPath

from crawler.reading.content_types import has_script
from neardup.features.folding import fold

if TYPE_CHECKING:
    from crawler.reading.visible_text import Visible

Element = Any  # lxml has no types

MAX_WORDS = 8
"""Visible words of a shell at most, beside those of its notice that scripts are needed."""

_MAX_NOTICE_WORDS = 40
_MAX_CHARACTERS = 10_000
_WORD = re.compile(r"\w+")
_LOADING = re.compile(
    "|".join(
        map(
            fold,
            "loading|please wait|wird geladen|lädt|chargement|cargando|carregando|caricamento|laden"
            "|ładowanie|загрузка|読み込み中|加载中|載入中".split("|"),
        )
    )
)
HAS_SCRIPT = XPath("boolean(//script)", smart_strings=False)
NOTICES = XPath("//noscript")
TEXT = XPath("string()", smart_strings=False)
_SHOWN = XPath(
    "boolean(//body//*[self::img or self::video or self::audio or self::iframe or self::object"
    " or self::embed or self::form or self::a[@href]][not(ancestor::noscript)] | //frame)",
    smart_strings=False,
)
# An element to fill: it has a name for scripts and no text, or is one of their own.
_PLACE = XPath(
    "boolean(//body//*[(self::div or self::main or self::section) and @id"
    " and not(normalize-space())] | //body//*[contains(name(), '-')])",
    smart_strings=False,
)
# The usual names of the element that an application fills.
_MOUNTS = (
    " root app main content page container __next __nuxt ___gatsby svelte react-root app-root"
    " root-app main-content page-content app-container app-content mount application "
)
_MOUNT = XPath(
    "boolean(//body//*[(self::div or self::main or self::section) and @id"
    f" and contains('{_MOUNTS}', concat(' ', translate(@id, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ',"
    " 'abcdefghijklmnopqrstuvwxyz'), ' ')) and not(normalize-space())"
    " and not(.//img or .//iframe or .//video or .//canvas)])",
    smart_strings=False,
)


_FILLED = ("div", "main", "section", "article", "ul", "ol", "table", "tbody")
_WAITING = "loading|please wait|wird geladen|chargement|cargando|carregando"
# Headings, links and terms that speak of loading are none: they only name something.
_INDICATORS = (
    "div|p|span|section|article|main|body|output|figure|blockquote|pre|center|font|small|label"
    "|ul|ol|li|table|tbody|tr|td|button|option|dialog|progress|img|br|/?(?:i|b|em|strong|svg)"
    r"|\w+-[\w-]+"
)
_OPTIONS = re2.Options()
_OPTIONS.case_sensitive = False
_OPTIONS.encoding = re2.Options.Encoding.LATIN1
_TO_FILL = re2.compile(
    (
        "|".join(
            rf"<{tag}\s(?:[^<>]*\s)?id\s?=[^<>]+>(?:\s|<!--[^<>]*-->)*</{tag}>" for tag in _FILLED
        )
        + r"|<\w+-[\w-]+(?:\s[^<>]*)?>\s*</"
        r"|aria-busy\s?=\s?[\"']?true"
        # Alpine, Vue, Angular, Knockout and htmx; braces; templates; routes behind a #; empty rows.
        r"|<[a-z][^<>]*\s(?:data-)?(?:[xv]-(?:data|text|html|for)|ng-(?:app|bind|repeat|view)|hx-get"
        r"|bind)[\s=>]"
        r"|>\s*\{\{[^{}<>]{1,80}\}\}\s*<|<template[\s>]|href\s?=\s?[\"']?#!?/"
        r"|<\w+-[\w-]+\s[^<>]*=|<tbody(?:\s[^<>]*)?>\s*</tbody>"
        r"|class\s?=\s?[\"']?(?:[^\"'<>]*[\s_-])?(?:spinner|skeleton|loading)\b"
        # Anchors of headings are a span that is empty, or stand around the heading.
        r"|<(?:div|p|span|i|img|svg|ul|ol|table|tbody|tr|td|li|main|body|dialog|progress)\s"
        r"(?:[^<>]*[\s\"'])?id\s?=\s?[\"']?(?:[^\"'<>]*[\s_-])?(?:spinner|skeleton|loading)\b"
        r"[^<>]*>\s*(?:[^<\s]|<[^h/]|</[^s])"
        rf"|<(?:{_INDICATORS})(?:\s[^<>]*)?>\s*(?:{_WAITING})[^<>]{{0,15}}<"
        rf"|>\s*(?:{_WAITING})[^<>]{{0,40}}(?:\.\.\.|…|&hellip;|&#8230;)\s*<"
    ).encode(),
    _OPTIONS,
)
"""What a script may fill: an empty element, marks of frameworks, or signs that something loads.

Each page of a crawl is searched for it in the main process. RE2 takes .04 ms for 25 kB, where the
``re`` of Python took .9, and linear time for any page.
"""

_MAX_SEARCHED_BYTES = 200_000


def says_it_loads(text: str) -> bool:
    """Return whether a text says that something is still to come. Complexity: O(length)."""
    return _LOADING.search(fold(text)) is not None


def may_be_filled(body: bytes) -> bool:
    """Return whether a page has scripts, and something to fill or a sign that it loads.

    Complexity: O(length), of ``_MAX_SEARCHED_BYTES`` at most for what is to be filled.
    """
    return has_script(body) and _TO_FILL.search(body, 0, _MAX_SEARCHED_BYTES) is not None


def is_app_shell(root: Element, visible: Visible) -> bool:
    """Return whether a page shows next to nothing, and has scripts that may fill it.

    It has no more than ``MAX_WORDS`` words outside links, and an empty element that is called as
    applications call what they fill. Or it has no more words at all, no link, form, picture or
    frame, and one of these: no word, a place to fill, a text such as "Loading", or a notice for
    who has no scripts.

    Args:
        root: Root of the page; not changed.
        visible: Its visible text, in which notices count.

    Complexity: O(length) for a page of few characters, O(1) for any other.
    """
    if len(visible.text) > _MAX_CHARACTERS or not HAS_SCRIPT(root):
        return False
    notices = " ".join(map(TEXT, NOTICES(root)))
    noticed = len(_WORD.findall(notices))
    if noticed > _MAX_NOTICE_WORDS:
        return False
    if len(_WORD.findall(visible.unlinked)) - noticed <= MAX_WORDS and _MOUNT(root):
        return True
    words = len(_WORD.findall(visible.text)) - noticed
    if words > MAX_WORDS or _SHOWN(root):
        return False
    is_loading = says_it_loads(visible.text)
    return words <= 0 or noticed > 0 or is_loading or bool(_PLACE(root))
