"""The files of an index: see docs/formats.md."""
