"""Verdicts and fingerprints that tests of deduplicators expect."""

from dataclasses import replace

from neardup import Parameters, Verdict, simhash

NEW = Verdict("new")
TOO_SHORT = Verdict("too_short")
FEATURES = Parameters().fingerprint_features


def equal(number: int) -> Verdict:
    return Verdict("text_duplicate", number, 0, 1.0, "text")


def without_parts(verdict: Verdict) -> Verdict:
    """Return a verdict without what it says of texts that stand in each other."""
    return replace(verdict, part_of=None, containment=None, parts=())


def fingerprint_of(text: str) -> int:
    return simhash(text, FEATURES)
