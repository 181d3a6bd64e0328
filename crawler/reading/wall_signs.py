"""Read the signs by which a page may be none at all: a soft 404, or a wall before a page.

A sign alone proves nothing: shops have a login in their header, manuals have pages on errors. What
counts is the same short text at many unrelated URLs (``crawler.pages.walls``). The text is compared
with the words of its links, and without what differs from request to request: the URL that it
repeats, and random ids. Any other number makes a difference, since it may be all that two pages of
a template differ in: a price, a year, a date.

A shell of an application is no wall: it shows next to nothing until its scripts fill it, the same
at every URL of its site. What is taken for one by mistake is kept at each of its URLs, so that no
page is lost.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

import re2
from lxml.etree import XPath

from crawler.reading.content_types import WallKind, has_script
from crawler.reading.reading import WallSigns
from neardup.features.folding import fold
from neardup.fingerprints.digest import text_digest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.reading.text import Visible

Element = Any  # lxml has no types

MAX_WORDS = 150
"""A page with more words outside links has no signs."""

_SHORT_WORDS = 60
"""Words of a text in which a wording may be anywhere; in longer ones it is in title or heading."""

_SHELL_WORDS = 30
"""Visible words of a page beside its notice that scripts are needed."""

# Some of the parts between white space may be signs without a word.
_MAX_PARTS = 2 * MAX_WORDS
_MIN_NAME_CHARACTERS = 3
_MAX_CHARACTERS = 100_000
_DIGIT = re.compile(r"\d")
_MAX_ARGUMENTS = 50
_RETURNS = frozenset(
    "back backto backurl comefrom continue dest destination goto next origin redir redirect"
    " redirectto redirecturi redirecturl requestedurl return returnpath returnto returnurl"
    " service target".split()
)
"""Names of arguments, without what is no letter, that say where a login leads to in the end."""
_RANDOM = re.compile(
    r"(?<![\w.-])(?=(?:[a-f.-]*\d){4})(?=(?:[\d.-]*[a-f]){4})[\da-f][\da-f.-]{15,}(?![\w-])"
    r"|(?<![\w.-])\d{18,}(?![\w-])"
    r"|\b(?:ray(?: id)?|(?:incident|request|session|support|trace) id)\b[:#\s]*\S*\d\S*",
    re.ASCII,
)
"""An id of one request: hexadecimal and long, or named so. An ISBN, a price or a date is none."""

_WORDS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+")
"""Kana and Chinese characters are a word each, as no space parts their words."""

_TITLE = XPath("string(//head/title)", smart_strings=False)
_HEADINGS = XPath("//h1 | //h2")
_PASSWORD = XPath(
    "boolean(//input[translate(@type, 'PASWORD', 'pasword') = 'password'])", smart_strings=False
)
_CHALLENGE = XPath(
    "boolean(//*[contains(@class, 'g-recaptcha') or contains(@class, 'h-captcha')"
    " or contains(@class, 'cf-turnstile') or starts-with(@id, 'cf-challenge')]"
    " | //*[self::script or self::iframe][contains(@src, 'recaptcha')"
    " or contains(@src, 'hcaptcha') or contains(@src, 'challenges.cloudflare')"
    " or contains(@src, 'captcha-delivery') or contains(@src, '_Incapsula')])",
    smart_strings=False,
)

WORDINGS: dict[WallKind, tuple[str, ...]] = {
    WallKind.CAPTCHA: (
        r"captcha",
        r"(?:are|that) you(?: are|'re|’re)? (?:not )?(?:a )?(?:human|robot)",
        r"unusual traffic|checking your browser|just a moment|security check|ddos protection",
        r"kein roboter|sicherheitsprüfung|pas un robot|no eres un robot|non sei un robot",
        r"não é um robô|geen robot|nie jesteś robotem|не робот|ロボットではありません|人机验证",
    ),
    WallKind.NOT_FOUND: (
        r"not found|error 404|404 error|(?:could|can) ?not be found|(?:can't|can’t|couldn't) find",
        r"(?:does not|doesn't|doesn’t|no longer) exist|no longer available|no such page",
        r"nicht gefunden|existiert nicht|nicht mehr verfügbar|introuvable|n'existe (?:pas|plus)",
        r"no encontrad[ao]|no existe|non trovat[ao]|non esiste|não encontrad[ao]|não existe",
        r"niet gevonden|bestaat niet|nie znaleziono|nie istnieje|не найден[ао]?|не существует",
        r"見つかりません|存在しません|不存在|找不到",
    ),
    WallKind.LOGIN: (
        r"\blog ?in\b|\bsign ?in\b|log on\b|(?:members|subscribers) only|must be logged",
        r"(?:please|to) register|anmelden|einloggen|nur für mitglieder|se connecter|connectez",
        r"identifiez|iniciar sesión|inicia sesión|effettua il login|effettua l'accesso|accedi\b",
        r"iniciar sessão|faça login|inloggen|aanmelden|zaloguj|войдите|войти|авторизуйтесь",
        r"ログイン|登录|登入",
    ),
    WallKind.CONSENT: (
        r"(?:accept|agree to|consent to|use of) (?:all )?(?:our )?cookies|we use cookies",
        r"before you continue|your privacy|(?:confirm|verify) (?:your age|that you are over)",
        r"cookies? (?:akzeptieren|zustimmen)|(?:verwenden|nutzen) cookies",
        r"(?:accepter|utilisons) (?:les |des )?cookies|(?:aceptar|usamos) (?:las )?cookies",
        r"(?:accetta|utilizziamo) (?:i )?cookie|(?:aceitar|usamos) (?:os )?cookies",
        r"cookies (?:accepteren|toestaan)|akceptuj.{0,20}cookie|クッキー|файлы cookie",
    ),
    WallKind.JAVASCRIPT: (
        r"(?:enable|activate|allow|turn on|need|needs|requires?|without|support) .{0,30}javascript",
        r"javascript.{0,20}(?:required|disabled|deaktiviert|aktivieren|erforderlich|turned off)",
        r"(?:aktivieren|activer|activez|activar|habilit|attiva|ativar|schakel|włącz|включите)"
        r".{0,30}javascript|javascript.{0,20}(?:désactivé|有効|を有効|启用)|启用 ?javascript",
    ),
}
"""Map a kind to the wordings, folded, in the languages of most pages, the surest kind first."""

_WORDED = {
    kind: re.compile("|".join(f"(?:{fold(one)})" for one in wordings), re.DOTALL)
    for kind, wordings in WORDINGS.items()
}


def read_wall_signs(root: Element, visible: Visible, url: str) -> WallSigns | None:
    """Return the signs of a page with few words, None for one with more.

    Args:
        root: Root of the page; not changed.
        visible: Its visible text.
        url: The URL that answered.

    Complexity: O(length).
    """
    # Most pages have more, which white space alone shows sooner than tokens do.
    if len(visible.unlinked.split(maxsplit=_MAX_PARTS)) > _MAX_PARTS:
        return None
    if len(visible.text) > _MAX_CHARACTERS:
        return None
    words = len(_WORDS.findall(visible.unlinked))
    if words > MAX_WORDS:
        return None
    title = fold(_TITLE(root)[:_MAX_CHARACTERS])
    headings = [fold(_TEXT(one)[:_MAX_CHARACTERS]) for one in _HEADINGS(root)]
    unlinked = fold(visible.unlinked)
    foremost = " | ".join([title, *headings])
    worded = f"{foremost} | {unlinked}" if words <= _SHORT_WORDS else foremost
    kind = _kind(root, worded, words)
    # What a title alone says is no wall where scripts fill the page.
    is_said = kind == WallKind.CAPTCHA or (kind and _kind(root, unlinked, words))
    if not is_said and is_app_shell(root, visible):
        kind = WallKind.SHELL
    kind = kind or _asks_for_scripts(root, visible)
    return WallSigns(_skeleton(foremost, unlinked, fold(visible.text), url), kind)


def returned_to(url: str, asked: str = "") -> str | None:
    """Return the URL or path to which a login leads in the end, as ``/login?next=/a/b`` names it.

    Args:
        url: The URL of the login.
        asked: The URL that led there; an argument of any name may hold it, or its path.

    Returns:
        None where no argument names one.
    """
    query = urlsplit(url).query
    if not query or query.count("&") > _MAX_ARGUMENTS:
        return None
    path = "/" + asked.partition("://")[2].partition("/")[2]
    for name, value in parse_qsl(query):
        letters = "".join(filter(str.isalpha, name.lower()))
        is_way_back = letters in _RETURNS or (asked and value in {asked, path})
        is_url = value.startswith(("/", "http://", "https://"))
        if is_way_back and is_url and _can_be_split(value):
            return value
    return None


def _can_be_split(url: str) -> bool:
    try:
        urlsplit(url)
    except ValueError:  # http://[ and http://exa℀mple
        return False
    return True


def _kind(root: Element, worded: str, words: int) -> str:
    """Return the kind that a wording names, or the fields of a page with hardly any words."""
    if words <= _SHORT_WORDS and _WORDED[WallKind.CAPTCHA].search(worded) and _CHALLENGE(root):
        return WallKind.CAPTCHA
    has_password = bool(_PASSWORD(root))
    for kind in (WallKind.CAPTCHA, WallKind.NOT_FOUND, WallKind.LOGIN, WallKind.CONSENT):
        is_worded = _WORDED[kind].search(worded) is not None
        # Without a field to log in by, it is a page that tells how to.
        if is_worded and (kind != WallKind.LOGIN or has_password or words <= _SHELL_WORDS):
            return kind
    return WallKind.LOGIN if has_password and words <= _SHELL_WORDS else ""


def _asks_for_scripts(root: Element, visible: Visible) -> str:
    """Return the kind of a page that says little but that scripts are needed, or nothing."""
    shown = fold(visible.text[:_MAX_CHARACTERS])
    if len(_WORDS.findall(shown)) > _SHELL_WORDS or not _HAS_SCRIPT(root):
        return ""
    notices = fold(" ".join(_TEXT(one) for one in _NOTICES(root))[:_MAX_CHARACTERS])
    asks = _WORDED[WallKind.JAVASCRIPT].search(f"{shown} | {notices}") is not None
    return WallKind.JAVASCRIPT if asks else ""


def _skeleton(foremost: str, unlinked: str, text: str, url: str) -> bytes:
    """Return the digest of a page's words without those that repeat its URL.

    Of title, headings and links only whole URLs and paths are left out: their words tell pages
    apart.
    """
    whole, names = _echoes(url)
    for echo in whole:
        foremost, unlinked = foremost.replace(echo, " "), unlinked.replace(echo, " ")
        text = text.replace(echo, " ")
    linked = Counter(text.split()) - Counter(unlinked.split())
    for name in names:
        # The page /12 does not repeat its name in a price of 12.50.
        spelt = rf"(?<!\w)(?<!\d[.,]){re.escape(name)}(?!\w)(?![.,]\d)"
        unlinked = re.sub(spelt, " ", unlinked)
    said = (foremost, _RANDOM.sub(" ", unlinked), " ".join(sorted(linked.elements())))
    return text_digest("\n".join(" ".join(part.split()) for part in said))


def _echoes(url: str) -> tuple[list[str], list[str]]:
    """Return what a page may repeat of its URL, folded, the longest first: paths, and names."""
    paths: set[str] = set()
    names: set[str] = set()
    for each in filter(None, (url, returned_to(url))):
        parts = urlsplit(each)
        path = parts.path
        asked = f"{path}?{parts.query}" if parts.query else path
        whole = {each, asked, path, asked.lstrip("/"), path.lstrip("/")}
        plain = {unquote(text) for text in whole}
        paths |= {fold(text) for text in whole | plain if "/" in text.strip("/") or "//" in text}
        paths |= {fold(text) for text in (asked, path, unquote(path)) if len(text) > 1}
        names.update(_names(path))
    spelt = {fold(name) for name in names} - {""}
    return sorted(paths, key=_longest), sorted(spelt, key=_longest)


def _names(path: str) -> Iterator[str]:
    """Yield the last name of a path as a page may repeat it."""
    last = path.rstrip("/").rpartition("/")[2]
    stem = last.rpartition(".")[0] or last
    for name in (last, unquote(last), unquote(stem), re.sub(r"[-_+]+", " ", unquote(stem))):
        if len(name) >= _MIN_NAME_CHARACTERS or _DIGIT.search(name):
            yield name


def _longest(text: str) -> tuple[int, str]:
    return -len(text), text


MAX_SHELL_WORDS = 8
"""Visible words of a shell at most, beside those of its notice that scripts are needed."""

_MAX_NOTICE_WORDS = 40
_MAX_SHELL_CHARACTERS = 10_000
_WORD = re.compile(r"\w+")
_LOADING = re.compile(
    fold(
        "loading|please wait|wird geladen|lädt|chargement|cargando|carregando|caricamento|laden"
        "|ładowanie|загрузка|読み込み中|加载中|載入中"
    )
)
_HAS_SCRIPT = XPath("boolean(//script)", smart_strings=False)
_NOTICES = XPath("//noscript")
_TEXT = XPath("string()", smart_strings=False)
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
"""Signs of what a script may fill: an empty element, marks of frameworks, or of loading.

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

    It has no more than ``MAX_SHELL_WORDS`` words outside links, and an empty element that is called
    as applications call what they fill. Or it has no more words at all, no link, form, picture or
    frame, and one of these: no word, a place to fill, a text such as "Loading", or a notice for
    who has no scripts.

    Args:
        root: Root of the page; not changed.
        visible: Its visible text, in which notices count.

    Complexity: O(length) for a page of few characters, O(1) for any other.
    """
    if len(visible.text) > _MAX_SHELL_CHARACTERS or not _HAS_SCRIPT(root):
        return False
    notices = " ".join(map(_TEXT, _NOTICES(root)))
    noticed = len(_WORD.findall(notices))
    if noticed > _MAX_NOTICE_WORDS:
        return False
    if len(_WORD.findall(visible.unlinked)) - noticed <= MAX_SHELL_WORDS and _MOUNT(root):
        return True
    words = len(_WORD.findall(visible.text)) - noticed
    if words > MAX_SHELL_WORDS or _SHOWN(root):
        return False
    is_loading = says_it_loads(visible.text)
    return words <= 0 or noticed > 0 or is_loading or bool(_PLACE(root))
