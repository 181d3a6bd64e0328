"""Write a search of a mirror's pages that works from a disk: a page, and an index of scripts.

A page that was opened from a disk may load scripts, and no other files. The index is therefore made
of scripts: ``words-N.js`` with the pages of each word, divided by a hash of the first two letters
of the words so that all words with one beginning are in one file, and ``pages-N.js`` with titles
and beginnings of texts. The page loads what a search needs, and no more.

Words are folded here as ``scripts/search.js`` folds those of a query: NFKD, without marks, in small
letters. In scripts without spaces between words each character is a word.
"""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import xxhash

from crawler.mirror.file_table import FileTable
from crawler.mirror.paths import SEARCH, SEARCH_FOLDER, address_between
from crawler.pages.items import text_of
from crawler.pages.stored_texts import text_of_page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.mirror.folder import MirrorFolder
    from crawler.storage.database import Database

MAX_ENTRIES = 12_000_000
"""Index at most this many words of pages, each counted once a page; of the rest only titles."""

_MAX_PAGE_WORDS = 5_000
_MAX_WORD_LENGTH = 40
_SNIPPET_CHARACTERS = 300
_CHUNK = 200
_SHARD_BYTES = 60_000
_MAX_SHARDS = 1024

# Thai to Khmer, kana, Han; as a class of characters for both languages.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
)
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class OfflineSearch:
    """The search that was written.

    Attributes:
        pages: Number of its pages.
        size: Bytes of its files.
        without_text: Number of pages that are found by their titles alone.
    """

    pages: int
    size: int
    without_text: int


def write_search(database: Database, folder: MirrorFolder) -> OfflineSearch:
    """Write the search of a finished mirror, or leave it as it is where nothing changed.

    The page names the folder of its index, and is replaced after that was written: a search is the
    old one or the new one.

    Files:
        search.html: the page.
        search/DIGEST/words-N.js, search/DIGEST/pages-N.js: the index.

    Complexity: O(texts), and in memory a few bytes for each word of a page.

    Raises:
        MirrorError: A file cannot be written.
    """
    index, read = _Index(), database.read
    for file in FileTable(database.read).pages():
        if file.is_page and file.page is not None:
            # The text of a near-duplicate may be stored nowhere, but for that of its original.
            stored = text_of_page(read, file.page) or text_of_page(
                read, file.duplicate_of or file.page
            )
            text = text_of(stored.content or None) if stored else None
            index.add(file.path, file.title or file.url, text or "")
    written = dict(index.files())
    digest = xxhash.xxh3_64()
    for name, data in written.items():
        digest.update(name.encode() + data)
    place = f"{SEARCH_FOLDER}/{digest.hexdigest()}"
    page = _page(place, index)
    size = len(page) + sum(map(len, written.values()))
    for name, data in written.items():
        path = f"{place}/{name}"
        if not (folder.exists(path) and folder.stat(path).st_size == len(data)):
            folder.write(path, data)
    if not (folder.exists(SEARCH) and folder.read(SEARCH) == page):
        folder.write(SEARCH, page)
    _remove_others(folder, f"{place}/")
    return OfflineSearch(len(index.pages), size, index.without_text)


def remove_search(folder: MirrorFolder) -> None:
    """Remove the search of a mirror that is to have none."""
    if folder.exists(SEARCH):
        folder.remove(SEARCH)
    _remove_others(folder, None)


def _remove_others(folder: MirrorFolder, kept: str | None) -> None:
    for path in list(folder.paths(SEARCH_FOLDER)):
        if kept is None or not path.startswith(kept):
            folder.remove(path)


def words_of(text: str) -> Iterator[str]:
    """Yield the folded words of a text, in order."""
    folded = unicodedata.normalize("NFKD", text)
    if not folded.isascii():
        folded = "".join(each for each in folded if unicodedata.category(each)[0] != "M")
    for found in _WORD.finditer(folded.lower().replace("ς", "σ")):
        yield found[0][:_MAX_WORD_LENGTH]


def shard_of(word: str, shards: int) -> int:
    """Return the number of the file that has a word."""
    return (ord(word[0]) * 31 + (ord(word[1]) if len(word) > 1 else 0)) % shards


class _Index:
    """Collects pages and their words."""

    def __init__(self) -> None:
        self.pages: list[tuple[str, str, str]] = []
        self.without_text = 0
        self.shards = 1
        self._entries = 0
        self._words: dict[str, tuple[bytearray, int]] = {}

    def add(self, path: str, title: str, text: str) -> None:
        number = len(self.pages)
        self.pages.append((address_between(SEARCH, path), title, " ".join(text[:2000].split())))
        of_title = set(words_of(title))
        words = dict.fromkeys(of_title)
        if text and self._entries < MAX_ENTRIES:
            for word in words_of(text):
                words[word] = None
                if len(words) >= _MAX_PAGE_WORDS:
                    break
        else:
            self.without_text += bool(text)
        self._entries += len(words)
        for word in words:
            pages, last = self._words.get(word) or (bytearray(), -1)
            if pages:
                pages += b" "
            pages += _in_base_36(number - last) + (b"!" if word in of_title else b"")
            self._words[word] = pages, number

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Yield the names of the files and what they hold."""
        size = sum(len(word) + len(pages) + 6 for word, (pages, _) in self._words.items())
        while self.shards < _MAX_SHARDS and self.shards * _SHARD_BYTES < size:
            self.shards *= 2
        shards: list[dict[str, str]] = [{} for _ in range(self.shards)]
        for word in sorted(self._words):
            pages, _ = self._words[word]
            shards[shard_of(word, self.shards)][word] = pages.decode()
        for number, words in enumerate(shards):
            yield _file(f"words-{number}", words)
        for start in range(0, len(self.pages), _CHUNK):
            chunk = [
                (path, title, text[:_SNIPPET_CHARACTERS])
                for path, title, text in self.pages[start : start + _CHUNK]
            ]
            yield _file(f"pages-{start // _CHUNK}", chunk)


def _in_base_36(number: int) -> bytes:
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits.encode()


def _file(name: str, content: Any) -> tuple[str, bytes]:
    written = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return f"{name}.js", f'mirrorSearch("{name}",{written})\n'.encode("utf-8", "replace")


def _page(place: str, index: _Index) -> bytes:
    strings = {
        "folder": place,
        "pages": len(index.pages),
        "chunk": _CHUNK,
        "shards": index.shards,
        "longest": _MAX_WORD_LENGTH,
        "unspaced": _UNSPACED,
    }
    scripts = files("crawler.mirror") / "scripts"
    page = (scripts / "search.html").read_text(encoding="utf-8")
    code = (scripts / "search.js").read_text(encoding="utf-8")
    page = page.replace("{script}", code.rstrip())
    return page.replace("{index}", json.dumps(strings), 1).encode()
