from __future__ import annotations

import pytest

from crawler.reading.html_parsing import parse
from crawler.reading.visible import read_visible, tidy


def shown(body: str) -> str:
    return " ".join(read_visible(parse(body.encode())).text.split())


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<title>no</title><p>yes</p>", "yes"),
        ("<p>yes</p><script>no</script><style>no</style>", "yes"),
        ("<noscript>no</noscript><template>no</template>yes", "yes"),
        ("<p>one</p><p>two</p>", "one two"),
        ("one<br>two<hr>three", "one two three"),
        ("<table><tr><td>one</td><td>two</td></tr></table>", "one two"),
        ("<ul><li>one<li>two</ul>", "one two"),
        ("wo<b>r</b>d and f<i>oo</i>", "word and foo"),
        ("before<div>within</div>after", "before within after"),
        ("<select><option>one<option>two</select>", "one two"),
        ("&auml;&nbsp;&lt;x&gt;", "ä <x>"),
        ("<body>one</body><body>two</body>", "one two"),
        ("<!-- no -->", ""),
        ("", ""),
    ],
)
def test_what_is_shown(body: str, text: str) -> None:
    assert shown(body) == text


def test_framesets_differ_by_their_frames() -> None:
    one = shown("<frameset><frame src=a.html><noframes>Sorry</noframes></frameset>")
    other = shown("<frameset><frame src=b.html><noframes>Sorry</noframes></frameset>")
    assert one == "Sorry a.html"
    assert one != other


def test_links_and_controls_are_apart() -> None:
    body = b"<nav>n</nav><p>text <a href=x>link</a> tail</p><button>b</button><label>l</label>"
    visible = read_visible(parse(body))
    assert visible.text.split() == ["n", "text", "link", "tail", "b", "l"]
    assert visible.unlinked.split() == ["text", "tail"]


def test_the_page_is_not_changed() -> None:
    root = parse(b"<head><title>t</title></head><body><p>a</p><a href=x>b</a></body>")
    before = list(root.itertext())
    read_visible(root)
    assert list(root.itertext()) == before


def test_tidy_leaves_lines_of_words() -> None:
    assert tidy(" \n one \t two\xa0three \n\n\n four\n ") == "one two three\nfour"
