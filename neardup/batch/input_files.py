"""Find the files that an argument names, and cut them into parts for tasks."""

import gzip
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any, NamedTuple

from neardup.errors import InputError
from neardup.languages import declared_or_told, is_of_language, language_tag
from neardup.plurals import many

WARC = "warc"
JSON_LINES, PARQUET, CSV, ARROW = ROW_FORMATS = ("jsonl", "parquet", "csv", "arrow")
FORMATS = (WARC, *ROW_FORMATS)
PART_BYTES = 64 << 20
_PIECE_ROWS, _MAX_PIECES = 1 << 14, 8
MAX_FILES = 1 << 22
"""The largest number of files: an id is the number of a file in 22 bits and a position in 41."""

PACKINGS = {
    ".gz": b"\x1f\x8b", ".zst": b"\x28\xb5\x2f\xfd", ".zstd": b"\x28\xb5\x2f\xfd",
    ".bz2": b"BZh", ".xz": b"\xfd7zXZ\0",
}  # fmt: skip
"""The first bytes of packed files by their endings."""
_ENDINGS = {
    ".warc": WARC, ".warc.gz": WARC, ".wet": WARC, ".wet.gz": WARC, ".warc.gz.open": WARC,
    ".warc.zst": WARC, ".wet.zst": WARC,
    ".parquet": PARQUET, ".arrow": ARROW,
    **{f"{ending}{packed}": JSON_LINES for ending in (".jsonl", ".ndjson", ".jl", ".json")
       for packed in ("", *PACKINGS)},
    **{f".csv{packed}": CSV for packed in ("", *PACKINGS)},
}  # fmt: skip
_LISTS = (".paths", ".paths.gz", ".list", ".txt")
_WILD = "*?["
_MAX_KINDS = 10
_ABOUT_DATA = frozenset({"state.json", "dataset_info.json", "dataset_dict.json"})
"""The files in which ``datasets`` describes what ``save_to_disk`` wrote; they hold no rows."""


@dataclass(frozen=True, slots=True)
class File:
    """A file of the input; its path may be a URI of a file system that pyarrow knows."""

    path: str
    format: str
    size: int


@dataclass(frozen=True, slots=True)
class InputPart:
    """The bytes of a file, from ``start`` to before ``end``, that one task reads at once.

    A line belongs to the part in which it begins. ``number`` is that of the file among all files of
    all runs; it orders the ids. Of parquet a part may have the rows from ``first_row`` to before
    ``end_row`` alone.
    """

    number: int
    path: str
    format: str
    start: int
    end: int
    first_row: int = 0
    end_row: int | None = None

    @property
    def is_packed(self) -> bool:
        """Whether its lines are compressed as a whole, so that they are read from the beginning."""
        return self.path.lower().endswith(tuple(PACKINGS))


class Fields(NamedTuple):
    """The names of the fields of rows; a dot leads into an object. None: the usual ones."""

    text: str | None = None
    name: str | None = None
    title: str | None = None
    date: str | None = None
    language: str | None = None

    @property
    def names(self) -> list[tuple[str, ...]]:
        """The names that each of the fields may have, the first ones first."""
        chosen = zip(USUAL, self, strict=True)
        return [usual if name is None else (name,) for usual, name in chosen]


USUAL = (("text",), ("url", "id"), ("title",), ("date",), ("language",))
"""The names that fields have where none is named."""


@dataclass(frozen=True, slots=True)
class InputOptions:
    """The choice of what is read of files.

    Attributes:
        fields: The names of the fields of rows.
        extractor: The name of what finds the main text of HTML; None: the reader's first one.
        languages: The languages of documents that are read, as ``language_codes`` returns them;
            empty: any.
    """

    fields: Fields = field(default_factory=Fields)
    extractor: str | None = None
    languages: tuple[str, ...] = ()

    def other_language(self, declared: str | None, text: str) -> str | None:
        """Return the first of the languages of a document where none is wanted, else None.

        A document that declares none, and whose text tells none, is of any language.

        Args:
            declared: Languages with commas between them, or None.
            text: Its text, which counts where it declares none.
        """
        if not self.languages:
            return None
        spoken = declared_or_told(declared, text)
        if spoken is None or is_of_language(spoken, self.languages):
            return None
        # Of what is longer there may be as many as documents.
        first = next(tag for tag in map(language_tag, spoken.split(",")) if tag is not None)
        return "-".join(first.split("-")[:2])


def find_files(
    word: str,
    format_name: str | None = None,
    prefix: str = "",
    pass_over: Callable[[str], object] = lambda path: None,
) -> list[File]:
    """Return the files that a word names, in the order of their paths.

    Args:
        word: A file, a folder (with all folders in it), a pattern such as ``crawl/*.warc.gz``, or
            a list of those, one a line, as Common Crawl's ``warc.paths.gz``. Paths of a list are
            kept in the order of the list.
        format_name: One of ``FORMATS``; None: what the ending of each file says.
        prefix: The prefix of the paths of a list, such as ``s3://commoncrawl/``; empty: those that
            are not absolute lie beside the list.
        pass_over: Called with the path of each file that is no input: its ending says no format.

    Raises:
        InputError: There is none, or a format is not known.
    """
    if word.lower().endswith(_LISTS) and format_name is None:
        files = [file for line in _lines(word, prefix) for file in _named(line, None, pass_over)]
    else:
        files = _named(word, format_name, pass_over)
    if not files:
        raise InputError(f"{word}: no files of {', '.join(FORMATS)} in it")
    check_count(len(files))
    return files


def passed_over(paths: list[str]) -> str:
    """Return a line about files that are no input."""
    kinds = sorted({_ending(PurePath(path)) or PurePath(path).name for path in paths})
    named = ", ".join(kinds[:_MAX_KINDS] + ["..."] * (len(kinds) > _MAX_KINDS))
    return f"passed over: {many(len(paths), 'file')} of no known format: {named}"


def _ending(path: PurePath) -> str:
    return "".join(path.suffixes[-2:]) if path.suffix.lower() in PACKINGS else path.suffix


def check_count(files: int) -> None:
    """Refuse more files, those of earlier runs too, than ids can be made for."""
    if files > MAX_FILES:
        raise InputError(f"at most {MAX_FILES:,} files in all runs, got {files:,}; begin anew")


def parts_of(files: list[File], first: int, part_bytes: int = PART_BYTES) -> Iterator[InputPart]:
    """Yield the parts of files, numbered from ``first``; only lines not packed can be cut."""
    for number, file in enumerate(files, start=first):
        is_cut = file.format == JSON_LINES and not file.path.lower().endswith(tuple(PACKINGS))
        step = part_bytes if is_cut else max(1, file.size)
        for start in range(0, max(1, file.size), step):
            yield InputPart(number, file.path, file.format, start, min(start + step, file.size))


def row_parts(part: InputPart) -> Iterator[InputPart]:
    """Yield the groups of rows of a parquet file as parts, large ones in pieces; others whole.

    To find a piece, the rows before it in its group are decoded, so that there are few in a group.
    A file that cannot be read is one part, and told by what reads that.
    """
    if part.format != PARQUET:
        yield part
        return
    import pyarrow as pa  # noqa: PLC0415  (optional)
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        system, inner = file_system(part.path)
        with system.open_input_file(inner) as file:
            metadata = pq.ParquetFile(file).metadata
        rows = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
    except (pa.ArrowException, OSError, ValueError):  # also of names that are no UTF-8
        rows = []
    total = sum(rows)
    if not total:
        yield part
        return
    first = 0
    for count in rows:
        step = max(_PIECE_ROWS, -(-count // _MAX_PIECES))
        for start in range(first, first + count, step):
            end = min(start + step, first + count)
            yield replace(
                part,
                start=part.end * start // total,
                end=part.end * end // total,
                first_row=start,
                end_row=end,
            )
        first += count


def _lines(path: str, prefix: str) -> Iterator[str]:
    system, inner = file_system(path)
    try:
        with system.open_input_file(inner) as file:
            data = file.read()
        text = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path}: {_why(error)}") from None
    beside = path.rpartition("/")[0]
    for line in text.decode("utf-8", "replace").splitlines():
        name = line.strip()
        if not name or name.startswith("#"):
            continue
        is_absolute = name.startswith("/") or "://" in name
        if prefix and not is_absolute:
            yield prefix.rstrip("/") + "/" + name
        else:
            yield name if is_absolute or not beside else f"{beside}/{name}"


def _named(word: str, format_name: str | None, pass_over: Callable[[str], object]) -> list[File]:
    from pyarrow import fs  # noqa: PLC0415  (optional)

    system, inner = file_system(word)
    try:
        info = system.get_file_info(inner)
        is_there = info.type != fs.FileType.NotFound  # also where its name looks like a pattern
        if not is_there and any(sign in inner for sign in _WILD):
            found = _matching(system, word, inner)
        elif not is_there:
            raise InputError(f"{word}: no such file or folder")
        elif info.type == fs.FileType.File:
            kind = format_name or kind_of(word)
            if kind is None:
                choices = ", ".join(FORMATS)
                raise InputError(
                    f"{word}: its ending says no format; choose with --format {choices}"
                )
            return [File(word, kind, info.size)]
        else:
            found = system.get_file_info(fs.FileSelector(inner, recursive=True))
    except (OSError, ValueError) as error:  # a name with a zero byte
        raise InputError(f"{word}: {_why(error)}") from None
    head = word.removesuffix(inner)  # the scheme, which pyarrow takes off
    return _chosen(found, head, format_name, pass_over)


def _matching(system: Any, word: str, inner: str) -> list[Any]:
    from fnmatch import fnmatchcase  # noqa: PLC0415  (rare)

    from pyarrow import fs  # noqa: PLC0415  (optional)

    plain = inner[: min(inner.find(sign) for sign in _WILD if sign in inner)]
    root = plain.rpartition("/")[0] or ("/" if plain.startswith("/") else ".")
    if system.get_file_info(root).type != fs.FileType.Directory:
        raise InputError(f"{word}: no such folder: {root}")
    return [
        info
        for info in system.get_file_info(fs.FileSelector(root, recursive=True))
        if info.path.count("/") == inner.count("/") + (root == ".") * info.path.startswith("./")
        and fnmatchcase(info.path.removeprefix("./"), inner)
    ]


def _chosen(
    found: list[Any], head: str, format_name: str | None, pass_over: Callable[[str], object]
) -> list[File]:
    files = []
    for info in found:
        name = info.base_name
        if not info.is_file or name.startswith(("_", ".")) or name in _ABOUT_DATA:
            continue
        kind = format_name or kind_of(name)
        if kind is None:
            pass_over(head + info.path)
        else:
            files.append(File(head + info.path, kind, info.size))
    return sorted(files, key=lambda file: file.path)


def kind_of(path: str) -> str | None:
    name = path.lower()
    return next((kind for ending, kind in _ENDINGS.items() if name.endswith(ending)), None)


def file_system(path: str) -> tuple[Any, str]:
    """Return pyarrow's file system of a path or URI, and the path in it."""
    import pyarrow as pa  # noqa: PLC0415  (optional)
    from pyarrow import fs  # noqa: PLC0415

    if "://" not in path:
        return fs.LocalFileSystem(), path
    try:
        system, inner = fs.FileSystem.from_uri(path)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{path}: {_why(error)}") from None
    return system, inner


def _why(error: Exception) -> str:
    strerror = getattr(error, "strerror", None)
    return str(strerror or error).splitlines()[0]
