"""Text without meaning that is always the same, and unlike any other of its kind."""

from __future__ import annotations

import random

_VOCABULARY = """
    amber anchor apple arrow autumn bakery basket bell bench birch blanket border bottle bramble
    branch bread bridge bronze brother butter candle canvas carpet cattle cellar chapel cherry
    chimney circle cloud copper corner cotton cradle cricket crown curtain dagger daughter dawn
    desert dinner doctor donkey dragon drawer eagle early ember engine evening fabric falcon feather
    fence fiddle finger flame flint flower forest fountain garden garlic gate ginger glass gold
    granite grape gravel hammer harvest hazel heather hedge hollow honey horse island ivory jacket
    journey kettle kitchen ladder lantern lemon letter linen lizard market marble meadow melon
    mirror morning mountain needle nettle night oak orchard oven paper parsley pebble pepper pigeon
    pillow planet plough pocket pottery quarry rabbit rain raven ribbon river rooster saddle salt
    scarlet shadow shepherd silver slate snow spider spring squirrel stable star steeple stone
    summer sunday table thistle thunder timber tower valley velvet village violet walnut water
    weather wheat whistle willow window winter wolf wooden yarrow yellow
"""


def prose(name: str, words: int = 150) -> str:
    """Sentences drawn at random, the same for the same name, without markup."""
    chance = random.Random(name)
    drawn = chance.choices(_VOCABULARY.split(), k=words)
    sentences = [drawn[start : start + 12] for start in range(0, words, 12)]
    return " ".join(" ".join(sentence).capitalize() + "." for sentence in sentences)


def document(title: str, body: str = "", head: str = "") -> bytes:
    """An HTML page with some prose of its own, then ``body`` as it comes."""
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><title>{title}</title>{head}</head>\n'
        f"<body><main><article><h1>{title}</h1>\n<p>{prose(title)}</p></article></main>\n"
        f"{body}</body></html>\n"
    ).encode()
