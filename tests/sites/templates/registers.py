"""Directories of people and companies, and statutes: entries on one template."""

from __future__ import annotations

import random
from html import escape
from typing import TYPE_CHECKING

from tests.sites.templates.copies import MadePage, first_showing, with_copies
from tests.sites.templates.layout import Frame, made_frame, page
from tests.sites.templates.wording import made_name, sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.sites.templates.copies import Showing

DIRECTORIES = ("name first", "site alone", "site first", "with a dash", "name alone")
"""Titles of the directories; each has 100 entries."""

ENTRIES = 100
_KINDS = ("person", "company")
_FORENAMES = "Ada Ben Cleo Dora Emil Finn Greta Hugo Ida Jon Karla Leo Mina Nils Olga Paul".split()

STATUTES = (
    ("name first", "Section {}"),
    ("site first", "\N{SECTION SIGN} {}"),
    ("three parts", "Article {}"),
    ("site alone", "Sec. 12-{}"),
)
"""Titles of the statutes, and how they number their sections; each has 100."""

SECTIONS = 100


def directory_entries() -> Iterator[MadePage]:
    """Yield 500 entries of five directories, each tenth of them twice."""
    for number, title in enumerate(DIRECTORIES):
        source = random.Random(f"directory {number}")
        frame = made_frame(source, title, "Directory")
        names = _people_or_companies(source, _KINDS[number % 2])
        notes = sentences(source, source.choice([80, 150, 300]))
        yield from with_copies(
            names,
            first_showing(source),
            lambda name, showing, frame=frame, notes=notes: _entry(  # type: ignore[misc]
                frame, notes, name, showing
            ),
            source,
        )


def _people_or_companies(source: random.Random, kind: str) -> list[str]:
    if kind == "company":
        names = [f"{made_name(source, 3)} {made_name(source)} Ltd" for _ in range(2 * ENTRIES)]
    else:
        names = [f"{forename} {made_name(source)}" for forename in 15 * _FORENAMES]
    return list(dict.fromkeys(names))[:ENTRIES]


def _entry(frame: Frame, notes: str, name: str, showing: Showing) -> MadePage:
    source = random.Random(f"{frame.site} {name}")
    street = f"{made_name(source)} Street {source.randint(1, 200)}"
    telephone = f"0{source.randint(20, 99)} {source.randint(100_000, 9_999_999)}"
    heading = f"<h1>{escape(name)}</h1>" if frame.title != "name first" else ""
    content = (
        f"{heading}<dl><dt>Name</dt><dd>{escape(name)}</dd><dt>Address</dt><dd>{street}</dd>"
        f"<dt>Telephone</dt><dd>{telephone}</dd></dl><p>{notes}</p>"
    )
    url = f"http://{frame.host}/{name.replace(' ', '-').lower()}{showing.query}"
    return MadePage(url, f"{frame.host}/{name}", page(frame, name, showing, "", content))


def statute_sections() -> Iterator[MadePage]:
    """Yield 400 sections of four statutes of one wording each, each tenth of them twice."""
    for number, (title, numbering) in enumerate(STATUTES):
        source = random.Random(f"statute {number}")
        frame = made_frame(source, title, "Act 1988")
        wording = [sentences(source, source.choice([40, 90])) for _ in range(3)]
        yield from with_copies(
            [numbering.format(section) for section in range(1, SECTIONS + 1)],
            first_showing(source),
            lambda name, showing, frame=frame, wording=wording: _section(  # type: ignore[misc]
                frame, wording, name, showing
            ),
            source,
        )


def _section(frame: Frame, wording: Sequence[str], name: str, showing: Showing) -> MadePage:
    source = random.Random(f"{frame.site} {name}")
    fee = source.randint(10, 5000)
    paragraphs = "".join(f"<p>({place}) {text}</p>" for place, text in enumerate(wording, 1))
    content = f"<h2>{name}</h2>{paragraphs}<p>The fee under {name} is {fee} crowns.</p>"
    url = f"http://{frame.host}/{''.join(filter(str.isdigit, name))}{showing.query}"
    return MadePage(url, f"{frame.host}/{name}", page(frame, name, showing, "", content))
