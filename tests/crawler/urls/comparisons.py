"""How each file of ``../shared/data/urls`` is held against our rules.

A comparison gives, for each vector that concerns http and https, what we make of it and what the
file makes of it. Where the file wants a URL, both sides pass our rules: theirs keep things, such as
fragments, that ours drop, so what is compared is whether both call the same URLs one page.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urljoin

from crawler.urls.canonical import Canonicalizer, MalformedUrl
from crawler.urls.hosts import canonical_host
from crawler.urls.parts import split
from crawler.urls.standard import TEXT_RULES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FOLDER = Path(__file__).parents[3].parent / "shared" / "data" / "urls"
REFUSED = "refused"
_canonical = Canonicalizer()


class Outcome(NamedTuple):
    vector: str
    ours: object
    theirs: object


def ada() -> Iterator[Outcome]:
    """References, resolved as links are: with ``urljoin``, which may refuse too."""
    for case in _load("ada_urltestdata.json"):
        if isinstance(case, str):
            continue
        base, text = case["base"], case["input"]
        vector = text if base is None else f"{text} @ {base}"
        if case.get("failure"):
            yield Outcome(vector, _made(_joined, base, text), REFUSED)
        elif case["href"].startswith(("http:", "https:")):
            yield Outcome(vector, _made(_joined, base, text), _canonical(case["href"]))


def semantic_precise() -> Iterator[Outcome]:
    return _pairs(_load("urlcanon_semantic_precise.json"))


def supplemental_whatwg() -> Iterator[Outcome]:
    return _pairs(_load("urlcanon_supplemental_whatwg.json"))


def aggressive() -> Iterator[Outcome]:
    return _pairs(_load("urlcanon_aggressive.json"))


def surt() -> Iterator[Outcome]:
    """The groups whose results are URLs, paths and queries; not those that reverse hosts."""
    groups = _load("urlcanon_surt.json")
    for group in ("Canonicalizer.DefaultIA", "Canonicalizer.IA", "google"):
        yield from _pairs(groups[group])
    yield from _pairs(groups["googleSupplementalFromSurt"])
    yield from _pairs(groups["alphaRorderQuery"], before="http://h/?")
    yield from _pairs(groups["stripPathSessionId"], before="http://h")


def path_dots() -> Iterator[Outcome]:
    """Paths of the special schemes; theirs leave a backslash that ours turn."""
    for path, expected in _load("urlcanon_path_dots.json")["special"].items():
        yield Outcome(path, _canonical(f"http://h{path}"), _canonical(f"http://h{expected}"))


def funky_ipv4() -> Iterator[Outcome]:
    for host, expected in _load("urlcanon_funky_ipv4.json").items():
        yield Outcome(host, _made(canonical_host, host), expected or REFUSED)


def idempotence() -> Iterator[Outcome]:
    for url in _load("urlcanon_idempotence.json"):
        once = _made(_canonical, url)
        yield Outcome(url, once if once == REFUSED else _canonical(str(once)), once)


def parsing() -> Iterator[Outcome]:
    """The parts of a URL before any rule, but for those on its whole text."""
    for text, expected in _load("urlcanon_parsing.json").items():
        if expected["scheme"].lower() in ("http", "https"):
            yield Outcome(text, _made(_split, text), _parts(expected))


def _load(name: str) -> Any:
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))


def _pairs(pairs: dict[str, str], before: str = "") -> Iterator[Outcome]:
    for text, expected in pairs.items():
        url = before + _from_bytes(text)
        if (before + expected).startswith(("http:", "https:")):
            theirs = _made(_canonical, before + expected)
            # What they keep and we refuse, such as a space in a host, is a difference too.
            yield Outcome(url, _made(_canonical, url), expected if theirs == REFUSED else theirs)
        else:
            yield Outcome(url, _made(_canonical, url), REFUSED)


def _from_bytes(text: str) -> str:
    """Undo latin-1, in which the files of urlcanon write bytes, where they are UTF-8."""
    try:
        return text.encode("latin-1").decode()
    except UnicodeError:
        return text


def _made(make: Callable[..., object], *arguments: object) -> object:
    try:
        return make(*arguments)
    except MalformedUrl:
        return REFUSED


def _joined(base: str | None, text: str) -> str:
    try:
        url = text if base is None else urljoin(base, text)
    except ValueError as error:
        raise MalformedUrl(str(error)) from error
    return _canonical(url)


def _split(text: str) -> tuple[str | None, ...]:
    for rule in TEXT_RULES:
        text = rule.apply(text)
    return tuple(split(text))


def _parts(expected: dict[str, str]) -> tuple[str | None, ...]:
    password = expected["colon_before_password"] + expected["password"]
    return (
        expected["scheme"],
        expected["username"] + password if expected["at_sign"] else None,
        expected["host"],
        expected["port"] if expected["colon_before_port"] else None,
        expected["path"],
        expected["query"] if expected["question_mark"] else None,
        expected["fragment"] if expected["hash_sign"] else None,
    )
