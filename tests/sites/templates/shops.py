"""Shops: products on one template, which differ in their names, numbers and prices."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from html import escape
from itertools import islice, product
from typing import TYPE_CHECKING

from tests.sites.templates.copies import MadePage, first_showing, with_copies
from tests.sites.templates.layout import Frame, made_frame, page
from tests.sites.templates.wording import made_name, made_names, sentences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from tests.sites.templates.copies import Showing

SHOPS = 10
PRODUCTS = 400
"""Products of each shop."""

_COLOURS = (
    "red blue green black white grey yellow brown violet orange silver golden ivory olive teal "
    "crimson navy beige pink turquoise"
).split()
_SIZES = ("XS", "S", "M", "L", "XL", "XXL", "36", "38", "40", "42", "44", "46")
_QUALITIES = "light sturdy quiet folding small heavy simple fine long short wide deep".split()


def _numbered(source: random.Random) -> Iterator[str]:
    thing, step = made_name(source), source.choice([1, 5, 10, 100, 1000])
    for number in range(1, PRODUCTS + 1):
        yield f"{thing} {number * step}"


def _coloured(source: random.Random) -> Iterator[str]:
    for thing, colour in product(made_names(source, 20), _COLOURS):
        yield f"{thing} jacket, {colour}"


def _sized(source: random.Random) -> Iterator[str]:
    for thing, size in product(made_names(source, 40), _SIZES):
        yield f"{thing} trousers size {size}"


def _worded(source: random.Random) -> Iterator[str]:
    maker = made_name(source)
    for thing, quality in product(made_names(source, 40, 3), _QUALITIES):
        yield f"{maker} {quality} {thing}"


def _coded(source: random.Random) -> Iterator[str]:
    maker = made_name(source)
    for number in source.sample(range(1000, 9999), PRODUCTS):
        yield f"{maker} pump {maker[:2].upper()}-{number}{source.choice('ABCD')}"


NAMES: Sequence[Callable[[random.Random], Iterator[str]]] = (
    _numbered,
    _coloured,
    _sized,
    _worded,
    _coded,
)


@dataclass(frozen=True, slots=True)
class Shop:
    """A shop's template.

    Attributes:
        frame: Frame around its pages.
        heading: Where the name stands: ``h1``, ``h2`` below the site's ``h1``, ``both`` in
            breadcrumbs and ``h1``, or ``line``: nowhere but in the first line of the text.
        described: Form in which the head or the text describes the product to machines.
        prices: Whether a price is told.
        numbers: Whether a number of the article is told in the text.
        mentions: How often the text has the name.
        template: Words that are the same at all products.
        related: Products shown below, as links with their prices.
    """

    frame: Frame
    heading: str
    described: str
    prices: bool
    numbers: bool
    mentions: int
    template: Sequence[str]
    related: int


_SHAPES: Sequence[tuple[str, str, str]] = (
    ("name first", "h1", "json"),
    ("site first", "h1", ""),
    ("site alone", "h1", "microdata"),
    ("name first", "none", ""),
    ("in a sentence", "h1", "og"),
    ("site alone", "line", ""),
    ("with a dash", "h2", "json"),
    ("three parts", "both", ""),
    ("name alone", "none", "microdata"),
    ("with a colon", "h1", ""),
)
"""Titles, headings and descriptions of the shops."""


def made_shop(number: int, seed: int = 17) -> tuple[Shop, list[str]]:
    """Return a shop and the names of its products, the same every time."""
    source = random.Random(f"shop {seed} {number}")
    title, heading, described = _SHAPES[number % len(_SHAPES)]
    paragraphs = source.randint(2, 8)
    words = (200, 100, 400, 800)[number % 4]
    shop = Shop(
        frame=made_frame(
            source, title, source.choice(["Outfitters", "Supply", "Shop", "Brothers"])
        ),
        heading=heading,
        described=described,
        prices=source.random() < 2 / 3,
        numbers=source.random() < 1 / 2,
        mentions=source.choice([0, 1, 1, 2]),
        template=[sentences(source, words // paragraphs) for _ in range(paragraphs)],
        related=source.choice([0, 2, 4]),
    )
    names = list(islice(NAMES[number % len(NAMES)](source), PRODUCTS))
    source.shuffle(names)
    return shop, names


def shop_pages(number: int, count: int = PRODUCTS, seed: int = 17) -> Iterator[MadePage]:
    """Yield so many products of a shop, and copies of a tenth of them."""
    shop, names = made_shop(number, seed)
    source = random.Random(f"pages {seed} {number}")
    showing = first_showing(source)
    yield from with_copies(
        names[:count],
        showing,
        lambda name, showing: _product_page(shop, names, name, showing),
        source,
    )


def products(count: int = SHOPS * PRODUCTS, shops: int = SHOPS) -> Iterator[MadePage]:
    """Yield products of several shops, shop after shop, each tenth of them twice."""
    for number in range(shops):
        yield from shop_pages(number, count // shops)


def _product_page(shop: Shop, names: Sequence[str], name: str, showing: Showing) -> MadePage:
    source = random.Random(f"{shop.frame.site} {name}")
    facts = {
        "sku": f"{source.randint(10_000, 9_999_999)}",
        "gtin13": f"{source.randint(10**12, 10**13 - 1)}",
        "price": f"{source.randint(3, 900)}.{source.choice(['00', '50', '95', '99'])}",
    }
    content = _heading(shop, name) + _facts(shop, facts)
    if shop.described == "microdata":
        content = _microdata(name, facts, content)
    content += "".join(f"<p>The {escape(name)} is in store.</p>" for _ in range(shop.mentions))
    content += "".join(f"<p>{escape(paragraph)}</p>" for paragraph in shop.template)
    if not showing.prints:
        content += _related(shop, names, source)
    key = names.index(name) + 1
    return MadePage(
        f"http://{shop.frame.host}/p/{key}{showing.query}",
        f"{shop.frame.host}/{name}",
        page(shop.frame, name, showing, _head(shop, name, facts), content),
    )


def _heading(shop: Shop, name: str) -> str:
    site, name = escape(shop.frame.site), escape(name)
    return {
        "h1": f"<h1>{name}</h1>",
        "h2": f"<h1>{site}</h1><h2>{name}</h2>",
        "both": f"<p><a href='/'>Start</a> &gt; {name}</p><h1>{name}</h1>",
        "line": f"<p>{name}</p>",
        "none": f"<div class='name'><b>{name}</b></div>",
    }[shop.heading]


def _facts(shop: Shop, facts: Mapping[str, str]) -> str:
    price = f"<p>Price: {facts['price']} EUR</p>" if shop.prices else ""
    return price + (f"<p>Article {facts['sku']}</p>" if shop.numbers else "")


def _head(shop: Shop, name: str, facts: Mapping[str, str]) -> str:
    if shop.described == "json":
        offer = {"@type": "Offer", "price": facts["price"], "priceCurrency": "EUR"}
        described = {"@context": "https://schema.org", "@type": "Product", "name": name}
        script = json.dumps({**described, "sku": facts["sku"], "offers": offer})
        return f'<script type="application/ld+json">{script}</script>'
    if shop.described == "og":
        return (
            f'<meta property="og:title" content="{escape(name)}">'
            f'<meta property="product:retailer_item_id" content="{facts["sku"]}">'
        )
    return ""


def _microdata(name: str, facts: Mapping[str, str], content: str) -> str:
    return (
        f'<div itemscope itemtype="https://schema.org/Product">{content}'
        f'<meta itemprop="name" content="{escape(name)}">'
        f'<meta itemprop="gtin13" content="{facts["gtin13"]}">'
        f'<span itemprop="sku" content="{facts["sku"]}"></span></div>'
    )


def _related(shop: Shop, names: Sequence[str], source: random.Random) -> str:
    """Return other products, as links, with their prices beside the links."""
    items = (
        f"<li><a href='/p/{names.index(other) + 1}'>{escape(other)}</a> "
        f"{source.randint(3, 900)}.00 EUR</li>"
        for other in source.sample(names, min(shop.related, len(names)))
    )
    return f"<h3>You may like</h3><ul>{''.join(items)}</ul>" if shop.related else ""
