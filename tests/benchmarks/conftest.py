"""Let tests import what benchmarks are made of, which is no part of an installed package."""

from __future__ import annotations

import sys
from pathlib import Path

# At the end, since files there have names such as "text" and "corpus".
sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))
