"""Comparison of two texts: containment, edits, and a diff for people to read."""
