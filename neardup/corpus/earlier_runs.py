"""The runs that a run goes on from; each stores only the texts that were new to it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from neardup.batch.corpus_task import CorpusTask, ReadingChoices
from neardup.batch.output_tables import check_task, local_path
from neardup.corpus.batch_judge import BatchJudge
from neardup.corpus.corpus_tables import read_about, read_files
from neardup.errors import InputError


@dataclass(frozen=True, slots=True)
class EarlierRuns:
    """Folders of earlier runs, of Spark's too.

    Attributes:
        folders: The folders, the oldest first.
        runs: The names of the runs.
        end_file: The number of files that they have read.
        reading: The choice of what they have read.
    """

    folders: tuple[Path, ...] = ()
    runs: tuple[str, ...] = ()
    end_file: int = 0
    reading: ReadingChoices = field(default_factory=ReadingChoices)

    @property
    def tables(self) -> tuple[Path, ...]:
        """The folders of the tables; a run on Spark has them in one of its own."""
        return tuple(folder / read_about(folder).tables for folder in self.folders)


def earlier_runs(last: Path | None, task: CorpusTask) -> EarlierRuns:
    """Find the runs that the last one goes on from.

    Raises:
        InputError: One is missing, or was made with other parameters, or read otherwise.
    """
    if last is None:
        return EarlierRuns()
    about = read_about(last)
    check_task(str(last), about, task)
    folders = tuple(_local(place) for place in about.against)
    for folder, run in zip(folders, about.runs, strict=True):
        if not folder.exists() or read_about(folder).run != run:
            raise InputError(
                f"{last}: goes on from a run that is no longer in {folder}; move it back"
            )
    runs = (*about.runs, about.run)
    return EarlierRuns((*folders, last.resolve()), runs, about.end_file, about.reading)


def hold_run(judge: BatchJudge, folder: Path) -> Iterator[int]:
    """Hold what a run kept, by the tables in a folder.

    Yields:
        The number of kept texts that are held, behind each file.
    """
    columns = ["id", "text_id", "digest", "fingerprint", "verdict", "duplicate_of"]
    for table in read_files(folder, "documents", columns):
        judge.hold_documents(table)
        yield judge.kept
    for table in read_files(folder, "kept", ["id", "fingerprint", "title", "text"]):
        judge.hold_texts(table)
        yield judge.kept
    judge.sort()
    for table in read_files(folder, "signatures", ["id", "signature"]):
        judge.hold_signatures(table)
        yield judge.kept


def _local(place: str) -> Path:
    path = local_path(place)
    if path is None:
        raise InputError(
            f"{place}: is on no disk of this machine; copy it and what goes on from it"
        )
    return path
