"""Dot segments of a path."""

from __future__ import annotations

import re

_DOT_SEGMENT = re.compile(r"/(?:\.|%2[eE]){1,2}(?=/|$)")


def resolve_dots(path: str) -> str:
    """Resolve ``.`` and ``..``, also written ``%2e``, as the URL standard does.

    An empty segment counts as one: ``/a//../b`` is ``/a/b``. Above the root there is nothing.
    """
    if not _DOT_SEGMENT.search(path):
        return path
    kept: list[str] = []
    *folders, last = path.split("/")[1:]
    for segment in folders:
        _enter(kept, segment)
    if _dots(last):
        _enter(kept, last)
        last = ""
    return "".join(f"/{segment}" for segment in [*kept, last])


def _enter(kept: list[str], segment: str) -> None:
    dots = _dots(segment)
    if dots == 0:
        kept.append(segment)
    elif dots == 2 and kept:
        kept.pop()


def _dots(segment: str) -> int:
    plain = segment.lower().replace("%2e", ".") if len(segment) <= 6 else segment
    return len(plain) if plain in (".", "..") else 0
