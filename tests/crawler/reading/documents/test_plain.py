from __future__ import annotations

import time

import pytest

from crawler.reading.documents.plain import read_markdown, read_plain

MARKDOWN = """---
title: "The captain"
author: A. Writer
date: 2024-05-31
lang: en
---
# The *captain* #

The harbour was **quiet**
when [the ferry](http://other.test/a "title") came `in()`.

- Tea and snake_case_names
- [x] Bread

1. First

| Ship | Crew |
|------|-----:|
| Ferry | 12 |

```python
if a:
    b = "**c**"
```

> Quoted <https://other.test/b>

Second
------
See [below][1].

[1]: http://other.test/c
"""


def test_markdown_is_read_without_its_marks() -> None:
    found = read_markdown(MARKDOWN.encode(), "text/markdown")
    assert found.blocks == [
        ("h1", "The captain"),
        ("p", "The harbour was quiet when the ferry came in()."),
        ("item", "Tea and snake_case_names"),
        ("item", "[x] Bread"),
        ("item", "First"),
        ("row", "Ship\tCrew"),
        ("row", "Ferry\t12"),
        ("code", "if a:"),
        ("code", '    b = "**c**"'),
        ("p", "Quoted https://other.test/b"),
        ("h2", "Second"),
        ("p", "See below."),
    ]
    assert found.metadata[:4] == ("The captain", "A. Writer", "2024-05-31", "en")
    assert dict(found.metadata.sources)["author"] == "front:author"
    assert found.links == ["http://other.test/a", "https://other.test/b", "http://other.test/c"]


def test_footnotes_and_remarks_are_text_and_definitions_are_links() -> None:
    lines = [
        "[^1]: This is the footnote text.",
        "[^2]: And the second.",
        "",
        "[TODO]: fix this sentence",
        "[a]: http://a.test/1",
        "[b]: </2> 'a title'",
        '[c]: http://a.test/3  "the title" ',
    ]
    found = read_markdown("\n".join(lines).encode(), None)
    said = ["This is the footnote text.", "And the second.", "[TODO]: fix this sentence"]
    assert found.text.split("\n") == said
    assert found.links == ["http://a.test/1", "/2", "http://a.test/3"]


def test_wrapped_lines_of_plain_text_are_joined() -> None:
    wrapped = (
        "The harbour was quiet when the ferry came in, and nobody\n"
        "on the pier had seen the captain since the evening\n"
        "before. His cap lay on a bench beside a cup of tea that\n"
        "was still warm."
    )
    found = read_plain(f"{wrapped}\n\nshort\nlines\nstay\n".encode(), "text/plain")
    assert found.text.split("\n") == [wrapped.replace("\n", " "), "short", "lines", "stay"]


def test_lists_and_indented_lines_of_plain_text_stay() -> None:
    text = "- " + "word " * 14 + "end\n- " + "word " * 14 + "end"
    assert read_plain(text.encode(), None).text == text


def test_plain_text_is_decoded_by_its_header() -> None:
    body = "Žluťoučký kůň".encode("cp1250")
    assert read_plain(body, "text/plain; charset=windows-1250").text == "Žluťoučký kůň"


@pytest.mark.parametrize(
    "piece",
    [
        "[",
        "[a](",
        "![",
        "*",
        "_a",
        "`",
        "> ",
        "- ",
        "|-",
        "[a]: ",
        "[a]: <b> '",
        "<http://",
        "#" * 6 + " ",
        "\t",
    ],
)
def test_a_line_of_marks_alone_takes_linear_time(piece: str) -> None:
    body = (piece * (1_000_000 // len(piece))).encode()
    started = time.process_time()
    read_markdown(body, None)
    assert time.process_time() - started < 5
