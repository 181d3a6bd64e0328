"""Read the kept pages of a run of ``neardup.spark``, without Spark."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from crawler.storage.errors import JobError
from neardup.batch.output_tables import About, about_of
from neardup.command_line.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

_ROWS_AT_ONCE = 256
_COLUMNS = (
    "id", "name", "title", "date", "words", "is_main", "digest", "fingerprint", "verdict", "text",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class KeptPage:
    """A page of a corpus that no page before it resembles; ``fingerprint`` is a signed number."""

    id: int
    name: str
    title: str | None
    date: str | None
    words: int
    is_main: bool
    digest: bytes
    fingerprint: int | None
    verdict: str
    text: str


class Corpus:
    """The pages that a run kept, and those of the earlier runs that it builds on.

    Args:
        folder: Output of the run, on a disk of this machine.

    Raises:
        JobError: There is none, or an earlier one is missing.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.about = _about(folder)
        self._folders = [*map(_local, self.about.against), folder]
        for earlier, run in zip(self._folders, self.about.runs, strict=False):
            if _about(earlier).run != run:
                raise JobError(f"{folder}: goes on from a run that is no longer in {earlier}")

    def __len__(self) -> int:
        """Return the number of pages."""
        return sum(_dataset(folder).count_rows() for folder in self._folders)

    def pages(self) -> Iterator[KeptPage]:
        """Yield the pages, in no order, a few at a time in memory."""
        for folder in self._folders:
            rows = _dataset(folder).to_batches(columns=list(_COLUMNS), batch_size=_ROWS_AT_ONCE)
            for batch in rows:
                yield from (KeptPage(**values) for values in batch.to_pylist())


def _about(folder: Path) -> About:
    if not (folder / "about").is_dir():
        raise JobError(f"{folder}: no output of neardup.spark in it")
    try:
        (row,) = _open(folder / "about").to_table().to_pylist()
        return about_of(row["about"])
    except InputError as error:
        raise JobError(f"{folder}: {error}") from None


def _dataset(folder: Path) -> Any:
    return _open(folder / "kept")


def _open(folder: Path) -> Any:
    try:
        import pyarrow as pa  # noqa: PLC0415  (optional)
        from pyarrow import dataset  # noqa: PLC0415
    except ImportError:
        raise JobError("parquet needs pyarrow: pip install pyarrow") from None
    files = sorted(str(file) for file in folder.glob("*.parquet"))
    try:
        return dataset.dataset(files, format="parquet")
    except (pa.ArrowException, OSError) as error:
        raise JobError(f"{folder}: cannot be read: {str(error).splitlines()[0]}") from None


def _local(place: str) -> Path:
    parts = urlsplit(place)
    if re.match(r"[a-z][a-z0-9+.-]*:", place) and parts.scheme != "file":
        raise JobError(f"{place}: is on no disk of this machine; copy it and what goes on from it")
    return Path(unquote(parts.path)) if parts.scheme else Path(place)
