"""A Spark session with defaults for one machine, and what to say where there can be none."""

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from neardup.errors import InputError
from neardup.installing import install_command

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_RAISED = re.compile(r"^(?:[\w.]*\.)?(\w*(?:Error|Exception)): (.*)$", re.MULTILINE)
_OURS = ("InputError", "ParameterError")
_FULL = "No space left on device"
_MEMORY_SIGNS = (
    "OutOfMemoryError", "Java heap space", "GC overhead limit", "Not enough memory to build",
    "Unable to acquire", "SparkOutOfMemory", "UNABLE_TO_ACQUIRE_MEMORY",
)  # fmt: skip
_GONE = "Spark's Java process has ended: it was killed, or ran out of memory (more: --memory 8g)"

_LOGGING = Path(__file__).with_name("log4j2.properties")
_MIN_JAVA = 17
_HELD_BYTES = 16 * 32
_MAX_HELD_FROM = 16 << 30
"""Hold no larger share of more memory: Spark ends a job that sends its driver more than 1 GB."""

_MIN_MB, _MAX_MB = 1024, 16 * 1024
_SPARK_MIN_MB = 512
"""The least memory with which Spark starts, in megabytes."""
_MEMORY = re.compile(r"[1-9][0-9]*[mgt]", re.IGNORECASE)
_CLASS = re.compile(r'version "(?:1\.)?([0-9]+)')

_DEFAULTS = {
    "spark.app.name": "neardup",
    "spark.ui.enabled": "false",
    "spark.sql.parquet.compression.codec": "zstd",
    # Texts are long; batches of the default 10,000 rows of them would be.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "4096",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(64 << 20),
    "spark.sql.files.maxPartitionBytes": str(64 << 20),
    "spark.sql.adaptive.enabled": "true",
    # All tables grow with the corpus, and Spark goes by how small they are when they are packed.
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.broadcastTimeout": "36000",
    "spark.sql.session.timeZone": "UTC",
}


@contextmanager
def reported() -> Iterator[None]:
    """Turn errors of Spark, its gateway and its workers into the one line that helps."""
    from py4j.protocol import Py4JError, Py4JJavaError  # noqa: PLC0415  (optional)
    from pyspark.errors import PySparkException  # noqa: PLC0415

    try:
        yield
    except (PySparkException, Py4JJavaError) as error:
        raise InputError(in_one_line(str(error))) from error
    except (Py4JError, ConnectionError, EOFError) as error:
        # The gateway has no answer of Java's, of which an error would be one.
        raise InputError(_GONE) from error


def is_running() -> bool:
    """Whether the Java process of Spark answers."""
    from pyspark import SparkContext  # noqa: PLC0415  (optional)

    process = getattr(SparkContext._gateway, "proc", None)  # None: spark-submit's own
    return process is None or process.poll() is None


def in_one_line(message: str) -> str:
    """Return the useful line of a message with traces of two languages."""
    if _FULL in message:
        return "the disk is full; SPARK_LOCAL_DIRS may name a larger one for temporary files"
    if any(sign in message for sign in _MEMORY_SIGNS):
        return "Java ran out of memory; give it more (--memory 8g)"
    raised = _RAISED.findall(message)
    for name, words in raised:
        if name in _OURS:
            return str(words)
    if raised:
        name, words = raised[-1]
        return f"Spark gave up: {name}: {words}"
    return f"Spark gave up: {message.splitlines()[0] if message else 'without a reason'}"


@contextmanager
def session(master: str | None, memory: str | None) -> Iterator["SparkSession"]:
    """Give a session; one that spark-submit configured keeps what that was told.

    Args:
        master: None: that of spark-submit, else all cores of this machine.
        memory: The memory of the JVM, such as ``4g``; None: a quarter of this machine's, at least
            1g.
    """
    if memory is not None and not _MEMORY.fullmatch(memory):
        raise InputError(f"--memory takes a number and m, g or t, such as 4g, got {memory}")
    if memory is not None and _megabytes(memory) < _SPARK_MIN_MB:
        raise InputError(f"--memory must be at least {_SPARK_MIN_MB}m, got {memory}")
    check_installed()
    from py4j.protocol import Py4JError  # noqa: PLC0415  (optional)
    from pyspark import SparkConf  # noqa: PLC0415
    from pyspark.errors import PySparkException  # noqa: PLC0415
    from pyspark.sql import SparkSession  # noqa: PLC0415

    _prepare_workers()
    conf = SparkConf()
    chosen = {**_DEFAULTS, **_local(master or conf.get("spark.master", None), memory)}
    for name, value in chosen.items():
        conf.setIfMissing(name, value)
    try:
        spark = SparkSession.builder.config(conf=conf).getOrCreate()
    except PySparkException as error:
        raise InputError(f"Spark does not start: {str(error).splitlines()[0]}") from None
    sums: Any = getattr(spark.sparkContext, "_accumulatorServer", None)
    if sums is not None:
        # The thread that takes sums from Java would print a trace where that was killed.
        sums.handle_error = lambda *_: None
    if threading.current_thread() is threading.main_thread():
        # PySpark's own handler asks the JVM something while its answer to another question is read.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield spark
    finally:
        # A killed process may still count as running.
        with suppress(Py4JError, ConnectionError):
            spark.stop()


def held(rows: "DataFrame", count: int, columns: int = 2) -> "DataFrame":
    """Return rows which each process of Java holds whole when they are joined, where they are few.

    What they are joined with stays where it is then. Their share of its memory is a 16th at most,
    by the 64 bytes that a row of two columns takes in a hash table, and 1 GB.
    """
    from pyspark.sql.functions import broadcast  # noqa: PLC0415  (optional)

    context = rows.sparkSession.sparkContext
    memory = cast("Any", context._jvm).java.lang.Runtime.getRuntime().maxMemory()
    if _is_cluster(str(context.master)):
        memory = min(memory, context._jsc.sc().executorMemory() << 20)
    room = min(memory, _MAX_HELD_FROM)
    return broadcast(rows) if count * _HELD_BYTES * columns <= room else rows


def _is_cluster(master: str) -> bool:
    return not master.startswith("local") or master.startswith("local-cluster")


def _megabytes(memory: str) -> int:
    return int(memory[:-1]) << {"m": 0, "g": 10, "t": 20}[memory[-1].lower()]


def check_installed() -> None:
    """Make sure of PySpark, pyarrow, pandas and Java, or raise an InputError that helps."""
    for name in ("pyspark", "pyarrow", "pandas"):
        try:
            __import__(name)
        except ImportError:
            raise InputError(f"{name} is missing: {install_command('spark')}") from None
    java = java_program()
    if java is None:
        raise InputError(
            f"Spark needs Java {_MIN_JAVA}, and there is none: apt-get install "
            f"openjdk-{_MIN_JAVA}-jre-headless, or set JAVA_HOME"
        )
    asked = [java, "-version"]
    said = subprocess.run(asked, capture_output=True, text=True, check=False).stderr  # noqa: S603
    found = _CLASS.search(said)
    if found is not None and int(found[1]) < _MIN_JAVA:
        raise InputError(f"Spark needs Java {_MIN_JAVA}, and {java} is Java {found[1]}")


def java_program() -> str | None:
    """Return the Java that Spark will run, None where there is none."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which("java", path=str(Path(home, "bin")) if home else None)


def _prepare_workers() -> None:
    """Let the workers of this machine be the Python that runs, with the modules that it has."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    root = str(Path(__file__).resolve().parents[2])
    known = os.environ.get("PYTHONPATH", "")
    if root not in known.split(os.pathsep):
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (known, root)))


def _local(master: str | None, memory: str | None) -> dict[str, str]:
    """Return the settings that one machine needs, and for a cluster those that were asked for."""
    where = master or "local[*]"
    is_seen = sys.stderr is not None and sys.stderr.isatty()
    found = {"spark.master": where, "spark.ui.showConsoleProgress": str(is_seen).lower()}
    if memory is not None:
        found["spark.driver.memory"] = memory
    if where.startswith("local"):
        cores = _cores(where)
        found["spark.executorEnv.PYTHONSAFEPATH"] = "1"
        found["spark.driver.memory"] = memory or f"{_quarter_mb()}m"
        log = f"-Dlog4j2.configurationFile={_LOGGING.as_uri()}"
        # The JVM moves rows between Python's workers: what compiles and collects beside its threads
        # costs more than it saves.
        collector = "" if _has_collector() else " -XX:+UseParallelGC"
        options = f"{log} -XX:TieredStopAtLevel=1{collector}"
        found["spark.driver.extraJavaOptions"] = options
        found["spark.driver.host"] = "127.0.0.1"
        found["spark.driver.bindAddress"] = "127.0.0.1"
        found["spark.sql.shuffle.partitions"] = str(max(8, 4 * cores))
    return found


def _has_collector() -> bool:
    """Whether the environment chooses a collector: Java does not start where two are chosen."""
    names = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS")
    return any("GC" in os.environ.get(name, "") for name in names)


def _cores(master: str) -> int:
    told = re.search(r"\[(\d+)", master)
    if told:
        return int(told[1])
    return len(os.sched_getaffinity(0)) if master.startswith("local[") else 1


def _quarter_mb() -> int:
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    return min(_MAX_MB, max(_MIN_MB, whole // 4))
