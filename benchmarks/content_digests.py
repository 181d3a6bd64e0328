"""Tell by digests whether the shipped content model was trained by this code and on these pages.

The model holds digests of the code that makes features and learns from them, and of its pages. What
the code does counts: a comment, a docstring or a line broken elsewhere changes no digest.
"""

from __future__ import annotations

import ast
import gzip
import hashlib
import tokenize
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawler.reading.content.block_scoring import FILE
from crawler.reading.content.blocks import CONTAINERS, SKIPPED
from crawler.reading.content.content_xml import PAGE_TYPES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_ROOT = Path(__file__).resolve().parents[1]
_READING = _ROOT / "crawler" / "reading"
MODEL = _READING / "content" / FILE
CODE = (
    *(_READING / name for name in ("html_parsing.py", "flat_page.pyx")),
    *(_READING / "content" / f"{name}.pyx" for name in ("blocks", "kernels")),
    *(_READING / "content" / f"{name}.py" for name in ("block_flags", "block_features")),
    *(_READING / "content" / f"{name}.py" for name in ("page_features", "block_scoring")),
    Path(__file__).with_name("content_training.py"),
)
"""Files on which the numbers of the model depend."""
_NAMES = (sorted(CONTAINERS), sorted(SKIPPED), PAGE_TYPES)


class Digests(NamedTuple):
    """What a model was trained by, as hexadecimal digests.

    Attributes:
        code: Digest of what makes features and learns from them.
        pages: Digest of the pages and their truth.
    """

    code: str
    pages: str


def code_digest(files: Iterable[Path] = CODE) -> str:
    """Return the digest of what files do, and of the names that features rest on."""
    digest = hashlib.sha256(repr(_NAMES).encode())
    for file in files:
        is_python = file.suffix == ".py"
        for part in _parts(ast.parse(file.read_bytes())) if is_python else _words(file):
            digest.update(part.encode("utf-8", "surrogatepass") + b"\0")
    return digest.hexdigest()[:16]


def _parts(node: ast.AST) -> Iterator[str]:
    """Yield the parts of a syntax tree, without strings that are statements.

    What is empty is left out: versions of Python differ in the fields that they have.
    """
    yield type(node).__name__
    for name, value in ast.iter_fields(node):
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant):
                continue
            if isinstance(one, ast.AST):
                yield name
                yield from _parts(one)
            elif one is not None:
                yield f"{name}={one!r}"
    yield "end"


def _words(file: Path) -> Iterator[str]:
    """Yield the words of a file in Cython, without comments and strings that are statements."""
    before = tokenize.NEWLINE
    with file.open("rb") as source:
        for token in tokenize.tokenize(source.readline):
            if token.type in {tokenize.COMMENT, tokenize.NL, tokenize.ENCODING}:
                continue
            is_statement = before in {tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
            before = token.type
            if token.type != tokenize.NEWLINE and not (
                token.type == tokenize.STRING and is_statement
            ):
                yield tokenize.tok_name[token.type] + token.string.strip()


def pages_digest(folders: Iterable[Path]) -> str:
    """Return the digest of the truth and the pages of folders, whatever packs them."""
    digest = hashlib.sha256()
    for folder in folders:
        for file in sorted(folder.glob("*.gz")):
            digest.update(file.name.encode() + b"\0")
            digest.update(hashlib.sha256(gzip.decompress(file.read_bytes())).digest())
    return digest.hexdigest()[:16]


def shipped_digests(model: Path = MODEL) -> Digests:
    """Return the digests that a model holds; empty ones where it holds none."""
    with np.load(model, allow_pickle=False) as stored:
        return Digests(*(str(stored[name]) if name in stored else "" for name in Digests._fields))
