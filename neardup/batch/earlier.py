"""The texts of earlier runs, which new ones are compared with."""

from dataclasses import fields
from functools import reduce
from typing import TYPE_CHECKING

from neardup.batch.expressions import expr
from neardup.batch.output_tables import About, Folder
from neardup.command_line.errors import InputError
from neardup.parameters import Parameters

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_FEATURES = "fingerprint_features"


class Earlier:
    """The runs that a run goes on from; each stores only the texts that were new to it.

    Args:
        spark: The session.
        path: The last run, which names the paths of the others; None: there are none.
        parameters: The parameters of the run that goes on.

    Raises:
        InputError: A run is missing, or judged its texts by other parameters.
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
        _check(path, about, parameters)
        for place, run in zip(about.against, about.runs, strict=True):
            self.folders.append(_earlier(spark, path, place, run))
        self.folders.append(last)
        self.runs = (*about.runs, about.run)
        self.end_file = about.end_file

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of the runs."""
        return tuple(folder.full_path for folder in self.folders)

    def documents(self) -> "DataFrame":
        """Return all documents, of all runs."""
        columns = (
            "id long, text_id long, digest binary, fingerprint long, sketch0 long, sketch1 long, "
            "sketch2 long, sketch3 long, verdict string"
        )
        return self._union("documents", columns)

    def texts(self) -> "DataFrame":
        """Return each text once: the columns of ``documents``, without ``text_id``."""
        return self.documents().where("id = text_id").drop("text_id")

    def signatures(self) -> "DataFrame":
        """Return ``id`` and ``signature`` of the texts."""
        return self._union("signatures", "id long, signature binary")

    def contents(self) -> "DataFrame":
        """Return ``id`` and ``text`` of every text."""
        kept = self._union("kept", "id long, text string")
        return kept.unionByName(self._union("near_texts", "id long, text string"))

    def pairs(self) -> "DataFrame":
        """Return the pairs of all runs."""
        return self._union("pairs", "first long, second long, distance short, similarity double")

    def clusters(self) -> "DataFrame":
        """Return ``id`` and ``representative``, as the last run that touched a cluster has it."""
        columns = "id long, representative long"
        runs = [
            folder.read("clusters").selectExpr("id", "representative", f"{number} AS run")
            for number, folder in enumerate(self.folders)
        ]
        if not runs:
            return self._spark.createDataFrame([], columns)
        every = reduce(lambda one, other: one.unionByName(other), runs)
        return every.groupBy("id").agg(expr("max_by(representative, run) AS representative"))

    def _union(self, table: str, columns: str) -> "DataFrame":
        names = [column.split()[0] for column in columns.split(", ")]
        found = [folder.read(table).select(names) for folder in self.folders]
        if not found:
            return self._spark.createDataFrame([], columns)
        return reduce(lambda one, other: one.unionByName(other), found)


def _earlier(spark: "SparkSession", path: str, place: str, run: str) -> Folder:
    folder = Folder(spark, place)
    if not folder.exists() or folder.read_about().run != run:
        raise InputError(f"{path}: goes on from a run that is no longer in {place}; move it back")
    return folder


def _check(path: str, about: About, parameters: Parameters) -> None:
    names = [field.name for field in fields(Parameters) if field.name != "features"]
    for name in (_FEATURES, *names):
        stored, wanted = getattr(about.parameters, name), getattr(parameters, name)
        if stored != wanted:
            raise InputError(
                f"{path}: made with {name} {stored}, now it is {wanted}; use the same, "
                "or begin anew"
            )
