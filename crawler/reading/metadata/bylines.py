"""Read the author and the day that readers see beside the heading of a page.

Only the texts next to the heading are looked at, some before it and some hundred behind, up to
the first long paragraphs: elsewhere on a page dates and names are those of other pages. Where no
day stands there, the last lines of a page may say when it was changed, as those of manuals do.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from crawler.reading.metadata.dates import DAY_SIGN, iso_date, named_day
from crawler.reading.metadata.page_titles import folded_name

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

Element = Any  # lxml has no types
Found = tuple[str, str]
"""Code of a place, and the text there."""

_MAX_HEADINGS = 50
_MAX_TEXTS = 20
_MIN_TITLE = 8
_MAX_ELEMENTS = 150
_MAX_BEFORE = 12
_MAX_LAST = 60
_MAX_LEVELS_BEFORE = 4
_MAX_INNER = 8
_MAX_CHARACTERS = 1500
_MIN_PARAGRAPH = 120
_MAX_PARAGRAPHS = 1
_MAX_PIECE = 100
_MAX_NAME = 60
_MAX_DAYS = 2
_MAX_WORDS_BESIDE = 7
"""Take no date of a line with more other words: it is a sentence."""

_LEFT_OUT = frozenset(
    "button footer form nav noscript pre script select style svg template".split()
)
_UNSEEN = frozenset("noscript script select style svg template".split())
_ENDS = frozenset({"article", "body", "main"})
_MARKS = ("class", "itemprop", "id")
_MARKS_AROUND = ("class", "itemprop")
_DAY_CLASS = re.compile(
    r"(?<![a-z])(?:date|datetime|published|pubdate|posted|timestamp|time|byline)", re.IGNORECASE
)
_AUTHOR_CLASS = re.compile(
    r"(?<![a-z])(?:author|byline|username|written-?by)s?(?![a-z])", re.IGNORECASE
)
# Classes of what is said beside the name of an author.
_NO_AUTHOR = re.compile(
    r"avatar|bio|box|count|date|description|image|img|job|label|link-?list|meta-?time|more|photo|"
    r"picture|position|role|social|text|time|title|tooltip",
    re.IGNORECASE,
)
_BY = re.compile(
    r"(?:(?:article|authored|photos?|posted|published|recipe|reported|review(?:ed)?|started|story|text|words|"
    r"written)\s+(?:and\s+\w+\s+)?)?by(?:\s*:|\s|$)\s*|"
    r"(?:author|autore?|autor(?:in)?|auteur|forfatter|författare|автор|作者|著者|文|記者|记者|撰文|글쓴이|작성자|المؤلف|مؤلف|מאת)"
    r"\s*(?:[:\uff1a／]\s*|$)|(?:记者|記者)\s(?=\S{2,4}(?:\s|$))|(?:te[kx]sti?|texte|words|story)\s?:\s*|"
    r"(?:(?:(?:gast)?beitrag|geschrieben|veröffentlicht) von|ein (?:gast)?beitrag von|von|door|"
    r"(?:escrito|publicado) por|(?:écrit |rédigé |publié )?par|scritto da)\s+(?-i:(?=[^\W\d_a-z]))|"
    # Alone, the name is in the next element; in one text a name must follow, and nothing else.
    r"(?:von|door|par|por|di|av|af|przez|geschreven door|escrito por)(?:\s*:?\s*$|"
    r"\s+(?-i:(?=(?:[^\W\d_a-z][\w'’.-]*\s?){2,4}(?:$|[|•·,–—]))))",
    re.IGNORECASE,
)
_AFTER_NAME = re.compile(
    r"\s*(?:[|•·/,;(<]|\s[–—-]\s|\s(?:on|at|in|for|am|le|el|il|op|em|vom|et|updated|published|posted)\s"
    r"|\s\S{1,9}[:\uff1a]|$).*",
    re.DOTALL,
)
_GENERATED = re.compile(r"\bgenerated\b.*\b(?:doxygen|javadoc|sphinx)|\$date", re.IGNORECASE)
_MODIFIED = re.compile(
    r"updat|modif|revis|edited|changed|last review|aktualisier|geändert|mis à jour|actualizad|"
    r"aggiornat|atualizad|bijgewerkt|uppdater|opdater|oppdater|zaktualizowan|обновл|изменен|更新|"
    r"수정|güncelle|تحديث|עודכן",
    re.IGNORECASE,
)
_OTHER_DAY = re.compile(
    r"joined|\bjoin\b|registered|member since|copyright|©|\bborn\b|\bdied\b|deadline|expir|until|"
    r"\bvalid|last (?:visit|seen|active|login|activity|reply|post)|birthday|\bstarts?\b|\bends?\b|"
    r"\bfrom\b|depart|arriv|check-?in|retrieved|accessed|effective|beigetreten|registriert|inscrit|"
    r"inscription|регистрац",
    re.IGNORECASE,
)
_WORD = re.compile(r"(?<!\d)[^\W\d_]+")
_NO_NAME = re.compile(
    r"https?:|@|[!?<>{}=#]|\d{2}|^(?:admin|administrator|anonymous|author|by|guest|home|more|read|share|"
    r"staff|the|unknown|view|written by|updated|published|follow|posted)$",
    re.IGNORECASE,
)


class Byline(NamedTuple):
    """Author and dates that stand beside a heading; None where nothing does.

    Attributes:
        author: Code of the place and name of the author.
        date: Code and day of publication, ISO 8601.
        modified: Code and day of the last change.
    """

    author: Found | None = None
    date: Found | None = None
    modified: Found | None = None


NO_BYLINE = Byline()


def read_byline(
    root: Element,
    heading: Element | None,
    title: str,
    *,
    language: str | None,
    wants_author: bool,
    wants_date: bool,
) -> Byline:
    """Return the author and the days that stand beside the heading of a page.

    That is the heading that the title names, else the first one.

    Args:
        root: Root of the page; not changed.
        heading: The element of its first heading.
        title: Its title.
        language: What it declares, such as ``en-GB``.
        wants_author: Whether the author is not known otherwise.
        wants_date: Whether the day is not known otherwise.

    Complexity: A constant number of headings, elements and characters is looked at.
    """
    anchor = _titled(root, heading, folded_name(title))
    if anchor is None:
        return NO_BYLINE
    return _beside(anchor, _Reader(wants_author, wants_date, language))


def _titled(root: Element, first: Element | None, title: str) -> Element | None:
    headings = islice(root.iter("h1", "h2", "h3"), _MAX_HEADINGS)
    for heading in chain(() if first is None else (first,), headings):
        text = folded_name("".join(islice(heading.itertext(), _MAX_TEXTS))[:_MAX_CHARACTERS])
        if len(text) >= _MIN_TITLE and text in title:
            return heading
    return first


def _beside(heading: Element, reader: _Reader) -> Byline:
    paragraphs = characters = 0
    for holder, text in _texts_behind(heading):
        characters += len(text)
        paragraphs += len(text) >= _MIN_PARAGRAPH
        if characters > _MAX_CHARACTERS or paragraphs > _MAX_PARAGRAPHS:
            break
        reader.read(holder, text)
    if reader.wants_date and reader.date is None and reader.modified is None:
        for holder, text in reversed(list(_texts_before(heading))):
            reader.read_day(holder, text)
    reader.read_end(heading.getroottree().getroot())
    if reader.is_of_list:
        return NO_BYLINE
    return Byline(reader.author, reader.date, reader.modified)


@dataclass(slots=True)
class _Reader:
    wants_author: bool
    wants_date: bool
    language: str | None
    author: Found | None = None
    date: Found | None = None
    modified: Found | None = None
    _label: str = ""
    _is_after_by: bool = False
    _days: set[str] = field(default_factory=set)

    @property
    def is_of_list(self) -> bool:
        """Whether the days are those of the entries of a list."""
        return len(self._days) > _MAX_DAYS

    def read(self, holder: Element, text: str) -> None:
        """Take what a text beside the heading says."""
        if len(text) <= _MAX_PIECE and self.wants_author and self.author is None:
            self._read_author(holder, text)
        self.read_day(holder, text)

    def read_day(self, holder: Element, text: str) -> None:
        """Take the day that a text beside the heading names."""
        is_time = holder.tag == "time"
        if self.wants_date and (is_time or DAY_SIGN.search(text)) and len(text) <= _MAX_PIECE:
            self._read_day(holder, text, is_time=is_time)
        self._label = text

    def _read_day(self, holder: Element, text: str, *, is_time: bool) -> None:
        named = named_day(text, self.language)
        day = iso_date(holder.get("datetime"), self.language) if is_time else None
        if day is None and named is None:
            return
        other = None if named is None or day else named_day(text[named[2] :], self.language)
        if named and other and _MODIFIED.search(text[named[2] :][: other[1]]):
            # "Published 2 June 2019. Last updated 8 January 2025." are two lines.
            self._read_day(holder, text[: named[2]], is_time=False)
            self._label = ""
            self._read_day(holder, text[named[2] :], is_time=False)
            return
        beside = text if named is None else f"{text[: named[1]]} {text[named[2] :]}"
        # A label may stand in an element of its own, before that of the day.
        before = "" if named and _WORD.search(beside) else self._label
        if _OTHER_DAY.search(beside) or (len(before) < 40 and _OTHER_DAY.search(before)):
            return
        is_marked = is_time or _is_marked(holder, _DAY_CLASS)
        if not is_marked and len(_WORD.findall(beside)) > _MAX_WORDS_BESIDE:
            return
        found = day or (named[0] if named else "")
        if _MODIFIED.search(beside) or (len(before) < 40 and _MODIFIED.search(before)):
            self.modified = self.modified or ("byline:modified", found)
        else:
            self.date = self.date or ("byline:time" if is_time else "byline", found)
            self._days.add(found)

    def read_end(self, root: Element) -> None:
        """Take the day of the last change that the last lines of a page name."""
        if not self.wants_date or self.date is not None or self.modified is not None:
            return
        day = ""
        for _, text in _last_texts(root):
            if len(text) > _MAX_PIECE or not (day or DAY_SIGN.search(text)):
                continue
            label = _MODIFIED.search(text) or _GENERATED.search(text)
            named = named_day(text[label.start() :] if label else text, self.language)
            # A label may stand in an element of its own, before that of the day.
            day = named[0] if named is not None else day if label else ""
            if day and label is not None:
                self.modified = ("footer:modified", day)
                return

    def _read_author(self, holder: Element, text: str) -> None:
        by = _BY.match(text)
        if by is not None:
            said = text[by.end() :]
            self._is_after_by = not said
            self._take_author("byline", said)
        elif self._is_after_by:
            self._is_after_by = False
            self._take_author("byline", text, is_link=holder.tag == "a")
        else:
            own = holder.get("class", "")
            if _is_marked(holder, _AUTHOR_CLASS) and not _NO_AUTHOR.search(own):
                self._take_author("class:author", text)

    def _take_author(self, code: str, text: str, *, is_link: bool = False) -> None:
        name = _AFTER_NAME.sub("", text, count=1).strip(" \t:-–—|•·")
        words = _WORD.findall(name)
        is_name = words and len(words) <= 6 and 1 < len(name) <= _MAX_NAME
        # "by default" is no byline; the name of a user may have small letters alone.
        is_user = " " not in name and (is_link or code != "byline")
        telling = words[words[:1] in (["The"], ["the"]) :]  # "The name of its author" names nobody
        is_named = is_user or any(word[0].upper() == word[0] for word in telling)
        if is_name and is_named and not _NO_NAME.search(name):
            self.author = (code, name)


def _is_marked(holder: Element, pattern: re.Pattern[str]) -> bool:
    """Whether classes or properties of an element, or of a small one around it, are of a kind."""
    if pattern.search(_marks(holder, _MARKS)):
        return True
    around = holder.getparent()
    if around is None or not pattern.search(_marks(around, _MARKS_AROUND)):
        return False
    return len(list(islice(around, _MAX_INNER + 1))) <= _MAX_INNER


def _marks(element: Element, names: tuple[str, ...]) -> str:
    return " ".join([value for name, value in element.items() if name in names])


def _texts_behind(heading: Element) -> Iterator[tuple[Element, str]]:
    """Yield the texts behind an element with what holds each, in the order of the page."""
    node, is_entering = heading, False
    for _ in range(2 * _MAX_ELEMENTS):
        if is_entering and isinstance(node.tag, str) and node.tag not in _LEFT_OUT:
            if node.text and (text := _line(node.text)):
                yield node, text
            inner = next(iter(node), None)  # the length of an element takes time
            if inner is not None:
                node = inner
                continue
        around = node.getparent()
        if around is None:
            return
        if node.tail and (text := _line(node.tail)):
            yield around, text
        following = node.getnext()
        if following is None:
            if around.tag in _ENDS:
                return
            node, is_entering = around, False
        else:
            node, is_entering = following, True


def _texts_before(heading: Element) -> Iterator[tuple[Element, str]]:
    """Yield the last texts before an element, the nearest first."""
    node, seen = heading, 0
    for _ in range(_MAX_LEVELS_BEFORE):
        for before in islice(node.itersiblings(preceding=True), 2 * _MAX_BEFORE):
            inner = [] if before.tag in _LEFT_OUT else list(_last_texts(before, _LEFT_OUT))
            yield from inner
            seen += len(inner)
            if seen >= _MAX_BEFORE:
                return
        node = node.getparent()
        if node is None or node.tag in _ENDS:
            return


def _last_texts(root: Element, left_out: Container[str] = _UNSEEN) -> Iterator[tuple[Element, str]]:
    """Yield the texts at the end of an element with what holds each, the last one first."""
    around = [(root, root.iterchildren(reversed=True))]
    for _ in range(_MAX_LAST):
        element, children = around[-1]
        child = next(children, None)
        if child is None:
            around.pop()
        elif child.tag not in left_out and isinstance(child.tag, str):
            around.append((child, child.iterchildren(reversed=True)))
        if text := _line(element.text if child is None else child.tail):
            yield element, text
        if not around:
            return


def _line(text: str | None) -> str:
    return " ".join(text[: 2 * _MAX_CHARACTERS].split()) if text else ""
