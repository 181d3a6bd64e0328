"""Choose the ending of a file's name by which a browser knows its type, and files by their names.

The table is our own: names must be the same on every machine, and ``mimetypes`` reads the
machine's.
"""

from __future__ import annotations

import fnmatch
import re
from urllib.parse import unquote, urlsplit

#: The endings of each media type; the first is given to names that have none of them.
_OF_TYPE: dict[str, tuple[str, ...]] = {
    # An .xhtml that was served as HTML would be read from disk as XML, and mostly fail there.
    "text/html": (".html", ".htm"),
    "application/xhtml+xml": (".xhtml", ".xht"),
    "text/css": (".css",),
    "text/javascript": (".js", ".mjs"),
    "application/json": (".json", ".map", ".webmanifest"),
    "application/manifest+json": (".webmanifest", ".json"),
    "application/ld+json": (".jsonld", ".json"),
    "application/wasm": (".wasm",),
    "application/xml": (".xml", ".xsl", ".xslt", ".xsd", ".rss", ".atom", ".rdf", ".svg"),
    "application/rss+xml": (".rss", ".xml"),
    "application/atom+xml": (".atom", ".xml"),
    "application/rdf+xml": (".rdf", ".xml"),
    "application/xslt+xml": (".xsl", ".xslt", ".xml"),
    "text/vtt": (".vtt",),
    "text/csv": (".csv",),
    "text/markdown": (".md", ".markdown"),
    "text/calendar": (".ics",),
    "image/svg+xml": (".svg", ".svgz"),
    "image/png": (".png",),
    "image/apng": (".apng", ".png"),
    "image/jpeg": (".jpg", ".jpeg", ".jpe", ".jfif"),
    "image/gif": (".gif",),
    "image/webp": (".webp",),
    "image/avif": (".avif",),
    "image/jxl": (".jxl",),
    "image/heic": (".heic",),
    "image/bmp": (".bmp",),
    "image/tiff": (".tif", ".tiff"),
    "image/x-icon": (".ico", ".cur"),
    "font/woff": (".woff",),
    "font/woff2": (".woff2",),
    "font/ttf": (".ttf",),
    "font/otf": (".otf",),
    "application/vnd.ms-fontobject": (".eot",),
    "audio/mpeg": (".mp3",),
    "audio/ogg": (".ogg", ".oga", ".opus"),
    "audio/wav": (".wav",),
    "audio/flac": (".flac",),
    "audio/aac": (".aac",),
    "audio/mp4": (".m4a", ".mp4"),
    "video/mp4": (".mp4", ".m4v"),
    "video/webm": (".webm",),
    "video/ogg": (".ogv", ".ogg"),
    "video/quicktime": (".mov",),
    "application/pdf": (".pdf",),
    "application/postscript": (".ps", ".eps"),
    "application/epub+zip": (".epub",),
    "application/zip": (".zip",),
    "application/gzip": (".gz", ".tgz"),
    "application/x-tar": (".tar",),
    "application/x-bzip2": (".bz2",),
    "application/x-xz": (".xz",),
    "application/x-7z-compressed": (".7z",),
    "application/rtf": (".rtf",),
    "application/msword": (".doc",),
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": (".docx",),
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": (".xlsx",),
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": (".pptx",),
    "application/vnd.oasis.opendocument.text": (".odt",),
}
_OTHER_NAMES = {
    "application/javascript": "text/javascript",
    "application/x-javascript": "text/javascript",
    "application/ecmascript": "text/javascript",
    "text/ecmascript": "text/javascript",
    "text/json": "application/json",
    "text/xml": "application/xml",
    "application/vnd.wap.xhtml+xml": "application/xhtml+xml",
    "image/jpg": "image/jpeg",
    "image/vnd.microsoft.icon": "image/x-icon",
    "application/font-woff": "font/woff",
    "application/font-woff2": "font/woff2",
    "application/x-font-woff": "font/woff",
    "application/x-font-ttf": "font/ttf",
    "application/x-font-otf": "font/otf",
    "audio/mp3": "audio/mpeg",
    "audio/x-wav": "audio/wav",
    "application/x-pdf": "application/pdf",
    "application/x-gzip": "application/gzip",
    "application/x-zip-compressed": "application/zip",
    "text/rtf": "application/rtf",
}
_ACCEPTED = _OF_TYPE | {name: _OF_TYPE[known] for name, known in _OTHER_NAMES.items()}
_KNOWN = frozenset(ending for endings in _OF_TYPE.values() for ending in endings)
_PAGE_ENDINGS = frozenset("asp aspx cfm cgi do htm html jsp php php5 phtml pl shtml xhtml".split())
# "release-1.2", "John.Smithers" and "what..." have none.
_FILE_ENDING = re.compile(r"[a-z][a-z0-9]{0,4}|[0-9][a-z][a-z0-9]?")
# No known one is longer, but for one.
_ENDING = re.compile(r"(?<=.)\.(?:[A-Za-z0-9]{1,10}|(?i:webmanifest))\Z", re.DOTALL)


def ending_of(name: str) -> str:
    """Return the last dot of a name with the rest after it, or "" if that is no ending."""
    found = _ENDING.search(name)
    return found[0] if found else ""


def known_ending(name: str) -> str:
    """Return the ending of a name if it is that of a media type, else ""."""
    ending = ending_of(name)
    return ending if ending.lower() in _KNOWN else ""


def split_ending(name: str, media_type: str | None) -> tuple[str, str]:
    """Split a name before its ending, and add the ending of its media type if it is missing.

    An unknown type changes nothing. Plain text keeps every ending except those that would make a
    browser read it as another type.
    """
    essence = media_type.partition(";")[0].strip().lower() if media_type else ""
    ending = ending_of(name)
    accepted = _ACCEPTED.get(essence)
    if accepted is not None:
        right = ending.lower() in accepted
        return (name[: -len(ending)], ending) if right else (name, accepted[0])
    known = ending.lower() in _KNOWN
    if essence == "text/plain":
        return (name, ".txt") if known or not ending else (name[: -len(ending)], ending)
    return (name[: -len(ending)], ending) if known else (name, "")


def is_text_name(url: str) -> bool:
    """Return whether the name of a URL has an ending, and not that of a page."""
    ending = ending_of(urlsplit(url).path.rpartition("/")[2])[1:].lower()
    return bool(ending) and ending not in _PAGE_ENDINGS and bool(_FILE_ENDING.fullmatch(ending))


class WantedNames:
    """Endings (``pdf``, ``.pdf``) and patterns (``*-large.*``) of names, upper case or lower.

    Args:
        accept: Comma-separated names; only these are fetched, and files that may be a page.
        reject: Comma-separated names; none of these is fetched.
    """

    def __init__(self, accept: str, reject: str) -> None:
        self._accept = _patterns(accept)
        self._reject = _patterns(reject)

    def allows(self, url: str) -> bool:
        if self._reject is None and self._accept is None:
            return True
        name = unquote(urlsplit(url).path.rpartition("/")[2]).lower()
        if self._reject is not None and self._reject.fullmatch(name):
            return False
        if self._accept is None:
            return True
        stem, _, ending = name.rpartition(".")
        may_be_page = not stem or ending in _PAGE_ENDINGS or not _FILE_ENDING.fullmatch(ending)
        return may_be_page or self._accept.fullmatch(name) is not None


def _patterns(written: str) -> re.Pattern[str] | None:
    parts = [part.strip().lower() for part in written.split(",") if part.strip()]
    if not parts:
        return None
    globs = (part if set(part) & set("*?[") else f"*.{part.lstrip('.')}" for part in parts)
    return re.compile("|".join(f"(?:{fnmatch.translate(glob)})" for glob in globs))
