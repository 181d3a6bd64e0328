"""Fingerprints: a text in 64 bits, near for near texts, and in 128, for equality."""
