"""Small edits to texts of several languages: how many does which fingerprint find?

The texts come with the project, so this gate is never skipped.
"""

import hashlib
import random
import unicodedata
from collections.abc import Iterator
from importlib.resources import files

import pytest

from neardup import Deduplicator, Features, Parameters, hamming, jaccard, simhash, tokens

TEXTS = {
    f"{folder.name}/{file.name}": file.read_text(encoding="utf-8")
    for folder in sorted((files("crawler.demo") / "texts").iterdir(), key=lambda each: each.name)
    for file in sorted(folder.iterdir(), key=lambda each: each.name)
}
CHINESE_AND_JAPANESE = {name: text for name, text in TEXTS.items() if name[:2] in {"ja", "zh"}}
SPACED = {
    name: text
    for name, text in TEXTS.items()
    if name not in CHINESE_AND_JAPANESE and len(tokens(text)) >= 150
}
EDITIONS = 30
CORPUS = "83a8df8b49a51fc965810d264996118990291b967155907e71a4822f476062aa"


def test_the_texts_are_those_that_the_bounds_belong_to() -> None:
    digest = hashlib.sha256("\0".join(TEXTS.values()).encode()).hexdigest()
    assert digest == CORPUS


def edited(units: list[str], count: int, source: random.Random) -> list[str]:
    """Replace, insert or remove so many words or characters."""
    units = list(units)
    for _ in range(count):
        place = source.randrange(len(units))
        kind = source.randrange(3)
        units[place : place + (kind != 1)] = [] if kind == 2 else [source.choice(units)]
    return units


def editions(texts: dict[str, str], share: float) -> Iterator[tuple[str, str]]:
    """Texts with editions of them that are like them, a share of their words edited."""
    for name, text in texts.items():
        spaced = name in SPACED
        units = text.split(" ") if spaced else list(text)
        for seed in range(EDITIONS):
            source = random.Random(f"{name} {seed}")
            count = max(1, round(share * len(units)))
            other = (" " if spaced else "").join(edited(units, count, source))
            if jaccard(text, other) >= 0.8:
                yield text, other


def found(texts: dict[str, str], share: float, features: Features, distance: int) -> float:
    """The share of editions within a distance."""
    pairs = list(editions(texts, share))
    assert len(pairs) >= EDITIONS
    near = [hamming(simhash(a, features), simhash(b, features)) <= distance for a, b in pairs]
    return sum(near) / len(near)


def test_words_find_more_within_three_bits_than_word_shingles() -> None:
    words = found(SPACED, 0.01, Parameters().fingerprint_features, 3)
    shingles = found(SPACED, 0.01, Parameters(verify=False).fingerprint_features, 3)
    print(f"{words:.3f} by words, {shingles:.3f} by sets of 3 words in a row")
    assert words > 2 * shingles


def test_every_edition_is_dropped_for_its_text_and_no_text_for_another() -> None:
    # An edit of the first line is another name, which is not what is counted here.
    with Deduplicator(Parameters(compare_names=False)) as deduplicator:
        for number, text in enumerate(TEXTS.values()):
            assert not deduplicator.judge(number, text).is_duplicate
        judged = dropped = 0
        for number, text in enumerate(TEXTS.values()):
            if len(tokens(text)) < 50:
                continue
            for _, other in editions({list(TEXTS)[number]: text}, 0.01):
                verdict = deduplicator.judge(1000 + judged, other)
                judged += 1
                dropped += verdict.is_duplicate
                assert verdict.duplicate_of is None or jaccard(other, text) >= 0.8
    print(f"{dropped} of {judged} editions dropped")
    assert dropped >= 0.99 * judged


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_case_and_encoding_form_make_no_difference(text: str) -> None:
    for features in (Parameters().fingerprint_features, Features("character", 4, "count")):
        own = simhash(text, features)
        for other in (text.upper(), unicodedata.normalize("NFD", text)):
            assert hamming(own, simhash(other, features)) == 0
