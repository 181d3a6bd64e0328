"""Name scopes: for people, to compare two of them, and for the directory of a crawl."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import xxhash

from crawler.urls.canonical import Canonicalizer
from crawler.urls.parts import split
from crawler.urls.scope import registered_domain
from crawler.urls.seeds import host_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

_MAX_PATH = 60
"""Shorten the path in a folder's name to this many characters: a name may have 255 bytes."""

_UNFIT = re.compile(r"[^a-z0-9._-]")
_AFTER_PATH = re.compile(r"[?#].*", re.DOTALL)

_canonicalize = Canonicalizer()


def scope_name(seeds: Sequence[str], kind: str) -> str:
    """Name the URLs around seeds, so that two scopes have one name only if they cover the same.

    ``docs.python.org/3/`` is a folder, ``docs.python.org/`` a host, ``*.python.org`` a domain;
    http and https are the same. Several seeds give several names, in order, with commas.

    Raises:
        MalformedUrl: A seed is no URL.
    """
    names = {_name(seed, kind) for seed in seeds}
    # What lies in the folder of another seed adds nothing.
    wide = {name for name in names if name.endswith("/")}
    within = {name for name in wide if any(name != one and name.startswith(one) for one in wide)}
    return ", ".join(sorted(names - within))


def scope_folder(seeds: Sequence[str], kind: str) -> str:
    """Name a folder after a scope, where the folder of its host holds another one.

    The host of the first seed as ``host_folder`` names it, and its path with a plus for each
    slash: ``docs.python.org+3+library``; ``docs.python.org++host``, ``docs.python.org++domain``.
    A digest keeps scopes apart where the path had to be changed, and those of several seeds.

    Raises:
        MalformedUrl: A seed is no URL.
    """
    host, name = host_folder(seeds[0]), scope_name(seeds, kind)
    if kind == "domain":
        whole = f"{host}++domain"
        return whole if name == _name(seeds[0], kind) else f"{whole}-{_digest(name)}"
    path = _folder_of(seeds[0], kind).strip("/")
    fitted = _joined(path) if path else "+host"
    is_whole = (fitted.replace("+", "/") == path or not path) and name == _name(seeds[0], kind)
    return f"{host}+{fitted}" + ("" if is_whole else f"-{_digest(name)}")


def _name(seed: str, kind: str) -> str:
    parts = split(_canonicalize(seed))
    if kind == "domain":
        return f"*.{registered_domain(parts.host) or parts.host}"
    return parts.host + (f":{parts.port}" if parts.port else "") + _folder_of(seed, kind)


def _folder_of(seed: str, kind: str) -> str:
    """Return the path that a scope begins with."""
    if kind != "prefix":
        return "/"
    path = split(_canonicalize(_AFTER_PATH.sub("", seed))).path
    return path[: path.rindex("/") + 1]


def _joined(path: str) -> str:
    segments = (_UNFIT.sub("_", segment.lower()) for segment in path.split("/"))
    return "+".join(segments)[:_MAX_PATH].rstrip(".")


def _digest(name: str) -> str:
    return xxhash.xxh3_64_hexdigest(name.encode())
