"""The files of an index of signatures: see docs/lsh_format.md."""
