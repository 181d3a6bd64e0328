"""Fixtures for every test: sites that are really served."""

from __future__ import annotations

pytest_plugins = ["tests.sites.fixtures"]
