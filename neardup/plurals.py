"""Nouns in the number that their count asks for."""

from __future__ import annotations


def noun(count: int, singular: str, plural: str = "") -> str:
    """Return a noun, in the plural where it is not one; without ``plural`` an s is added."""
    return singular if count == 1 else plural or f"{singular}s"


def many(count: int, singular: str, plural: str = "") -> str:
    """Return a number with its noun: ``1 page``, ``2,000 pages``, ``3 directories``."""
    return f"{count:,} {noun(count, singular, plural)}"
