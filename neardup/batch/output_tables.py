"""The tables of a run: in a folder of its own, which the output names when all of them are whole.

Files:
    about: The description of the run, which names the folder of its tables. It is the last that is
        written, in one step, on object stores too, where no folder is renamed in one.
    run-*: The tables of a run, with its ``about``: an output by itself.
"""

import json
import re
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from neardup.batch.corpus_task import CorpusTask, ReadingChoices
from neardup.batch.spark_session import is_running
from neardup.errors import InputError
from neardup.features.features import Features
from neardup.parameters import Parameters

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FORMAT = 4
TABLES = ("documents", "signatures", "pairs", "clusters", "kept", "near_texts", "left_out")
OF_PAGE = (
    "id", "name", "source", "position", "title", "date", "words", "is_main", "digest",
    "fingerprint",
)  # fmt: skip
OF_VERDICT = ("verdict", "resembles", "distance", "similarity")
KEPT_COLUMNS = (*OF_PAGE, *OF_VERDICT, "text")
"""The columns of ``kept``."""

PAIRS = "first long, second long, distance short, similarity double, is_other boolean"
"""The columns of ``pairs``."""

_ABOUT = "about"
RUN = "run-"
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):(?://(?=/))?")
_PATIENCE_SECS, _QUIET_SECS = 15.0, 1.0


@dataclass(frozen=True, slots=True)
class About:
    """The description of a run: its own name, and paths and names of those that it went on from.

    ``reading`` is the choice of what was read, in it or in those. ``tables`` is the folder of its
    tables, in that of the output; empty: they lie beside it.
    """

    run: str
    input: str
    parameters: Parameters
    first_file: int
    end_file: int
    against: tuple[str, ...]
    runs: tuple[str, ...]
    counts: dict[str, int]
    tables: str = ""
    reading: ReadingChoices = field(default_factory=ReadingChoices)

    def to_json(self) -> str:
        values = asdict(self)
        values |= values.pop("reading")._asdict()
        values["parameters"]["features"] = str(self.parameters.fingerprint_features)
        return json.dumps({"format": FORMAT, **values})


def about_of(text: str) -> About:
    """Undo ``About.to_json``, or raise InputError where it is damaged or of another version."""
    try:
        values: dict[str, Any] = json.loads(text)
        found = values.pop("format")
        if found != FORMAT:
            raise InputError(
                f"format {FORMAT} expected, got {found}; make it anew with this version"
            )
        chosen = values.pop("parameters")
        features = Features.parsed(chosen.pop("features"))
        values |= {name: tuple(values[name]) for name in ("against", "runs")}
        reading = ReadingChoices(values.pop("extractor"), tuple(values.pop("languages")))
        return About(parameters=Parameters(features=features, **chosen), reading=reading, **values)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise InputError(f"the description of a run is damaged: {error!r}") from None


class Folder:
    """A folder that Spark reads and writes, wherever that lies: its path is Hadoop's."""

    def __init__(self, spark: "SparkSession", path: str, final_path: str | None = None) -> None:
        self._spark = spark
        self._java = cast("Any", spark.sparkContext._jvm)
        self._configuration = spark.sparkContext._jsc.hadoopConfiguration()
        self._new_path = self._java.org.apache.hadoop.fs.Path
        place = self._new_path(path)
        self._system = place.getFileSystem(self._configuration)
        self.path = str(place)
        self.full_path = str(self._system.makeQualified(place).toString())
        self.final_path = final_path or self.full_path
        self._tables = ""

    def exists(self, name: str = "") -> bool:
        """Whether there is such a file or folder in it; without a name, itself."""
        return bool(self._system.exists(self._inside(name)))

    def names(self) -> list[str]:
        """Return the names of the files and folders in it."""
        return [one.getPath().getName() for one in self._system.listStatus(self._inside(""))]

    def other_runs(self) -> list[str]:
        """Return the folders beside that of a run: of runs under way, or of killed processes."""
        beside = Folder(self._spark, self.final_path)
        published = beside.read_about().tables if beside.exists(_ABOUT) else ""
        own = {published, self.full_path.rpartition("/")[2]}
        return [name for name in beside.names() if name.startswith(RUN) and name not in own]

    def remove(self, name: str = "") -> None:
        self._system.delete(self._inside(name), True)

    def write(self, rows: "DataFrame", name: str) -> "DataFrame":
        """Write rows under a name, and return what reads them back."""
        rows.write.parquet(f"{self.full_path}/{name}", mode="overwrite")
        return self._spark.read.schema(rows.schema).parquet(f"{self.full_path}/{name}")

    def read(self, name: str) -> "DataFrame":
        """Read a table of the run that ``read_about`` described."""
        return self._spark.read.parquet(
            "/".join(filter(None, (self.full_path, self._tables, name)))
        )

    def write_about(self, about: About) -> None:
        """Write what makes a folder of tables one that is whole."""
        self._put_about(about, self._inside(_ABOUT))

    def publish(self, run: "Folder", before: str | None) -> None:
        """Name the folder of a run, in this one, as that of its tables.

        Args:
            run: The folder.
            before: The name of the run that was there when this one began, which is removed; None:
                there was none.

        Raises:
            InputError: Another run was written there since.
        """
        replaced = self.read_about() if self.exists(_ABOUT) else None
        if (replaced.run if replaced else None) != before:
            raise InputError(f"{self.path}: another run was written there meanwhile")
        about = run.read_about()
        name = run.full_path.rpartition("/")[2]
        if replaced is not None and not self._system.isFile(self._inside(_ABOUT)):
            self.remove(_ABOUT)
        new = self._inside(f"{name}/{_ABOUT}.new")
        self._put_about(replace(about, tables=name), new)
        self._remove_checksum(self._inside(_ABOUT))
        options = self._java.org.apache.hadoop.fs.Options.Rename
        gateway = cast("Any", self._spark.sparkContext._gateway)
        chosen = gateway.new_array(options, 1)
        chosen[0] = options.NONE if replaced is None else options.OVERWRITE
        context = self._java.org.apache.hadoop.fs.FileContext.getFileContext(
            self._system.getUri(), self._configuration
        )
        context.rename(
            self._system.makeQualified(new),
            self._system.makeQualified(self._inside(_ABOUT)),
            chosen,
        )
        if replaced is not None:
            for table in [replaced.tables] if replaced.tables else TABLES:
                self.remove(table)

    def _put_about(self, about: About, path: Any) -> None:
        import pyarrow as pa  # noqa: PLC0415  (optional)
        import pyarrow.parquet as pq  # noqa: PLC0415

        sink = pa.BufferOutputStream()
        pq.write_table(pa.table({"about": [about.to_json()]}), sink)
        # On a disk Hadoop writes a checksum beside a file, and renames both one after the other: a
        # kill between the two would leave a checksum that the file does not have.
        stream = self._without_checksums().create(path, True)
        stream.write(sink.getvalue().to_pybytes())
        stream.close()

    def _remove_checksum(self, path: Any) -> None:
        raw = self._without_checksums()
        if raw is not self._system:
            raw.delete(self._system.getChecksumFile(path), False)

    def _without_checksums(self) -> Any:
        from py4j.java_gateway import is_instance_of  # noqa: PLC0415  (optional)

        with_checksums = "org.apache.hadoop.fs.ChecksumFileSystem"
        gateway = self._spark.sparkContext._gateway
        if is_instance_of(gateway, self._system, with_checksums):
            return self._system.getRawFileSystem()
        return self._system

    def read_about(self) -> About:
        """Return the description of the run in it, which must be of this version."""
        if not self.exists(_ABOUT):
            what = "no run of neardup.spark in it" if self.exists() else "no such folder"
            raise InputError(f"{self.path}: {what}")
        row = self._spark.read.parquet(f"{self.full_path}/{_ABOUT}").first()
        try:
            about = about_of(row["about"] if row else "{}")
        except InputError as error:
            raise InputError(f"{self.path}: {error}") from None
        self._tables = about.tables
        return about

    def _inside(self, name: str) -> Any:
        return self._new_path(f"{self.path}/{name}" if name else self.path)


@contextmanager
def new_folder(spark: "SparkSession", path: str, *, overwrite: bool) -> Iterator[Folder]:
    """Give a folder of its own in the wanted one, which names it when all went well.

    Raises:
        InputError: There is something already, and no run that may be overwritten; where another
            run came since, the result stays in its folder.
    """
    target = Folder(spark, path)
    before = _check_free(target, overwrite=overwrite)
    name = RUN + uuid.uuid4().hex
    folder = Folder(spark, f"{target.path}/{name}", target.full_path)
    try:
        yield folder
    except BaseException:
        if is_running():
            spark.sparkContext.cancelAllJobs()
            _remove_for_good(folder)
            if target.exists() and not target.names():
                target.remove()
        raise
    try:
        _check_free(target, overwrite=overwrite)
        target.publish(folder, before)
    except InputError as error:
        raise InputError(f"{error}; the result is in {folder.path}") from None


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


def _check_free(target: Folder, *, overwrite: bool) -> str | None:
    """Return the run that may be overwritten; None: there is none."""
    if not target.exists():
        return None
    if not target.exists(_ABOUT):
        if are_of_runs(target.names()):
            return None
        raise InputError(f"{target.path}: holds something else; choose another folder")
    if not overwrite:
        raise InputError(f"{target.path}: exists; --overwrite replaces it")
    return target.read_about().run


def are_of_runs(names: list[str]) -> bool:
    """Whether all names in a folder without ``about`` are of killed runs, or there are none.

    One that was killed while it replaced tables beside ``about`` leaves these beside its folder.
    """
    runs = [name for name in names if name.startswith(RUN)]
    return all(name in TABLES for name in names if name not in runs) and (bool(runs) or not names)


class Earlier:
    """The runs that a run goes on from; each stores only the texts that were new to it.

    Args:
        spark: The session.
        path: The last run, which names the paths of the others; None: there are none.
        task: The task of the run that goes on, with the parameters and the reading of the others.
    """

    def __init__(self, spark: "SparkSession", path: str | None, task: CorpusTask) -> None:
        self._spark = spark
        self.folders: list[Folder] = []
        self.runs: tuple[str, ...] = ()
        self.end_file = 0
        self.reading = ReadingChoices()
        if path is None:
            return
        last = Folder(spark, path)
        about = last.read_about()
        check_task(path, about, task)
        for place, run in zip(about.against, about.runs, strict=True):
            folder = Folder(spark, place)
            if not folder.exists() or folder.read_about().run != run:
                raise InputError(
                    f"{path}: goes on from a run that is no longer in {place}; move it back"
                )
            self.folders.append(folder)
        self.folders.append(last)
        self.runs = (*about.runs, about.run)
        self.end_file, self.reading = about.end_file, about.reading

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
        return self._union("pairs", PAIRS)

    def clusters(self) -> "DataFrame":
        """Return ``id`` and ``representative``, as the last run that touched a cluster has it."""
        columns = "id long, representative long"
        runs = [
            folder.read("clusters").selectExpr("id", "representative", f"{number} AS run")
            for number, folder in enumerate(self.folders)
        ]
        if not runs:
            return _nothing(self._spark, columns)
        from pyspark.sql.functions import expr  # noqa: PLC0415  (optional)

        every = reduce(lambda one, other: one.unionByName(other), runs)
        return every.groupBy("id").agg(expr("max_by(representative, run) AS representative"))

    def _union(self, table: str, columns: str) -> "DataFrame":
        names = [column.split()[0] for column in columns.split(", ")]
        found = [folder.read(table).select(names) for folder in self.folders]
        if not found:
            return _nothing(self._spark, columns)
        return reduce(lambda one, other: one.unionByName(other), found)


def _nothing(spark: "SparkSession", columns: str) -> "DataFrame":
    """Return a table that Spark knows to be empty before it plans a join with it."""
    nulls = (
        f"CAST(NULL AS {kind}) AS {name}" for name, kind in map(str.split, columns.split(", "))
    )
    return spark.range(1).where("false").selectExpr(*nulls)


def local_path(place: str) -> Path | None:
    """Return the path of a folder that a run names; None: it is on no disk of this machine."""
    # No URI: neither Hadoop nor a run on one machine escapes what a path may hold.
    scheme = _SCHEME.match(place)
    if scheme is not None and scheme[1] != "file":
        return None
    return Path(place[scheme.end() :] if scheme else place)


def check_task(path: str, about: About, task: CorpusTask) -> None:
    """Refuse to go on from a run that was made with other parameters, or read otherwise."""
    names = [one.name for one in fields(Parameters) if one.name != "features"]
    for name in ("fingerprint_features", *names):
        stored, wanted = getattr(about.parameters, name), getattr(task.parameters, name)
        if stored != wanted:
            raise InputError(
                f"{path}: made with {name} {stored}, now it is {wanted}; use the same, "
                "or begin anew"
            )
    task.reading.check_as(about.reading, path)
