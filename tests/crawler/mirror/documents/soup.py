"""Tag soup, and what html5lib makes of it: the oracle for our scanner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import html5lib
from html5lib._tokenizer import HTMLTokenizer
from html5lib.constants import tokenTypes
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Iterator

_START = (tokenTypes["StartTag"], tokenTypes["EmptyTag"])
ADDRESSES = {("a", "href"), ("area", "href"), ("img", "src"), ("script", "src"), ("iframe", "src")}

_PIECES = r"""
<a href=x> <a href='y'> <A HREF="z"> <a href="one"href="two"> <a/href=q> <img src=i.png> / />
<img src="j.png"/> <script src=s.js> </script> <script> </SCRIPT > <style> </style> <title> == =
</title> <textarea> </textarea> <xmp> </xmp> <iframe src=f> </iframe> <noembed> </noembed> & x y
<noscript> </noscript> <!-- --> <!--> <!---> --!> <!x > <!doctype <?php ?> </ </> </a> </1> < >
<< <1> <div> <p> </p> <b title=' \" ' &amp; &copy=1 &notit; &lt &#65; &#x26; href= <br/> title="
src= "<a href=hidden>" '<a href=hidden>' title="<a href=v>" <area href="ar">
""".split()
_WHOLE = (
    "<a href=a>",
    "<a href='b&amp;' class=x>",
    '<a href="c" title="<a href=no>">',
    "<img src=d>",
)
_GLUE = ("", "", " ", "\n", "\t")

pieces = st.sampled_from([*_PIECES, *_WHOLE])
soups = st.lists(st.tuples(pieces, st.sampled_from(_GLUE)), max_size=14).map(
    lambda pairs: "".join(piece + glue for piece, glue in pairs)
)
# Without </p> and </div>: html5lib does not know that they end foreign content.
drawings = st.lists(
    st.sampled_from(
        [
            *_WHOLE,
            *"<svg> </svg> <math> </math> <style> </style> <title> </title> <p> <div> <g>".split(),
            *"<foreignObject> </foreignObject> <![CDATA[ ]]> <desc> </desc> <path/> x".split(),
            *"<svg/> <script> </script> <mi> </mi> <!-- --> </g>".split(),
        ]
    ),
    max_size=9,
).map("".join)
letters = st.text(alphabet="<>!-/?=\"' \nashrefit", max_size=60)


class _RecordingTokenizer(HTMLTokenizer):  # type: ignore[misc]
    def __iter__(self) -> Iterator[dict[str, Any]]:
        for token in super().__iter__():
            data = token.get("data")
            if token["type"] in _START:
                data = tuple(data.items())
            if token["type"] != tokenTypes["ParseError"]:
                self.parser.tokens.append((token["type"], token.get("name"), data))
            yield token


class _Recorder(html5lib.HTMLParser):  # type: ignore[misc]
    """A parser that keeps what its tokenizer, whose state it steers, gives it."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens: list[tuple[Any, ...]] = []

    def mainLoop(self) -> None:  # noqa: N802
        self.tokenizer.__class__ = _RecordingTokenizer
        super().mainLoop()


def tokens_of(page: str) -> list[tuple[Any, ...]]:
    """What html5lib's tokenizer finds in a page, adjacent texts joined."""
    recorder = _Recorder()
    recorder.parse(page)
    joined: list[tuple[Any, ...]] = []
    texts = (tokenTypes["Characters"], tokenTypes["SpaceCharacters"])
    for kind, name, data in recorder.tokens:
        if kind in texts and joined and joined[-1][0] == "text":
            joined[-1] = ("text", None, joined[-1][2] + data)
        else:
            joined.append(("text" if kind in texts else kind, name, data))
    return joined


def addresses_of(page: str) -> list[str]:
    """The addresses that html5lib finds, but those that nobody fetches."""
    return [
        value
        for kind, name, data in tokens_of(page)
        if kind in _START
        for key, value in data
        if (name, key) in ADDRESSES
        if name in {"a", "area", "iframe"} or (value.strip() and not value.strip().startswith("#"))
    ]
