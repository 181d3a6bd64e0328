"""SQL where PySpark wants a column."""

from typing import Any


def expr(sql: str) -> Any:
    """Return an expression of SQL as a column."""
    from pyspark.sql import functions  # noqa: PLC0415  (optional)

    return functions.expr(sql)
