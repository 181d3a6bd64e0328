"""What Spark says when a task fails, in one line."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from neardup.command_line.errors import InputError

_RAISED = re.compile(r"^(?:[\w.]*\.)?(\w*(?:Error|Exception)): (.*)$", re.MULTILINE)
_OURS = ("InputError", "ParameterError")
_FULL = "No space left on device"


@contextmanager
def reported() -> Iterator[None]:
    """Turn what Spark raises into the one line that helps.

    Raises:
        InputError: Instead of errors of Spark, its gateway and its workers.
    """
    from py4j.protocol import Py4JError  # noqa: PLC0415  (optional)
    from pyspark.errors import PySparkException  # noqa: PLC0415

    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise InputError(in_one_line(str(error))) from error
    except (ConnectionError, EOFError) as error:
        raise InputError(f"Spark has gone: {error}; more --memory may help") from error


def in_one_line(message: str) -> str:
    """Return what matters of a message with traces of two languages."""
    if _FULL in message:
        return "the disk is full; SPARK_LOCAL_DIRS may name a larger one for temporary files"
    if "OutOfMemoryError" in message or "Java heap space" in message:
        return "not enough memory; give it more (--memory 8g)"
    raised = _RAISED.findall(message)
    for name, words in raised:
        if name in _OURS:
            return str(words)
    if raised:
        name, words = raised[-1]
        return f"Spark gave up: {name}: {words}"
    return f"Spark gave up: {message.splitlines()[0] if message else 'nobody says why'}"
