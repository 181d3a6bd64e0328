"""One Spark for all tests of a process; where it cannot be had, they are skipped with a word."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from neardup.batch.spark_session import check_installed, session
from neardup.errors import InputError
from tests.neardup.batch.corpus import QUICK_JAVA

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A session on both cores, for tables that are small."""
    try:
        check_installed()
    except InputError as lack:
        pytest.skip(f"no Spark here: {lack}")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in QUICK_JAVA.items():
            patch.setenv(name, value)
        yield from _opened()


def _opened() -> Iterator[SparkSession]:
    with session("local[2]", "1g") as found:
        found.conf.set("spark.sql.shuffle.partitions", "2")
        yield found
