from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.mirror.documents.linked_document import read_document
from crawler.mirror.documents.places import undo
from crawler.reading.value_addresses import (
    may_hold_addresses,
    read_css,
    read_escapes,
    write_css,
)


def _addresses(css: str) -> list[str]:
    text = css.encode()
    return [read_escapes(text[start:end].decode()) for start, end in read_css(text)]


@pytest.mark.parametrize(
    ("css", "addresses"),
    [
        ("a{b:url(x.png)}", ["x.png"]),
        ("a{b:URL( 'x y' )}", ["x y"]),
        ('a{b:url("x")url(y)}', ["x", "y"]),
        (r"a{b:u\72l(x)}", ["x"]),
        (r"a{b:url(x\26 y\(z\))}", ["x&y(z)"]),
        (r'a{b:url("a\"b")}', ['a"b']),
        ("a{b:url('x\\\ny')}", ["xy"]),
        ("/* url(no) */ url(yes)", ["yes"]),
        ("/* url(no)", []),
        ("'url(no)' url(yes)", ["yes"]),
        ("'bad\n url(yes)", ["yes"]),
        ("url(bad url(no)) url(yes)", ["yes"]),
        ("url(ba'd) url(yes)", ["yes"]),
        ("url(bad\\)no) url(yes)", ["bad)no", "yes"]),
        ("xurl(no) -url(no) 1url(no) #url(no) @url(no) url (no)", []),
        (".url(yes) <!--url(too)-->", ["yes", "too"]),
        ("url(end", ["end"]),
        ("url() url('') url(#own) url('#own')", []),
        ("@import 'a' screen; @import url(b); @IMPORT/**/\"c\"", ["a", "b", "c"]),
        ("@import; 'no' a{content:'no'}", []),
        ("@namespace url(no); @namespace x 'no'; @namespace url('no'); b{c:url(yes)}", ["yes"]),
        (
            "@charset 'no'; @font-face{src:local(no),url(f?#iefix)format('no')}",
            ["f?#iefix"],
        ),
        ("image-set('a.png' 1x, url(b.png) 2x type('image/png'))", ["a.png", "b.png"]),
        ("-webkit-image-set(url('a') 1x) x('no')", ["a"]),
        ("src('a') url('b' 'no')", ["a", "b"]),
    ],
)
def test_addresses_are_those_of_the_tokens(css: str, addresses: list[str]) -> None:
    assert _addresses(css) == addresses


class TestCssProperties:
    @given(st.text(alphabet="ab ()'\"\\&#;\n/.?=<", min_size=1))
    def test_written_addresses_are_read_again(self, address: str) -> None:
        written, wanted = write_css(f"x{address}"), f"x{address}".replace("<", "%3C")
        for css in (f"url({written})", f'url("{written}")', f"@import '{written}';"):
            assert _addresses(css) == [wanted]

    @given(st.text(alphabet="url()'\"\\ \n/*@import;{}a-1#<!"))
    def test_rewriting_any_sheet_can_be_undone(self, css: str) -> None:
        document = read_document(css.encode(), "http://host.example/a.css", "text/css")
        assert document is not None
        rewritten = document.rewrite(lambda link: link.written + "'(1)")
        assert undo(rewritten.body, rewritten.patch) == css.encode()
        if not any(link.url for link in document.links):
            assert rewritten == (css.encode(), b"")
            return
        again = _addresses(rewritten.body.decode())
        assert again == [
            (link.written + "'(1)" if link.url else link.written).replace("<", "%3C")
            for link in document.links
        ]


_PIECES = (
    "url", "URL", "src", "image-set", "-webkit-image-set", "u\\72l", "@import", "@namespace", "rgb",
    "(", ")", '"a"', "'b'", "a.png", "#c", " ", ";", ":", "{", "}", ",", "\\", "\n", "/*", "*/",
    "\u017f", "\u0130",
)  # fmt: skip


@given(st.lists(st.sampled_from(_PIECES), max_size=12).map("".join))
def test_css_that_may_hold_no_address_has_none(css: str) -> None:
    text = css.encode()
    assert may_hold_addresses(text) or not list(read_css(text))


@pytest.mark.parametrize("css", ["fill: rgb(0, 0, 0)", "transform: rotate(9deg)", "@media a{}"])
def test_colours_transformations_and_most_rules_are_not_read(css: str) -> None:
    assert not may_hold_addresses(css.encode())
