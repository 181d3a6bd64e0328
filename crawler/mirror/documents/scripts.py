"""Find the URLs that a script names: modules that it imports, and files that it fetches.

Only what stands as a text in the place of a URL counts. A URL that a script puts together is not
known without a browser.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

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


class ScriptAddress(NamedTuple):
    """A URL in a script.

    Attributes:
        start: Offset of its first byte.
        end: Offset of its end.
        is_module: Whether it must begin with ``/``, ``./`` or ``../`` unless it is absolute.
        is_left: Whether it stays as written, since it is resolved against the pages that run the
            script.
        is_guess: Whether it may be no URL.
        address: The URL that the script makes of what is written there, or None: it is what is
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
