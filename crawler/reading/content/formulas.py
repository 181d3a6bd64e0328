r"""Write each formula of a page once, as TeX.

A page says a formula up to four times: as TeX in an annotation, as MathML, as what a script has
drawn, and as a picture. The TeX stays, between ``\(`` and ``\)`` or ``\[`` and ``\]``, or else
the MathML is written as TeX.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Any

from lxml.etree import XPath

from crawler.reading.flat_page import flatten

if TYPE_CHECKING:
    from crawler.reading.flat_page import FlatPage

Element = Any  # lxml has no types

# A page may type formulas between dollars if it has a script of such a name.
_SCRIPT = re.compile("mathjax|katex", re.IGNORECASE)

# Characters of a class, and children of what is around a formula, that are looked at.
_MAX_NAMES, _MAX_PARTS = 200, 8

# What KaTeX, MathJax and MediaWiki put around a formula; a ``div`` only around a displayed one.
_WRAPPER = re.compile(r"(?:^|\s)(?:katex|mathjax|mjxc?|mwe-math)(?:[\s_-]|$)", re.IGNORECASE)
_DISPLAYED = re.compile(r"display\b|\bblock\b|^true$", re.IGNORECASE)
_PICTURE = re.compile(
    r"(?:^|\s)(?:tex|latex|math|mwe-math-[\w-]+)(?:\s|$)|latex(?:\.php)?\?|_images/math/|/math/render/",
    re.IGNORECASE,
)
# Anything but words that describe a formula.
_TEX = re.compile(r"[\\^_={}<>+]|^(?!.*[^\W\d_]{3})", re.DOTALL)
_AROUND_TEX = re.compile(
    r"%\s*<!\[CDATA\[|%\s*\]\]>|^\s*(?:\$\$?|\\[(\[])|(?:\$\$?|\\[)\]])\s*$|(?<!\\)%[^\n]*+(?:\n|\Z)"
)
_STYLED = re.compile(r"\{\s*\\(?:display|text)style\b(.*)\}", re.DOTALL)

# What MathJax and KaTeX look for in the text of a page, after what is delimited so already; and
# what never ends, so that each character is looked at twice at most.
_TYPED = re.compile(
    r"\\\(.{1,4000}?\\\)|\\\[.{1,4000}?\\\]"
    r"|\$\$(?P<display>[^$]+)\$\$"
    r"|(?P<environment>\\begin\{((?:equation|align|gather|multline|eqnarray)\*?)\}"
    r".{1,4000}?\\end\{\3\})"
    r"|(?<![\\$\w])\$(?P<inline>[^\s$](?:[^$]{0,400}[^\s$\\])?)\$(?![\d$])"
    r"|\\(?:[(\[]|begin\{(?:equation|align|gather|multline|eqnarray)).{0,4000}",
    re.DOTALL,
)
_PROSE = re.compile(r"[^\\^_={}<>]*\b[^\W\d_]{2,}\s[^\\^_={}<>]*")
_WITH_DOLLARS = XPath(
    r"//text()[contains(., '$') or contains(., '\begin{')]"
    "[not(ancestor::pre or ancestor::code or ancestor::script or ancestor::style)]/.."
)


def write_formulas(root: Element, page: FlatPage) -> FlatPage:
    """Replace the formulas of a page by TeX.

    Args:
        root: Root of the page, which is changed.
        page: Its tags and texts.

    Returns:
        The tags and texts with the TeX.

    Complexity: O(elements + characters).
    """
    found, is_typed, has_math = list[tuple[Element, str]](), False, "<math" in page.distinct
    for element in root.iter("math", "d-math", "math-renderer", "img", "script"):
        if has_math and next(element.iterancestors("math"), None) is not None:
            continue
        if element.tag == "script":
            named = element.get("src") or element.get("type", "")
            is_typed = is_typed or _SCRIPT.search(named) is not None
        elif element.tag != "img":
            found.append((element, _source(element)))
        elif (alt := element.get("alt")) and _TEX.search(alt):
            names = f"{element.get('class', '')} {element.get('src', '')[:200]}"
            if _PICTURE.search(names):
                found.append((element, _cleaned(alt)))
    # What a script has drawn is in front of its source, and may have MathML too.
    found.sort(key=lambda one: one[0].get("type") is None)
    for element, tex in found:
        if tex and element.getroottree().getroot() is root:
            _replace(element, tex)
    if is_typed:
        _delimit(root)
    return flatten(root) if found or is_typed else page


def _source(element: Element) -> str:
    """Return the TeX of an element for a formula."""
    if element.tag != "math" or element.get("type") is not None:
        return _cleaned(element.text or "")
    for note in element.iter("annotation"):
        if "tex" in note.get("encoding", "").lower() and note.text:
            return _cleaned(note.text)
    said = element.get("alttext", "")
    return _cleaned(said) if said and _TEX.search(said) else " ".join(tex_of(element).split())


def _cleaned(tex: str) -> str:
    tex = _AROUND_TEX.sub("", tex).strip()
    styled = _STYLED.fullmatch(tex)
    return " ".join((styled[1] if styled else tex).split())


def _replace(element: Element, tex: str) -> None:
    """Put TeX in the place of all that holds one formula, and of what a script has drawn of it."""
    said = [element.get(name, "") for name in ("display", "type", "class")]
    said += ["display"] * (element.get("block") is not None)
    is_script = element.get("type") is not None
    while (parent := element.getparent()) is not None:
        names = parent.get("class", "")[:_MAX_NAMES]
        if _says_more(parent):
            break
        is_around = parent.tag == "span" or (parent.tag == "div" and _DISPLAYED.search(names))
        if not parent.tag.startswith("mjx-") and not (is_around and _WRAPPER.search(names)):
            break
        element = parent
        said += (names, parent.get("display", ""))
    drawn = element.getprevious() if is_script else None
    while drawn is not None and _WRAPPER.search(drawn.get("class", "")[:_MAX_NAMES]):
        if (drawn.tail or "").strip():
            break
        drawn.clear(keep_tail=True)
        drawn = drawn.getprevious()
    element.clear(keep_tail=True)
    element.tag = "span"
    is_displayed = any(map(_DISPLAYED.search, said))
    element.text = f" \\[{tex}\\] " if is_displayed else f"\\({tex}\\)"


def _says_more(around: Element) -> bool:
    """Return whether an element holds text or parts beside one formula, as a paragraph does."""
    parts = list(islice(around, _MAX_PARTS + 1))
    texts = (around.text, *(part.tail for part in parts))
    return len(parts) > _MAX_PARTS or any(text and text.strip() for text in texts)


def _delimit(root: Element) -> None:
    """Delimit formulas that are typed between dollars or as environments like all others."""
    for place in _WITH_DOLLARS(root):
        for owner, name in ((place, "text"), *((child, "tail") for child in place)):
            if text := getattr(owner, name):
                setattr(owner, name, _TYPED.sub(_delimited, text))


def _delimited(found: re.Match[str]) -> str:
    if displayed := found["display"] or found["environment"]:
        return f" \\[{displayed.strip()}\\] "
    inline = found["inline"]
    return found[0] if inline is None or _PROSE.fullmatch(inline) else f"\\({inline}\\)"


_MAX_NESTING = 60
_LEAVES = frozenset({"mi", "mn", "mo", "ms", "mtext"})
_SKIPPED = frozenset({"annotation", "annotation-xml", "mphantom", "none", "mprescripts"})
_SHAPES = {
    "mfrac": r"\frac{{{0}}}{{{1}}}",
    "mroot": r"\sqrt[{1}]{{{0}}}",
    "msup": "{0}^{{{1}}}",
    "msub": "{0}_{{{1}}}",
    "msubsup": "{0}_{{{1}}}^{{{2}}}",
    "mover": r"\overset{{{1}}}{{{0}}}",
    "munder": "{0}_{{{1}}}",
    "munderover": "{0}_{{{1}}}^{{{2}}}",
}
_ROWS = {
    "msqrt": (r"\sqrt{", "", "}"),
    "mtr": ("", " & ", ""),
    "mtable": (r"\begin{matrix}", r" \\ ", r"\end{matrix}"),
}
_SIGNS = str.maketrans(
    {sign: f"\\{sign}" for sign in "%&#$_{}"}
    | dict.fromkeys("\u2061\u2062\u2063\u2064", "")
    | {"−": "-", "\\": r"\backslash "}
)


def tex_of(element: Element, nesting: int = 0) -> str:
    """Return MathML as TeX; letters and most signs stay what they are in Unicode."""
    tag = element.tag
    if tag in _LEAVES or nesting > _MAX_NESTING or not len(element):
        return _leaf(tag, " ".join("".join(element.itertext()).split()))
    parts = [tex_of(one, nesting + 1) for one in element if one.tag not in _SKIPPED]
    shape = _SHAPES.get(tag, "")
    if shape and len(parts) == 2 + ("{2}" in shape):
        is_one = len(parts[0]) == 1 or shape[0] == "\\" or parts[0][:1] == "\\"
        return shape.format(parts[0] if is_one else f"{{{parts[0]}}}", *parts[1:])
    opening, between, closing = _ROWS.get(tag, ("", "", ""))
    if tag == "mfenced":
        opening, closing = (element.get(*one) for one in (("open", "("), ("close", ")")))
        opening, between, closing = opening.translate(_SIGNS), ",", closing.translate(_SIGNS)
    return f"{opening}{between.join(parts)}{closing}"


def _leaf(tag: str, text: str) -> str:
    written = text.translate(_SIGNS)
    if tag in {"mtext", "ms"}:
        return f"\\text{{{written}}}" if written.strip("\xa0") else " "
    return f"\\operatorname{{{written}}}" if len(text) > 1 and text.isalpha() else written
