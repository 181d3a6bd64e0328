"""The tables of a run: written beside their place, and moved there when all of them are whole."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from functools import reduce
from typing import TYPE_CHECKING, Any

from neardup.errors import InputError
from neardup.features.features import Features
from neardup.parameters import Parameters

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FORMAT = 3
TABLES = ("documents", "signatures", "pairs", "clusters", "kept", "near_texts", "left_out")
_ABOUT = "about"
_UNFINISHED = ".unfinished"
_PATIENCE_SECS, _QUIET_SECS = 15.0, 1.0


@dataclass(frozen=True, slots=True)
class About:
    """The description of a run: its own name, and paths and names of those that it went on from."""

    run: str
    input: str
    parameters: Parameters
    first_file: int
    end_file: int
    against: tuple[str, ...]
    runs: tuple[str, ...]
    counts: dict[str, int | str]

    def to_json(self) -> str:
        values = asdict(self)
        values["parameters"]["features"] = str(self.parameters.fingerprint_features)
        return json.dumps({"format": FORMAT, **values})


def about_of(text: str) -> About:
    """Undo ``About.to_json``, or raise InputError where it is of another version."""
    values: dict[str, Any] = json.loads(text)
    found = values.pop("format")
    if found != FORMAT:
        raise InputError(f"format {FORMAT} expected, got {found}; make it anew with this version")
    chosen = values.pop("parameters")
    features = Features.parsed(chosen.pop("features"))
    values |= {name: tuple(values[name]) for name in ("against", "runs")}
    return About(parameters=Parameters(features=features, **chosen), **values)


class Folder:
    """A folder that Spark reads and writes, wherever that lies: its path is Hadoop's."""

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
        return len(self._system.listStatus(self._inside(""))) == 0

    def remove(self, name: str = "") -> None:
        self._system.delete(self._inside(name), True)

    def move(self, target: "Folder") -> None:
        """Give it another name, under which there must be nothing."""
        if not self._system.rename(self._inside(""), target._inside("")):
            raise InputError(f"{target.path}: cannot be written; the result is in {self.path}")

    def write(self, rows: "DataFrame", name: str) -> "DataFrame":
        """Write rows under a name, and return what reads them back."""
        rows.write.parquet(f"{self.full_path}/{name}", mode="overwrite")
        return self._spark.read.schema(rows.schema).parquet(f"{self.full_path}/{name}")

    def read(self, name: str) -> "DataFrame":
        return self._spark.read.parquet(f"{self.full_path}/{name}")

    def write_about(self, about: About) -> None:
        """Write what makes a folder of tables one that is whole."""
        rows = self._spark.createDataFrame([(about.to_json(),)], "about string")
        rows.coalesce(1).write.parquet(f"{self.full_path}/{_ABOUT}", mode="overwrite")

    def read_about(self) -> About:
        """Return the description of the run in it, which must be of this version."""
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

    Raises:
        InputError: There is something already, and no run that may be overwritten; where it came
            since, the result stays beside it.
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


class Earlier:
    """The runs that a run goes on from; each stores only the texts that were new to it.

    Args:
        spark: The session.
        path: The last run, which names the paths of the others; None: there are none.
        parameters: The parameters of the run that goes on, which must be those of the others.
    """

    def __init__(self, spark: "SparkSession", path: str | None, parameters: Parameters) -> None:
        self._spark = spark
        self.folders: list[Folder] = []
        self.runs: tuple[str, ...] = ()
        self.end_file = 0
        if path is None:
            return
        last = Folder(spark, path)
        about = last.read_about()
        check_parameters(path, about, parameters)
        for place, run in zip(about.against, about.runs, strict=True):
            folder = Folder(spark, place)
            if not folder.exists() or folder.read_about().run != run:
                raise InputError(
                    f"{path}: goes on from a run that is no longer in {place}; move it back"
                )
            self.folders.append(folder)
        self.folders.append(last)
        self.runs = (*about.runs, about.run)
        self.end_file = about.end_file

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(folder.full_path for folder in self.folders)

    def documents(self) -> "DataFrame":
        columns = (
            "id long, text_id long, digest binary, fingerprint long, sketch0 long, sketch1 long, "
            "verdict string"
        )
        return self._union("documents", columns)

    def texts(self) -> "DataFrame":
        """Return each text once: the columns of ``documents``, without ``text_id``."""
        return self.documents().where("id = text_id").drop("text_id")

    def signatures(self) -> "DataFrame":
        """Return ``id`` and ``signature`` of the texts."""
        return self._union("signatures", "id long, signature binary")

    def contents(self) -> "DataFrame":
        """Return ``id``, ``text`` and ``title`` of every text."""
        columns = "id long, text string, title string"
        return self._union("kept", columns).unionByName(self._union("near_texts", columns))

    def pairs(self) -> "DataFrame":
        columns = "first long, second long, distance short, similarity double, is_other boolean"
        return self._union("pairs", columns)

    def clusters(self) -> "DataFrame":
        """Return ``id`` and ``representative``, as the last run that touched a cluster has it."""
        columns = "id long, representative long"
        runs = [
            folder.read("clusters").selectExpr("id", "representative", f"{number} AS run")
            for number, folder in enumerate(self.folders)
        ]
        if not runs:
            return self._spark.createDataFrame([], columns)
        from pyspark.sql.functions import expr  # noqa: PLC0415  (optional)

        every = reduce(lambda one, other: one.unionByName(other), runs)
        return every.groupBy("id").agg(expr("max_by(representative, run) AS representative"))

    def _union(self, table: str, columns: str) -> "DataFrame":
        names = [column.split()[0] for column in columns.split(", ")]
        found = [folder.read(table).select(names) for folder in self.folders]
        if not found:
            return self._spark.createDataFrame([], columns)
        return reduce(lambda one, other: one.unionByName(other), found)


def check_parameters(path: str, about: About, parameters: Parameters) -> None:
    """Refuse to go on from a run that was made with other parameters."""
    names = [field.name for field in fields(Parameters) if field.name != "features"]
    for name in ("fingerprint_features", *names):
        stored, wanted = getattr(about.parameters, name), getattr(parameters, name)
        if stored != wanted:
            raise InputError(
                f"{path}: made with {name} {stored}, now it is {wanted}; use the same, "
                "or begin anew"
            )
