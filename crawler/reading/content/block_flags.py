"""Tell from tags, classes, ids, roles and styles what an element may be for.

The words are general ones of markup, mostly in English as nearly all markup is; none names a site.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from crawler.reading.flat_page import attributes_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from crawler.reading.content.blocks import BlockTag
    from crawler.reading.flat_page import FlatPage

# Words of classes, ids and roles, by what they tell. A word counts where it begins a word of the
# attribute, so that "comment" is found in "comments-area".
_WORDS = {
    "nav": "nav menu breadcrumb crumbs navigation megamenu submenu offcanvas hamburger sitemap",
    "header": "header masthead topbar banner top-bar site-header branding logo",
    "footer": "footer colophon bottom contentinfo foot",
    "sidebar": "sidebar aside rail widget side complementary sidenav secondary",
    "comment": "comment disqus respond discussion kommentar commentaire comentario yorum",
    "cookie": "cookie consent gdpr privacy ccpa onetrust notice",
    "share": "share sharing sharedaddy sharethis social follow facebook twitter addtoany teilen "
    "partage compartir",
    "related": "related recommend similar popular trending upsell cross also more-from read-next "
    "suggest recent latest next prev previous recirc recirculation outbrain taboola relacionadas "
    "relatedposts relatedarticles",
    "ad": "ad ads advert advertisement sponsor sponsored promo promotion newsletter subscribe "
    "signup subscription mailing paywall werbung anzeige publicite publicidad",
    "modal": "modal popup overlay dialog drawer lightbox tooltip dropdown toast popover flyout",
    "byline": "author byline date meta tags tag category categories published time posted "
    "timestamp dateline metadata autor auteur autore datum fecha",
    "content": "content main body prose markdown richtext rte wysiwyg text copy inhalt contenido",
    "article": "article entry story blog news post-content hentry artikel articulo noticia beitrag",
    "product": "product item-description description price spec specs specification sku details "
    "detail pdp feature features attributes variant",
    "listing": "list listing grid card cards tile tiles results result collection items archive "
    "catalog loop feed teaser",
    "item": "item row col column cell entry",
    "form": "form filter filters sort facet search refine login register checkout",
    "pager": "pagination pager page-numbers paging paginate load",
    "control": "button btn cta toolbar control controls action actions toggle link links",
    "forum": "thread topic post posts message messages reply replies bbcode postbody question "
    "answer forum conversation bbp",
    "toc": "toc contents table-of-contents tableofcontents outline onthispage scrollspy",
    "hero": "hero intro lead lede summary excerpt jumbotron headline subtitle title heading",
    "review": "review reviews rating ratings stars testimonial testimonials quote",
    "faq": "faq accordion collapse collapsible tab tabs panel tabpanel",
    "account": "account cart basket wishlist signin sign-in user profile member avatar",
    "legal": "copyright legal disclaimer terms license",
    "hidden": "hidden sr-only visually screen-reader skip assistive offscreen d-none hide",
    "media": "caption gallery image figure video carousel slider slick swiper thumbnail media",
    "section": "section container wrapper wrap inner block module region layout",
    "code": "highlight code sourcecode codehilite example docs documentation api signature",
}
_BITS = {kind: 1 << at for at, kind in enumerate(_WORDS)}

_TAGS = {
    "nav": "nav",
    "header": "header",
    "footer": "footer",
    "aside": "sidebar",
    "dialog": "modal",
    "form": "form",
    "button": "control",
    "figure": "media",
    "figcaption": "media",
}
_ROLES = {
    "navigation": "nav",
    "banner": "header",
    "contentinfo": "footer",
    "complementary": "sidebar",
    "dialog": "modal",
    "alertdialog": "modal",
    "search": "form",
    "menu": "nav",
    "menubar": "nav",
    "tooltip": "modal",
    "main": "main",
    "article": "article_tag",
    "button": "control",
    "tabpanel": "faq",
}
_FURTHER = (
    "main",
    "article_tag",
    "p",
    "table",
    "list",
    "quote",
    "pre",
    "heading",
    "hidden_by_style",
    "text_property",
    "name_property",
    "any_property",
    "label",
    "summary",
    "dl",
    "section_tag",
    "noscript",
)
for _kind in _FURTHER:
    _BITS[_kind] = 1 << len(_BITS)
FLAGS = tuple(_BITS)
"""Names of the flags of a container, the first of them in the lowest bit."""


def flag_bits(kinds: str) -> int:
    return sum(_BITS[kind] for kind in kinds.split())


TAG_BITS = {tag: _BITS[kind] for tag, kind in _TAGS.items()} | {
    "main": _BITS["main"],
    "article": _BITS["article_tag"],
    "p": _BITS["p"],
    "table": _BITS["table"],
    "ul": _BITS["list"],
    "ol": _BITS["list"],
    "dl": _BITS["dl"],
    "blockquote": _BITS["quote"],
    "pre": _BITS["pre"],
    "label": _BITS["label"],
    "legend": _BITS["label"],
    "summary": _BITS["summary"],
    "section": _BITS["section_tag"],
    "noscript": _BITS["noscript"],
    **{f"h{level}": _BITS["heading"] for level in range(1, 7)},
}
_TEXT_PROPERTIES = frozenset(
    "articlebody description text reviewbody acceptedanswer suggestedanswer comment "
    "recipeinstructions recipeingredient".split()
)
_NAME_PROPERTIES = frozenset("name headline price sku brand".split())
_HIDDEN_STYLE = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_OF_WORD: dict[str, int] = {}
for _kind, _list in _WORDS.items():
    for _one in _list.split():
        _OF_WORD[_one] = _OF_WORD.get(_one, 0) | _BITS[_kind]
# Ends of the words above, which may be the second half of one: "bar" of "top-bar" and "topbar".
_SECOND = frozenset(
    word[at:] for word in _OF_WORD for at in range(1, len(word)) if word[at].isalpha()
)

# Elements that hold all of a page, or that rows and items around them open.
_ALWAYS_SHOWN = frozenset("html body main article li dt dd tr td th tbody".split())
# Words of tabs, of what is opened, and of what opens it, in tags beside each other.
_OPENING = re.compile(
    r"tab|accordion|collaps|faq|panel|toggle|answer|question|more|expand|spoiler|slide|carousel"
    r"|trigger|aria-controls|onclick|javascript:|=\"button|\bbutton\b|/summary|href=\"#",
    re.IGNORECASE,
)
_MAX_HIDDEN_SHARE, _MAX_HIDDEN_CHARACTERS = 0.5, 1000
"""Take a hidden part of more of a page's tags, or of a longer text, for one that a script shows."""


def _word_bits(word: str) -> int:
    bits = _OF_WORD.get(word)
    if bits is None and word.endswith("s"):
        bits = _OF_WORD.get(word[:-1])
    return bits or 0


@lru_cache(maxsize=20_000)
def name_bits(names: str) -> int:
    """Return the flags that a class, id or role tells."""
    bits, before = 0, ""
    for word in _WORD.findall(names[:400]):
        lowered = word.lower()
        bits |= _word_bits(lowered)
        if lowered in _SECOND:
            bits |= _OF_WORD.get(f"{before}-{lowered}", 0) | _OF_WORD.get(before + lowered, 0)
        before = lowered
    return bits


def attribute_bits(attributes: Mapping[str, str]) -> int:
    """Return the flags that the attributes of an element tell."""
    bits = 0
    for name, value in attributes.items():
        bits |= TELLING[name](value)
    return bits


def hides(tag: str, attributes: Mapping[str, str]) -> bool:
    """Return whether an element is not shown at first, by its own attributes."""
    if tag in _ALWAYS_SHOWN:
        return False
    is_hidden = attributes.get("hidden", "until-found").lower() != "until-found"
    return is_hidden or _HIDDEN_STYLE.search(attributes.get("style", "")) is not None


class HiddenParts:
    """The hidden elements of a page that nothing on it may open.

    Attributes:
        begun: Indices of the tags that begin them.
    """

    def __init__(self, page: FlatPage) -> None:
        self.begun: set[int] = set()
        self._page = page
        self._opened_until = 0

    def holds(self, at: int, tag: BlockTag, around: str) -> bool:
        """Return whether a hidden element is one; all is shown that stands in an opened one.

        Args:
            at: Index of the tag that begins it.
            tag: That tag.
            around: Names and classes of what it stands in.
        """
        if at < self._opened_until:
            return False
        tags, end = self._page.tags, self._page.end_of(at)
        is_opened = (
            tag.get("id")
            or _OPENING.search(" ".join((around, *tags[max(at - 5, 0) : at + 1])))
            or _OPENING.search(" ".join(tags[end : end + 3]))
            or end - at > _MAX_HIDDEN_SHARE * len(tags)
            or sum(map(len, self._page.texts[at:end])) > _MAX_HIDDEN_CHARACTERS
            or (tag.get("class") and self._classes[tag.get("class")] > 1)
        )
        if is_opened:
            self._opened_until = end
        else:
            self.begun.add(at)
        return not is_opened

    def elements(self) -> Iterator[bool]:
        """Yield for each element of the page whether it is one; nothing for a page without any."""
        tags = enumerate(self._page.tags if self.begun else ())
        return (at in self.begun for at, tag in tags if tag[0] != "/")

    @cached_property
    def _classes(self) -> Counter[str | None]:
        """Number of elements of the page by class: of several, one is shown at a time."""
        found = Counter[str | None]()
        for tag, times in Counter(self._page.tags).items():
            if ' class="' in tag:
                found[attributes_of(tag).get("class")] += times
        return found


def _role_bits(role: str) -> int:
    kind = _ROLES.get(role.strip().lower())
    return _BITS[kind] if kind else 0


def _style_bits(style: str) -> int:
    is_hidden = ("none" in style or "hidden" in style) and _HIDDEN_STYLE.search(style)
    return _BITS["hidden_by_style"] if is_hidden else 0


def _property_bits(name: str) -> int:
    bits, name = _BITS["any_property"], name.strip().lower()
    if name in _TEXT_PROPERTIES:
        bits |= _BITS["text_property"]
    elif name in _NAME_PROPERTIES:
        bits |= _BITS["name_property"]
    return bits


TELLING: dict[str, Callable[[str], int]] = {
    "class": name_bits,
    "id": name_bits,
    "role": _role_bits,
    "style": _style_bits,
    "hidden": lambda _: _BITS["hidden_by_style"],
    "aria-hidden": lambda value: _BITS["hidden_by_style"] if value == "true" else 0,
    "itemprop": _property_bits,
}
"""Read the attributes that may tell what an element is for."""
