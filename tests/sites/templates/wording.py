"""Sentences and words of templates: what shops, directories and statutes say at every page."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random

_SENTENCES = (
    "Orders placed before {number} o'clock leave our {place} on the same {day}",
    "We {verb} every {thing} by hand before it is packed into recycled {material}",
    "You may return an unused {thing} within {number} days, and we refund what you paid for it",
    "Questions about {material} or {thing} are answered by the {place} from {day} to {day}",
    "Delivery to islands and to addresses beyond the {place} takes {number} further days",
    "Our {place} has repaired {thing} and {thing} since the year {year}",
    "The guarantee covers faults of {material} for {number} months, but not wear of the {thing}",
    "Please keep the label of the {thing}, since the {place} asks for it at every repair",
    "Payment is by card, by transfer or in cash at the {place}, which is open on {day}",
    "Whoever registers the {thing} at the {place} receives {number} months of free service",
    "The {thing} must be kept dry and away from {material} that is warmer than {number} degrees",
    "A {day} visit to the {place} can be arranged by telephone at least {number} days ahead",
    "No {thing} may be sold to persons below the age of {number} without a word of their parents",
    "We {verb} old {thing} free of charge if you {verb} a new one of the same kind",
    "Large parcels come by carrier, who will {verb} them to the door but not to the {place}",
    "The {place} reserves the right to change {material} where a supplier no longer has it",
    "Statements made here were true in {year} and are checked by the {place} every {number} months",
    "Customers of the {place} say that the {material} lasts longer than that of the {thing}",
)
_WORDS = {
    "place": "workshop counter warehouse office yard harbour registry depot studio archive".split(),
    "thing": "lamp bracket kettle saddle cabinet pump basket ladder valve blanket".split(),
    "material": "paper copper linen walnut rubber canvas felt brass wool cork".split(),
    "verb": "collect inspect carry clean weigh polish bring measure".split(),
    "day": "Monday Tuesday Wednesday Thursday Friday Saturday".split(),
}
_SYLLABLES = "bar cor dal fen gar hol kes lin mar nor pel ros sten tal ver win".split()


def sentences(source: random.Random, words: int) -> str:
    """Return drawn sentences of at least so many words."""
    drawn: list[str] = []
    while sum(len(sentence.split()) for sentence in drawn) < words:
        drawn.append(_filled(source.choice(_SENTENCES), source) + ".")
    return " ".join(drawn)


def _filled(sentence: str, source: random.Random) -> str:
    """Return a sentence with a word drawn for each of its places."""
    head, *rest = sentence.split("{")
    for part in rest:
        name, _, tail = part.partition("}")
        head += _word(name, source) + tail
    return head


def _word(name: str, source: random.Random) -> str:
    if name == "number":
        return str(source.randint(2, 60))
    if name == "year":
        return str(source.randint(1890, 2019))
    return source.choice(_WORDS[name])


def made_name(source: random.Random, syllables: int = 2) -> str:
    """Return a word that no dictionary has, capitalised."""
    return "".join(source.choices(_SYLLABLES, k=syllables)).capitalize()


def made_names(source: random.Random, count: int, syllables: int = 2) -> list[str]:
    """Return so many different words that no dictionary has, capitalised."""
    names: dict[str, None] = {}
    while len(names) < count:
        names[made_name(source, syllables)] = None
    return list(names)
