"""Compare two texts: align their words, and show what was removed and added."""
