"""Find the URLs that a script names: what it imports and fetches, and the files in its texts.

A text in the place of a URL is one; a URL that a script puts together is not known without a
browser. Any other text counts if it looks as a whole like a URL with a known ending: menus, search
indexes, and what they load. Whether it is one, and to which URL it is joined, the server alone
knows, so that each is a guess. Indexes of generators of documentation whose entries are no URLs are
read by the rule by which their scripts make URLs.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SCRIPT_TYPES = frozenset(
    "text/javascript application/javascript application/x-javascript text/ecmascript"
    " application/ecmascript".split()
)
SCRIPT_ENDINGS = (".js", ".mjs")

_ADDRESS = rb"[^\"'`\\\s${}<>]{1,2000}"
_OF_MODULE = rb"(?:\.{0,2}/|https?://)" + _ADDRESS
# https://tc39.es/ecma262/#sec-imports; the names in between hold no quotes.
_STATEMENT = rb"\b(?:im|ex)port\b(?P<clause>[^\"'`;()]{0,1000}+)"
_IMPORT = rb"(?:%b|\bimport\s*+\(\s*+)([\"'])(?P<module>%b)\2" % (_STATEMENT, _OF_MODULE)
# https://html.spec.whatwg.org/#hostgetimportmetaproperties
_BESIDE = rb"\bnew\s++URL\(\s*+([\"'])(?P<beside>%b)\4\s*+,\s*+import\.meta\.url" % _ADDRESS
# With further arguments it may change something on the server.
_FETCH = rb"\bfetch\(\s*+([\"'`])(?P<fetched>%b)\6\s*+\)" % _ADDRESS
_PLACES = re.compile(rb"%b|%b|%b" % (_IMPORT, _BESIDE, _FETCH))
_MAPPED = re.compile(rb":\s*+\"(?P<module>%b)\"" % _OF_MODULE)
_KEYED = re.compile(rb"\"(?:scopes|integrity)\"")

MAX_NAMES = 50_000
"""Take at most this many distinct URLs from the texts of one script."""

_PAGES = "html htm xhtml shtml php asp aspx jsp"
_FILES = (
    "js mjs css json geojson xml svg png gif jpg jpeg webp avif ico woff woff2 ttf txt md csv pdf"
    " zip gz wasm inv dat bin mp3 mp4 webm ogg"
)
_ENDS = "|".join(rf"(?<=\.{ending})" for ending in f"{_PAGES} {_FILES}".split())
_IS_FILE = re.compile(rf"\.(?:{_FILES.replace(' ', '|')})(?:[?#]|\Z)", re.IGNORECASE)
# What stands within markup that a script writes ends with the quote of an attribute.
_TEXT = re.compile(
    rb"[\"'`](?P<name>[A-Za-z0-9_~%%@./][A-Za-z0-9_.~%%@+:,=/-]{1,500}+(?:%b)"
    rb"(?:\?[^\"'`\\\s<>{}$#]{0,500}+)?)(?=[#\"'`\\])" % _ENDS.encode(),
    re.IGNORECASE,
)
_NAMED = re.compile(rb"[A-Za-z0-9_~%@][A-Za-z0-9_.~%@+:,=-]*\.[A-Za-z0-9]+(?:\?|\Z)")

_STRING = rb"\"(?:[^\"\\]|\\.)*+\""
_STRINGS = re.compile(rb"\"((?:[^\"\\]|\\.)*+)\"")
_DOCUMENTS = re.compile(rb"\bSearch\.setIndex\(\s*+\{.{0,200}?\"?docnames\"?\s*:\s*\[", re.DOTALL)
_NODE = re.compile(
    rb"\[\s*+%b\s*+,\s*+(?:%b|null)\s*+,\s*+\"(?P<script>[A-Za-z0-9_]{1,500})\"\s*+\]"
    % (_STRING, _STRING)
)
_PARTS = re.compile(rb"\bNAVTREEINDEX\s*+=\s*+\[")
_LETTERS = re.compile(rb"(?<!\d)(?P<number>\d++)\s*+:\s*+\"(?P<letters>[^\"]*+)\"")
_SPHINX = "searchindex.js"
_SEARCH_PAGE = re.compile(r"(/search/[a-z]+_[0-9a-f]+)\.html\Z")


class ScriptAddress(NamedTuple):
    """A URL in a script.

    Attributes:
        start: Offset of its first byte.
        end: Offset of its end.
        is_module: Whether it must begin with ``/``, ``./`` or ``../`` unless it is absolute.
        is_left: Whether it stays as written, since it is resolved against the pages that run the
            script.
        is_guess: Whether it may be no URL.
        address: The URL that the script makes from the text there, or None: it is what is
            written.
    """

    start: int
    end: int
    is_module: bool = False
    is_left: bool = False
    is_guess: bool = False
    address: str | None = None


def read_script(code: bytes, *, is_inline: bool) -> Iterator[ScriptAddress]:
    """Yield the URLs of a script.

    Args:
        code: The script.
        is_inline: Whether it stands in a page, against whose URL ``fetch`` resolves. Of another
            script, what it fetches is known only where that begins with a slash.

    Complexity: O(length).
    """
    for found in _PLACES.finditer(code):
        match found.lastgroup:
            case "fetched":
                address = found["fetched"]
                is_rooted = address.startswith(b"/") and not address.startswith(b"//")
                if is_inline or is_rooted:
                    yield ScriptAddress(*found.span("fetched"), is_left=not is_inline)
            case "beside":
                yield ScriptAddress(*found.span("beside"))
            case _:
                if _names_module((found["clause"] or b"").rstrip()):
                    yield ScriptAddress(*found.span("module"), is_module=True)


def _names_module(clause: bytes) -> bool:
    """Return whether what stands between ``import`` or ``export`` and a text makes it a module."""
    return not clause or re.search(rb"(?:\A|[\s}*])from\Z", clause) is not None


def read_import_map(text: bytes) -> Iterator[ScriptAddress]:
    """Yield the URLs of modules that an import map names; those of folders are left out.

    All of a map stay as written where some of them are its keys.
    """
    is_left = _KEYED.search(text) is not None
    for found in _MAPPED.finditer(text):
        if not found["module"].endswith(b"/"):
            yield ScriptAddress(*found.span("module"), is_module=True, is_left=is_left)


def is_file_name(url: str) -> bool:
    """Return whether a URL has the ending of a file that is no page."""
    return _IS_FILE.search(url) is not None


def other_form(url: str) -> str | None:
    """Return the URL that another version of the same generator has in the place of one."""
    found = _SEARCH_PAGE.search(url)
    return None if found is None else f"{url[: found.end(1)]}.js"


def read_names(code: bytes, *, is_inline: bool, name: str = "") -> Iterator[ScriptAddress]:
    """Yield the URLs of a script, those that it names in texts after the others.

    Args:
        code: The script.
        is_inline: Whether it stands in a page.
        name: Name of its file, by which indexes of a known format are told.

    Complexity: O(length).
    """
    known: set[int] = set()
    for found in read_script(code, is_inline=is_inline):
        known.add(found.start)
        yield found
    if not is_inline and name == _SPHINX:  # its other texts are words and names of objects
        yield from _of_sphinx(code)
        return
    met: set[bytes] = set()
    for match in _TEXT.finditer(code):
        text = match["name"]
        if text in met or match.start("name") in known or not _is_name(text):
            continue
        met.add(text)
        if len(met) > MAX_NAMES:
            break
        yield ScriptAddress(*match.span("name"), is_left=True, is_guess=True)
    if not is_inline:
        yield from _read_index(code, name)


def _is_name(text: bytes) -> bool:
    """Return whether a text has a name before its ending, which ``../.html`` has not."""
    return _NAMED.match(text.partition(b"?")[0].rpartition(b"/")[2]) is not None


def names_any(code: bytes, name: str) -> bool:
    """Return whether a script of its own names a file. Complexity: O(length)."""
    return next(read_names(code, is_inline=False, name=name), None) is not None


def _read_index(code: bytes, name: str) -> Iterator[ScriptAddress]:
    found: Iterable[ScriptAddress] = ()
    match name:
        case "searchdata.js":
            found = _of_doxygen_search(code)
        case _ if code.lstrip().startswith((b"var ", b"/*")):
            found = _of_doxygen_tree(code)
    for number, each in enumerate(found):
        if number >= MAX_NAMES:
            return
        yield each


def _named(start: int, end: int, address: str) -> ScriptAddress:
    return ScriptAddress(start, end, is_left=True, is_guess=True, address=address)


def _of_sphinx(code: bytes) -> Iterator[ScriptAddress]:
    """Yield the pages of a search index of Sphinx, which lists them without their ending."""
    opening = _DOCUMENTS.search(code)
    if opening is None:
        return
    yield _named(opening.start(), opening.start(), "objects.inv")
    yield _named(opening.start(), opening.start(), "genindex.html")
    end = code.find(b"]", opening.end())
    names = _STRINGS.finditer(code, opening.end(), max(end, opening.end()))
    for found in islice(names, MAX_NAMES):
        yield _named(*found.span(1), f"{found[1].decode('utf-8', 'replace')}.html")


def _of_doxygen_tree(code: bytes) -> Iterator[ScriptAddress]:
    """Yield the scripts that hold the branches of Doxygen's tree, and the parts of its index."""
    for found in _NODE.finditer(code):
        yield _named(*found.span("script"), f"{found['script'].decode()}.js")
    opening = _PARTS.search(code)
    if opening is not None:
        end = max(code.find(b"]", opening.end()), opening.end())
        for number, found in enumerate(_STRINGS.finditer(code, opening.end(), end)):
            yield _named(*found.span(1), f"navtreeindex{number}.js")


def _of_doxygen_search(code: bytes) -> Iterator[ScriptAddress]:
    """Yield the results of Doxygen's search: a page for a kind of names and a letter's number."""
    before, _, names = code.partition(b"indexSectionNames")
    named = {
        found["number"]: found["letters"] for found in _LETTERS.finditer(names.partition(b"}")[0])
    }
    for found in _LETTERS.finditer(before):
        kind = named.get(found["number"], b"").decode("ascii", "ignore")
        letters = found["letters"].decode("utf-8", "replace")
        for number in range(len(letters) if kind else 0):
            yield _named(*found.span("letters"), f"{kind}_{number:x}.html")
    if named:
        yield _named(0, 0, "nomatches.html")
