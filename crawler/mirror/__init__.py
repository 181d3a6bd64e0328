"""Mirroring: a site becomes a folder of files that opens without a network."""
