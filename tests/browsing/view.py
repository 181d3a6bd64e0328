"""What a browser shows of a page."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Mapping

ELEMENTS = 400
"""So many elements of a page are asked how they look."""

FORWARDS = """
const wait = document.querySelector('meta[http-equiv=refresh i][content*="url=" i]');
return wait !== null && parseInt(wait.content) === 0;
"""

# Addresses are left out of what elements look like: they differ between a disk and a server.
SHOWN = f"""
return document.fonts.ready.then(() => {{
  const look = element => {{
    const style = getComputedStyle(element);
    return [
      element.localName, style.display, style.position, style.color, style.backgroundColor,
      style.backgroundImage === 'none', style.fontFamily, style.fontSize, style.fontWeight,
    ].join(' ');
  }};
  const elements = [...document.querySelectorAll('body, body *')].slice(0, {ELEMENTS});
  const frames = [...document.querySelectorAll('iframe[src], frame[src]')];
  return {{
    url: document.URL,
    text: document.body ? document.body.innerText : '',
    looks: elements.map(look),
    images: [...document.images].map(image => image.naturalWidth + 'x' + image.naturalHeight),
    links: [...document.links].map(link => link.href).concat(frames.map(frame => frame.src)),
  }};
}});
"""


@dataclass(frozen=True)
class View:
    """A page as it is seen.

    Attributes:
        url: Where the window was in the end.
        text: What can be read, with single spaces.
        looks: How each of the first ``ELEMENTS`` elements looks by the style sheets.
        images: Width and height of each image as it came, 0x0 where it did not.
        links: Absolute addresses of links and frames, in order.
        asked: Every address that was asked for.
        failed: Those that were not got, with the reason.
    """

    url: str
    text: str = ""
    looks: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    failed: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, shown: Mapping[str, Any], asked: tuple[str, ...], failed: dict[str, str]) -> Self:
        """From what the script ``SHOWN`` returned."""
        return cls(
            url=shown["url"],
            text=" ".join(shown["text"].split()),
            looks=tuple(shown["looks"]),
            images=tuple(shown["images"]),
            links=tuple(shown["links"]),
            asked=asked,
            failed=failed,
        )
