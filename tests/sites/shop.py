"""A shop in memory: products on one template, each with a print view and a copy of a session."""

from __future__ import annotations

import json

from tests.sites.prose import prose

TEMPLATE = prose("terms of delivery", 300)
"""What every product says, whatever it is."""


def product_of(url: str) -> str:
    """Return the number of the product that a URL shows, empty for the list."""
    return url.rpartition("/")[2].removesuffix(".html")


def shop(count: int) -> dict[str, bytes]:
    """Return pages by path: the list, and each product at three addresses."""
    links = "".join(f'<a href="/{number}.html">{number}</a> ' for number in range(count))
    found = {"/": f"<title>Lamps | Shop</title><h1>Lamps</h1>{links}".encode()}
    for number in range(count):
        found[f"/{number}.html"] = _product(number)
        found[f"/print/{number}.html"] = _product(number, more="<p>Printed for you.</p>")
        found[f"/s/7f3a/{number}.html"] = _product(number, more="<!-- session 7f3a -->")
    return found


def _product(number: int, more: str = "") -> bytes:
    name = prose(f"lamp {number}", 2).strip(".").title()
    described = {
        "@type": "Product",
        "name": name,
        "sku": f"L-{1000 + number}",
        "isRelatedTo": [{"@type": "Product", "sku": f"L-{1001 + number}"}],
    }
    return (
        f"<!DOCTYPE html><html lang=en><title>{name} | Shop</title>"
        f"<script type='application/ld+json'>{json.dumps(described)}</script>"
        f"<body><main><article><h1>{name}</h1><p>{name}, {number + 10} euros, L-{1000 + number}."
        f"</p><p>{TEMPLATE}</p>{more}</article></main>"
        f"<nav><a href='/print/{number}.html'>print</a> <a href='/s/7f3a/{number}.html'>share</a>"
        "</nav></body></html>"
    ).encode()
