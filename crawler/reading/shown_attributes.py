"""Read what a page shows by its attributes: pictures, players and frames, and words of controls.

Two pages of a gallery may have every word in common and other pictures; two forms, other buttons.
Pictures stand in styles too (``background-image``), and are drawn in the page itself (``svg``).
One line stands for each such element, and the lines are judged beside the text of a page
(``text.py``), never shown or exported. A line of words is the words; an address becomes one word,
so that it weighs in a similarity as one word does.

An address stands without its host and without what leads up from the page, so that copies at
several places have one. What changes with each fetch is left out: hidden inputs and passwords,
pictures of one pixel, pictures that ask whether a person is there, and in the query of an address
sessions, signatures, random numbers and the URL of the page itself.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING

import xxhash

from crawler.reading.flat_page import attributes_of
from crawler.reading.link_kinds import LAZY
from crawler.reading.value_addresses import may_be_address, read_css

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Reader = Callable[[str], Sequence[str]]

_MAX_ADDRESS_CHARACTERS = 200
"""Longer addresses, and pictures inside the page, have only their hash in the word."""

# Pages that load a picture late have its address here, and in "src" one that all pictures share.
_SOURCES = ("data-src", "data-original", "data-lazy-src", "src")
_SOURCE_SETS = ("data-srcset", "srcset")
_PICTURES = frozenset(("img", "input"))
_BACKGROUND = re.compile(rf' (?:background|{"|".join(sorted(LAZY))})="').search
_POINT = frozenset(("0", "1", "0px", "1px"))
_LEADING = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?(?://[^/?#]*)?(?:/|\.{1,2}/)*", re.IGNORECASE)
_NO_WORD = re.compile(r"[^0-9A-Za-z]+")
_PATH_SESSION = re.compile(r";jsessionid=[^/?]*", re.IGNORECASE)
_CHALLENGE = re.compile(
    r"captcha|securimage|seccode|verif(?:y|ication)_?(?:code|img|image)", re.IGNORECASE
)
_ENDING = re.compile(r"\.(?:avif|bmp|gif|ico|jpe?g|png|svg|tiff?|webp)$", re.IGNORECASE)
_NOT_SHOWN = re.compile(r"(?:about|blob|chrome|file|javascript):", re.IGNORECASE)
_UNSHOWN_MARKUP = re.compile(
    r"<!--(?:.*?-->|.*)|<(script|style)\b(?:.*?</\1\s*>|.*)|<[^<>]*>?", re.IGNORECASE | re.DOTALL
)
_MAX_PICTURES_OF_CHALLENGE = 3  # more stand in the form of a page

_VOLATILE_NAMES = re.compile(
    r"x-amz-.*|x-goog-.*|secret|signature|sig|expires|policy|key-pair-id|.*token|csrf.*|nonce"
    r"|(?:php|asp|j)?sess(?:ion)?_?id.*|sid",
    re.IGNORECASE,
)
# Names of arguments by which pages get round a cache, if their values are long numbers.
_STAMPED_NAMES = re.compile(
    r"_|t|ts|time|timestamp|r|rand|rnd|random|cb|cache.*|no_?cache", re.IGNORECASE
)
# The same of a file, or if the number may be a time; else it may be that of what is shown.
_VERSION_NAMES = re.compile(r"|v|ver|version|m|mtime", re.IGNORECASE)
_TIME = re.compile(r"(?:1[4-9]|20)\d{8}(?:\d{3}|\d{6})?(?:\.\d+)?|20\d{12}|\d*\.\d{4,}")
_FILE = re.compile(
    r"\.(?:avif|bmp|gif|ico|jpe?g|png|svg|tiff?|webp|mp[34]|og[gv]|webm|swf|pdf)$", re.IGNORECASE
)
_LONG_NUMBER = re.compile(r"\d{6,}|\d*\.\d{4,}")
_RANDOM_FRACTION = re.compile(r"0?\.\d{6,}")
# Names of arguments whose URL is what a player, a viewer or a resizer of pictures shows.
_SHOWN_NAMES = re.compile(r"url|src|source|file|image|img", re.IGNORECASE)
_PAGE_URL = re.compile(r":(?://|%2f%2f)|%3a(?://|%2f%2f)", re.IGNORECASE)

# What a drawing is made of. Programs that draw charts make other ids at each run.
_GEOMETRY = frozenset(
    "d points x y x1 y1 x2 y2 cx cy r rx ry width height transform fill style".split()
)
_REFERENCE = re.compile(r"url\([^)]*\)")
_MAX_ICON_SIDE = 64
_SIDE = re.compile(r"(\d+(?:\.\d+)?)(px|em|rem)?")

# Values of the other types are never shown, are shown as dots, or are a day or a time by default.
_BUTTONS = frozenset(("button", "reset", "submit"))
_FIELDS = frozenset(("", "text", "search", "email", "number", "tel"))


def address_word(address: str) -> str:
    """Return the one word that stands for an address; empty: nothing that lasts is shown by it."""
    address = address.strip()
    if address[:5].lower() == "data:":
        return f"data_{xxhash.xxh3_64_hexdigest(address.encode('utf-8', 'surrogatepass'))}"
    return _address_word(address)


# The pictures of a template are on all pages of a site.
@lru_cache(4096)
def _address_word(address: str) -> str:
    if not address or _NOT_SHOWN.match(address) or _CHALLENGE.search(address):
        return ""
    lasting = _LEADING.sub("", address.partition("#")[0], count=1)
    path, _, query = lasting.partition("?")
    path = _PATH_SESSION.sub("", path)
    is_file = _FILE.search(path) is not None
    kept = [one for one in query.split("&") if one and not _is_volatile(one, is_file=is_file)]
    lasting = "?".join([path, "&".join(kept)]) if kept else path
    is_short = len(lasting) <= _MAX_ADDRESS_CHARACTERS and lasting.isascii()
    said = _NO_WORD.sub("_", lasting) if is_short else "address"
    # Words are compared without regard to case, and "a-b" and "a_b" are two addresses.
    return f"{said}_{xxhash.xxh3_64_hexdigest(lasting.encode('utf-8', 'surrogatepass'))}"


def _is_volatile(argument: str, *, is_file: bool) -> bool:
    """Return whether an argument may be another one at the next fetch, or at another URL.

    Args:
        argument: Name and value.
        is_file: Whether the path before it names a file, not a script that shows one by a number.
    """
    name, sign, value = argument.partition("=")
    if not sign:
        name, value = "", argument
    if _VOLATILE_NAMES.fullmatch(name):
        return True
    if _PAGE_URL.search(value):
        return _SHOWN_NAMES.fullmatch(name) is None
    is_stamp = _STAMPED_NAMES.fullmatch(name) and _LONG_NUMBER.fullmatch(value)
    if not is_stamp and _VERSION_NAMES.fullmatch(name):
        is_stamp = (_LONG_NUMBER if is_file else _TIME).fullmatch(value)
    return bool(is_stamp) or _RANDOM_FRACTION.fullmatch(value) is not None


def lines_of(tags: Sequence[str], places: Sequence[int]) -> list[str]:
    """Return the lines that stand for what elements show by their attributes, empty ones too.

    Args:
        tags: Tags of a page, as ``flat_page`` has them.
        places: Indexes of the tags that are read: those that begin an element of
            ``SHOWN_BY_ATTRIBUTES``, those that ``may_have_background``, and all of forms.

    Complexity: O(length).
    """
    lines = list[str]()
    forms = list[int]()
    asking: set[int] | None = None
    drawn_to = 0
    for place in places:
        tag = tags[place]
        name = _name(tag)
        if name == "form":
            forms.append(place)
        elif name == "/form":
            forms.pop()
        elif name == "svg":
            if place >= drawn_to:
                drawn_to = _end_of_drawing(tags, place)
                lines.append(_drawing(tags[place : drawn_to + 1]))
        elif not forms or not _may_ask(tag):
            lines += _READERS[name](tag) if name in _READERS else ()
        else:
            asking = _asking_forms(tags, places) if asking is None else asking
            lines += _alternative(tag) if forms[-1] in asking else _READERS[name](tag)
        if may_have_background(tag):
            lines += _background(tag, name)
    return lines


def _name(tag: str) -> str:
    return tag.partition(" ")[0].removesuffix("/")


def may_have_background(tags: str) -> bool:
    """Return whether one of some tags may have pictures behind what is in its element."""
    return "url(" in tags or _BACKGROUND(tags) is not None


def _background(tag: str, name: str) -> Sequence[str]:
    """Return what stands for the pictures behind an element, which a script may put there late."""
    told = attributes_of(tag)
    css = told.get("style", "").encode("utf-8", "surrogatepass")
    sources = [css[start:end].decode("utf-8", "surrogatepass") for start, end in read_css(css)]
    if name not in _READERS:
        sources += [told.get("background", ""), *_late_sources(told)]
    return list(map(address_word, sources))


def _end_of_drawing(tags: Sequence[str], place: int) -> int:
    """Return the place of the tag that ends a drawing, behind all that stand in it."""
    depth = 0
    for end in range(place, len(tags)):
        if tags[end] == "/svg":
            depth -= 1
        elif tags[end].startswith("svg") and not tags[end].endswith("/"):
            depth += _name(tags[end]) == "svg"
        if depth <= 0:
            return end
    return len(tags)


def _drawing(tags: Sequence[str]) -> str:
    """Return the word that stands for the shapes of a drawing; nothing for an icon."""
    if len(tags) == 1 or _is_icon(attributes_of(tags[0])):
        return ""
    shapes = [
        (_name(tag), [(key, _REFERENCE.sub("", value)) for key, value in found.items()])
        for tag in tags
        if (found := attributes_of(tag, _GEOMETRY))
    ]
    drawn = repr(shapes)
    return f"drawing_{xxhash.xxh3_64_hexdigest(drawn.encode('utf-8', 'surrogatepass'))}"


def _is_icon(told: Mapping[str, str]) -> bool:
    """Return whether a drawing is hidden from who cannot see it, or small by what it declares."""
    if told.get("aria-hidden") == "true":
        return True
    side = _SIDE.fullmatch(told.get("width", "").strip())
    if side is not None and side[2] in {"em", "rem"}:
        return True
    box = told.get("viewbox", "").replace(",", " ").split()
    side = side or (_SIDE.fullmatch(box[2]) if len(box) == 4 else None)
    return side is not None and float(side[1]) <= _MAX_ICON_SIDE


def _picture(tag: str) -> Sequence[str]:
    told = attributes_of(tag)
    if not _is_seen(told):
        return ()
    sources = dict.fromkeys([_source(told), *_late_sources(told)])
    return [*(address_word(source) for source in sources if source), told.get("alt", "")]


def _alternative(tag: str) -> Sequence[str]:
    """Return what stands for a picture that asks whether a person is there."""
    told = attributes_of(tag)
    return (told.get("alt", ""),) if _is_seen(told) else ()


def _is_seen(told: Mapping[str, str]) -> bool:
    return told.get("width") not in _POINT and told.get("height") not in _POINT


def _source(told: Mapping[str, str]) -> str:
    """Return the address of a picture, which lazy pages have beside ``src``."""
    sources = [told[name].strip() for name in _SOURCES if name in told]
    sources += [_first_of_set(told[name]) for name in _SOURCE_SETS if name in told]
    lasting = (one for one in sources if one[:5].lower() != "data:" and address_word(one))
    return next(lasting, next(filter(None, sources), ""))


def _late_sources(told: Mapping[str, str]) -> list[str]:
    """Return all addresses that scripts may show in place of the first one."""
    values = [_first_of_set(told[name]) for name in LAZY if name in told]
    return list(filter(may_be_address, values))


def _first_of_set(sources: str) -> str:
    return next(iter(sources.split(maxsplit=1)), "").rstrip(",")


def _may_ask(tag: str) -> bool:
    """Return whether a picture in a form may ask whether a person is there.

    Such a picture is another one at each fetch and made for its form, so its address has a query or
    no ending, or it is inside the page.
    """
    name = _name(tag)
    told = attributes_of(tag) if name in _PICTURES else {}
    if name == "input" and told.get("type", "").lower() != "image":
        return False
    address = _source(told)
    path, _, query = address.partition("?")
    return bool(address) and (bool(query) or not _ENDING.search(path))


def _asking_forms(tags: Sequence[str], places: Sequence[int]) -> set[int]:
    """Return the places of forms in which a picture may ask whether a person is there.

    They have a field for words, and few pictures: a form around a whole page has more.
    """
    asking = set[int]()
    forms = list[tuple[int, Counter[str]]]()
    for place in places:
        name = _name(tags[place])
        if name == "form":
            forms.append((place, Counter()))
        elif name == "/form":
            start, found = forms.pop()
            if found["input"] and found["img"] <= _MAX_PICTURES_OF_CHALLENGE:
                asking.add(start)
            if forms:
                forms[-1][1].update(found)
        elif forms and (name == "img" or (name == "input" and _is_for_words(tags[place]))):
            forms[-1][1][name] += 1
    return asking


def _is_for_words(tag: str) -> bool:
    return (attributes_of(tag).get("type") or "text").lower() == "text"


def _input(tag: str) -> Sequence[str]:
    told = attributes_of(tag)
    kind = told.get("type", "").lower()
    if kind == "image":
        return _picture(tag)
    value = told.get("value", "")
    if kind in _BUTTONS:
        return (value,)
    if kind in _FIELDS:
        return (told.get("placeholder", ""), "" if "://" in value else value)
    return ()


def _words_of(name: str) -> Reader:
    mark = f' {name}="'

    def words(tag: str) -> Sequence[str]:
        # Most lists and options have other attributes.
        return (attributes_of(tag).get(name, ""),) if mark in tag else ()

    return words


def _number_of(name: str) -> Reader:
    """Return what reads a number that is drawn: one word with its sign and its fraction."""
    words = _words_of(name)

    def number(tag: str) -> Sequence[str]:
        values = (value.strip().replace("-", "minus").replace(".", "_") for value in words(tag))
        return [f"{_name(tag)}_{value}" for value in values]

    return number


def _addresses_of(*names: str) -> Reader:
    def addresses(tag: str) -> Sequence[str]:
        told = attributes_of(tag)
        return [address_word(told.get(name, "")) for name in names]

    return addresses


def _source_of(tag: str) -> Sequence[str]:
    told = attributes_of(tag)
    return (address_word(told.get("src", "")), address_word(_first_of_set(told.get("srcset", ""))))


def _frame_of(*names: str) -> Reader:
    """Return what reads a document within the page, whose fragment may say what is shown of it."""

    def frame(tag: str) -> Sequence[str]:
        told = attributes_of(tag)
        lines = list[str]()
        for address in (told.get(name, "").strip() for name in names):
            path, _, fragment = address.partition("#")
            lines.append(address_word(path))
            is_path = fragment[:1] in {"/", "!"}
            if (lines[-1] or not path) and (is_path or "=" in fragment):
                is_path = is_path or "?" in fragment
                lines.append(address_word(fragment if is_path else f"?{fragment}"))
        inner = _UNSHOWN_MARKUP.sub(" ", told.get("srcdoc", ""))
        return [*lines, inner]

    return frame


_READERS: dict[str, Reader] = {
    "area": _words_of("alt"),
    "audio": _addresses_of("src"),
    "embed": _frame_of("src"),
    "iframe": _frame_of("src", "data-src"),
    "image": _addresses_of("href", "xlink:href", "src"),
    "img": _picture,
    "input": _input,
    "li": _number_of("value"),
    "meter": _number_of("value"),
    "object": _frame_of("data"),
    "ol": _number_of("start"),
    "optgroup": _words_of("label"),
    "option": _words_of("label"),
    "progress": _number_of("value"),
    "source": _source_of,
    "textarea": _words_of("placeholder"),
    "video": _addresses_of("src", "poster"),
}

SHOWN_BY_ATTRIBUTES = (*_READERS, "svg")
"""Names of the elements that ``lines_of`` knows."""
