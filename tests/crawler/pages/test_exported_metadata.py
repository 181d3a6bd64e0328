"""Metadata on its way through every format of ``crawl-once pages``."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

import pytest

from crawler.console.page_export import write_rows
from crawler.feeds.exporters import ParquetItemExporter
from crawler.pages.items import PAGE_FIELDS
from tests.crawler.pages.test_page_metadata import PAGE, fields_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def row() -> dict[str, Any]:
    return fields_of(PAGE)


def test_csv_has_lists_and_mappings_as_json(row: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "pages.csv"
    write_rows([row], str(path), "csv", PAGE_FIELDS)
    with path.open(encoding="utf-8", newline="") as file:
        (found,) = csv.DictReader(file)
    assert found["h1"] == "Brass lamps"
    for name in ("tags", "alternates", "identifiers", "sources"):
        assert json.loads(found[name]) == row[name]
    assert found["categories"] == ""


def test_parquet_has_types_for_lists_and_mappings(row: dict[str, Any], tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "pages.parquet"
    write_rows([row, dict.fromkeys(PAGE_FIELDS)], str(path), "parquet", PAGE_FIELDS)
    found = parquet.read_table(path).to_pylist(maps_as_pydicts="strict")
    assert found == [row, dict.fromkeys(PAGE_FIELDS)]


def test_parquet_has_types_for_numbers_and_a_column_for_markdown(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "pages.parquet"
    numbers = {"distance": 3, "similarity": 0.9, "containment": 0.95, "words": 80, "depth": 1}
    row = {**dict.fromkeys(PAGE_FIELDS), **numbers, "markdown": "# Lamps"}
    with path.open("wb") as file:
        exporter = ParquetItemExporter(file)
        exporter.export_item(row)
        exporter.finish_exporting()
    assert parquet.read_table(path).to_pylist(maps_as_pydicts="strict") == [row]
