"""The tables of a run: written beside their place, and moved there when all of them are whole."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from neardup.command_line.errors import InputError
from neardup.features.features import Features
from neardup.parameters import Parameters

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FORMAT = 1
TABLES = ("documents", "signatures", "pairs", "clusters", "kept", "near_texts", "left_out")
_ABOUT = "about"
_UNFINISHED = ".unfinished"
_PATIENCE_SECS, _QUIET_SECS = 15.0, 1.0


@dataclass(frozen=True, slots=True)
class About:
    """The description of a run.

    Attributes:
        run: A name that no other run has.
        input: The input, as it was given.
        parameters: The parameters by which its texts were judged.
        first_file: The number of its first file.
        end_file: The number after that of its last file.
        against: Paths of the runs that it went on from, the first one first.
        runs: The names of these runs.
        counts: The counts of its results, by name.
    """

    run: str
    input: str
    parameters: Parameters
    first_file: int
    end_file: int
    against: tuple[str, ...]
    runs: tuple[str, ...]
    counts: dict[str, int | str]

    def to_json(self) -> str:
        """Return the whole as one JSON object."""
        values = asdict(self)
        values["parameters"]["features"] = str(self.parameters.fingerprint_features)
        return json.dumps({"format": FORMAT, **values})


def about_of(text: str) -> About:
    """Undo ``About.to_json``.

    Raises:
        InputError: It is of another version.
    """
    values: dict[str, Any] = json.loads(text)
    found = values.pop("format")
    if found != FORMAT:
        raise InputError(f"format {FORMAT} expected, got {found}; make it anew with this version")
    chosen = values.pop("parameters")
    features = Features.parsed(chosen.pop("features"))
    values |= {name: tuple(values[name]) for name in ("against", "runs")}
    return About(parameters=Parameters(features=features, **chosen), **values)


class Folder:
    """A folder that Spark reads and writes, wherever that lies.

    Args:
        spark: The session.
        path: As Hadoop understands it.
    """

    def __init__(self, spark: "SparkSession", path: str) -> None:
        self._spark = spark
        gateway: Any = spark.sparkContext._jvm
        configuration = spark.sparkContext._jsc.hadoopConfiguration()
        self._new_path = gateway.org.apache.hadoop.fs.Path
        place = self._new_path(path)
        self._system = place.getFileSystem(configuration)
        self.path = str(place)
        self.full_path = str(self._system.makeQualified(place).toString())

    @property
    def final_path(self) -> str:
        """The path to which the folder is moved when it is whole."""
        return self.full_path.removesuffix(_UNFINISHED)

    def exists(self, name: str = "") -> bool:
        """Whether there is such a file or folder in it; without a name, itself."""
        return bool(self._system.exists(self._inside(name)))

    def is_empty(self) -> bool:
        """Whether nothing is in it."""
        return len(self._system.listStatus(self._inside(""))) == 0

    def remove(self, name: str = "") -> None:
        """Remove it, or what is in it; nothing where there is none."""
        self._system.delete(self._inside(name), True)

    def move(self, target: "Folder") -> None:
        """Give it another name, under which there must be nothing.

        Raises:
            InputError: It cannot be moved.
        """
        if not self._system.rename(self._inside(""), target._inside("")):
            raise InputError(f"{target.path}: cannot be written; the result is in {self.path}")

    def write(self, rows: "DataFrame", name: str) -> "DataFrame":
        """Write rows under a name, and return what reads them back."""
        rows.write.parquet(f"{self.full_path}/{name}", mode="overwrite")
        return self._spark.read.schema(rows.schema).parquet(f"{self.full_path}/{name}")

    def read(self, name: str) -> "DataFrame":
        """Return the rows of a table, which are read when they are needed."""
        return self._spark.read.parquet(f"{self.full_path}/{name}")

    def write_about(self, about: About) -> None:
        """Write what makes a folder of tables one that is whole."""
        rows = self._spark.createDataFrame([(about.to_json(),)], "about string")
        rows.coalesce(1).write.parquet(f"{self.full_path}/{_ABOUT}", mode="overwrite")

    def read_about(self) -> About:
        """Return the description of the run in it.

        Raises:
            InputError: There is no run, or one of another version.
        """
        if not self.exists(_ABOUT):
            what = "no run of neardup.spark in it" if self.exists() else "no such folder"
            raise InputError(f"{self.path}: {what}")
        row = self.read(_ABOUT).first()
        try:
            return about_of(row["about"] if row else "{}")
        except InputError as error:
            raise InputError(f"{self.path}: {error}") from None

    def _inside(self, name: str) -> Any:
        return self._new_path(f"{self.path}/{name}" if name else self.path)


@contextmanager
def new_folder(spark: "SparkSession", path: str, *, overwrite: bool) -> Iterator[Folder]:
    """Give a folder beside the wanted one, which takes its place when all went well.

    Args:
        spark: The session.
        path: The path at which the tables are to be.
        overwrite: Whether a run that is there goes, once the new one is whole.

    Raises:
        InputError: There is something already, or since; then the result stays beside it.
    """
    target = Folder(spark, path)
    _check_free(target, overwrite=overwrite)
    folder = Folder(spark, target.path + _UNFINISHED)
    folder.remove()
    try:
        yield folder
    except BaseException:
        spark.sparkContext.cancelAllJobs()
        _remove_for_good(folder)
        raise
    try:
        _check_free(target, overwrite=overwrite)
    except InputError as error:
        raise InputError(f"{error}; the result is in {folder.path}") from None
    target.remove()
    folder.move(target)


def _remove_for_good(folder: Folder) -> None:
    """Remove a folder into which tasks that were cancelled may write for another moment."""
    deadline = time.monotonic() + _PATIENCE_SECS
    quiet_since: float | None = None
    while time.monotonic() < deadline:
        if folder.exists():
            folder.remove()
            quiet_since = None
        quiet_since = quiet_since or time.monotonic()
        if time.monotonic() - quiet_since > _QUIET_SECS:
            return
        time.sleep(_QUIET_SECS / 10)


def _check_free(target: Folder, *, overwrite: bool) -> None:
    if not target.exists() or target.is_empty():
        return
    if not target.exists(_ABOUT):
        raise InputError(f"{target.path}: holds something else; choose another folder")
    if not overwrite:
        raise InputError(f"{target.path}: exists; --overwrite replaces it")
