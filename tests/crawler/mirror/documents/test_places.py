from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.mirror.documents.places import LinkRole, kind_of, kind_of_relation
from crawler.reading.value_addresses import read_srcset, write_srcset


def _addresses(value: str) -> list[str]:
    text = value.encode()
    return [text[start:end].decode() for start, end in read_srcset(text)]


@pytest.mark.parametrize(
    ("value", "addresses"),
    [
        ("a.png", ["a.png"]),
        ("a.png 1x, b.png 2x", ["a.png", "b.png"]),
        ("a.png,b.png 2x", ["a.png,b.png"]),
        ("a.png, b.png", ["a.png", "b.png"]),
        (",, a.png ,,b.png,", ["a.png", "b.png"]),
        ("a,b.png 100w,\n c,d.png 200w", ["a,b.png", "c,d.png"]),
        ("data:image/png;base64,AAA= 1x, b.png 2x", ["data:image/png;base64,AAA=", "b.png"]),
        ("a (x, y) 1x, b", ["a", "b"]),
        ("a (x, b", ["a"]),
        ("a,, b", ["a", "b"]),
        ("", []),
        (" , ,", []),
    ],
)
def test_candidates_are_cut_as_the_standard_cuts_them(value: str, addresses: list[str]) -> None:
    assert _addresses(value) == addresses


class TestSrcsetProperties:
    @given(st.lists(st.text(alphabet="ab,./", min_size=1), min_size=1))
    def test_written_addresses_are_read_again(self, addresses: list[str]) -> None:
        written = [write_srcset(address) for address in addresses]
        assert _addresses(", ".join(f"{each} 2x" for each in written)) == written


@pytest.mark.parametrize(
    ("element", "attribute", "kind"),
    [
        (b"q", b"cite", LinkRole.OTHER),
        (b"div", b"cite", None),
        (b"img", b"srcset", LinkRole.REQUISITE),
        (b"div", b"srcset", None),
        (b"img", b"longdesc", LinkRole.OTHER),
        (b"td", b"background", LinkRole.REQUISITE),
        (b"div", b"data-src", LinkRole.REQUISITE),
        (b"div", b"src", None),
    ],
)
def test_attributes_hold_urls_where_browsers_read_them(
    element: bytes, attribute: bytes, kind: LinkRole | None
) -> None:
    assert kind_of(element, attribute) is kind


@pytest.mark.parametrize(
    ("relation", "media_type", "kind"),
    [
        ("stylesheet canonical", "text/css", LinkRole.REQUISITE),
        ("search", "application/opensearchdescription+xml", LinkRole.REQUISITE),
        ("search", "application/json", LinkRole.OTHER),
        ("search", "", LinkRole.FORM),
        ("next", "", LinkRole.PAGE),
    ],
)
def test_relations_say_what_a_mirror_needs(relation: str, media_type: str, kind: LinkRole) -> None:
    assert kind_of_relation(relation, media_type) is kind
