"""Read plain text and Markdown."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from crawler.reading.decoding import decode
from crawler.reading.documents.document_text import (
    CODE,
    ITEM,
    PARAGRAPH,
    ROW,
    DocumentProperties,
    DocumentText,
    Lines,
    clean,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_MIN_WRAPPED = 50
"""Take no line for wrapped that has fewer characters."""

_MARKED = re.compile(r"\s|[-*+•>|#=~]|\d+[.)]\s")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_HEADING_END = re.compile(r"[ \t]#+[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-{2,})[ \t]*")
_RULE = re.compile(r" {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])[ \t]+")
_QUOTE = re.compile(r" {0,3}(?:>[ \t]?)+")
_DEFINITION = re.compile(
    r" {0,3}\[(?!\^)[^\]\[]{1,200}\]:[ \t]*+(?:<([^<>]++)>|([^\s<]\S*+))"
    r"""(?:[ \t]++(?:"[^"]*+"|'[^']*+'|\([^()]*+\)))?[ \t]*+"""
)
_FOOTNOTE = re.compile(r" {0,3}\[\^[^\]\[]{1,200}\]:[ \t]*+")
_TABLE_RULE = frozenset(" \t|:-")
# Possessive, and never beyond the next bracket: a line may consist of a million of them.
_LINK = re.compile(
    r"!?\[([^\]\[]{0,1000}+)\]\([ \t]{0,9}+<?+([^)\s>\[]{0,8192}+)>?+[^)\[]{0,1000}+\)"
)
_REFERENCE = re.compile(r"!?\[([^\]\[]{1,1000})\]\[[^\]\[]{0,200}\]")
_AUTOLINK = re.compile(r"<(https?://[^\s<>]{1,8192})>")
_CODE = re.compile(r"(?<!`)(`{1,3})(?!`)([^`]{1,2000}+)\1(?!`)")
_EMPHASIS = re.compile(r"(\*{1,3}|(?<!\w)_{1,3}|~~)(?=\S)([^*_~]{1,2000})(?<=\S)\1(?!\w)")
_FRONT = re.compile(r"\s*([A-Za-z_-]{1,40}):\s*(.{0,1000})")
_MAX_FRONT_LINES = 100


def read_plain(body: bytes, content_type: str | None) -> DocumentText:
    """Read plain text; a paragraph becomes one line where its lines are surely wrapped."""
    text = decode(body, content_type).utf8.decode()
    lines = Lines()
    for paragraph in _paragraphs(text.split("\n")):
        if _is_wrapped(paragraph):
            lines.add(PARAGRAPH, " ".join(paragraph))
        else:
            for line in paragraph:
                lines.add(PARAGRAPH, line)
    return DocumentText(lines.blocks)


def read_markdown(body: bytes, content_type: str | None) -> DocumentText:
    """Read Markdown without its marks; links and the metadata in front of it are taken."""
    written = decode(body, content_type).utf8.decode().replace("\r", "").split("\n")
    front, start = _front_matter(written)
    reader = _Markdown()
    for line in written[start:]:
        reader.feed(line)
    reader.flush()

    def said(*names: str) -> list[tuple[str, str | None]]:
        return [(f"front:{name}", front.get(name)) for name in names]

    metadata = DocumentProperties(
        title=said("title"),
        author=said("author"),
        date=said("date"),
        modified=said("lastmod", "updated"),
        language=said("lang", "language"),
        description=said("description"),
    ).metadata()
    return DocumentText(reader.lines.blocks, metadata, reader.links)


class _Markdown:
    def __init__(self) -> None:
        self.lines = Lines()
        self.links: list[str] = []
        self._said: list[str] = []
        self._kind = PARAGRAPH
        self._fence = ""

    def feed(self, line: str) -> None:
        fence = _FENCE.match(line)
        if self._fence:
            if fence and fence[1].startswith(self._fence) and not line.strip(" `~"):
                self._fence = ""
            else:
                self.lines.add(CODE, line)
        elif fence:
            self.flush()
            self._fence = fence[1]
        elif definition := _DEFINITION.fullmatch(line):
            self.links.append((definition[1] or definition[2]).strip())
        elif footnote := _FOOTNOTE.match(line):
            self.flush()
            self._feed_text(line[footnote.end() :])
        else:
            self._feed_text(line)

    def _feed_text(self, line: str) -> None:
        line = line[quote.end() :] if (quote := _QUOTE.match(line)) else line
        if not line.strip():
            self.flush()
        elif heading := _HEADING.match(line):
            self.flush()
            self._said, self._kind = [_HEADING_END.sub("", heading[2])], f"h{len(heading[1])}"
            self.flush()
        elif self._said and self._kind == PARAGRAPH and _UNDERLINE.fullmatch(line):
            self._kind = "h1" if "=" in line else "h2"
            self.flush()
        elif _RULE.fullmatch(line) or ("|" in line and _TABLE_RULE.issuperset(line)):
            self.flush()
        elif line.lstrip().startswith("|"):
            self.flush()
            self.lines.add(ROW, "\t".join(map(self._bare, line.strip(" \t|").split("|"))))
        elif item := _ITEM.match(line):
            self.flush()
            self._said, self._kind = [line[item.end() :]], ITEM
        elif not self._said and line.startswith(("    ", "\t")) and self._kind == PARAGRAPH:
            self.lines.add(CODE, line)
        else:
            self._said.append(line)

    def flush(self) -> None:
        """Add the paragraph that is open."""
        said, self._said = self._said, []
        kind, self._kind = self._kind, PARAGRAPH
        self.lines.add(kind, self._bare(" ".join(said)))

    def _bare(self, text: str) -> str:
        """Return a text without its marks, and note its links."""
        self.links += (found[2] for found in _LINK.finditer(text) if not found[0].startswith("!"))
        self.links += (found[1] for found in _AUTOLINK.finditer(text))
        text = _AUTOLINK.sub(r"\1", _REFERENCE.sub(r"\1", _LINK.sub(r"\1", text)))
        return _CODE.sub(r"\2", _EMPHASIS.sub(r"\2", _EMPHASIS.sub(r"\2", text)))


def _front_matter(lines: list[str]) -> tuple[dict[str, str], int]:
    """Return the values in front of a text, and the number of its first line."""
    if not lines or lines[0].strip("\ufeff \t") != "---":
        return {}, 0
    found: dict[str, str] = {}
    for number, line in enumerate(lines[1 : _MAX_FRONT_LINES + 1], 1):
        if line.rstrip() in {"---", "..."}:
            return found, number + 1
        if value := _FRONT.fullmatch(line):
            said = clean(value[2].strip().strip("\"'"))
            if said:
                found.setdefault(value[1].lower(), said)
    return {}, 0


def _paragraphs(lines: Iterable[str]) -> Iterator[list[str]]:
    paragraph: list[str] = []
    for line in lines:
        if line.strip():
            paragraph.append(line.rstrip())
        elif paragraph:
            yield paragraph
            paragraph = []
    if paragraph:
        yield paragraph


def _is_wrapped(lines: list[str]) -> bool:
    """Return whether each line ends where the next word would no longer have fitted."""
    if len(lines) == 1 or any(map(_MARKED.match, lines)):
        return False
    width = max(map(len, lines))
    return all(
        len(line) >= _MIN_WRAPPED and len(line) + 1 + len(following.split(None, 1)[0]) > width
        for line, following in pairwise(lines)
    )
