"""From a text to hashes of its shingles: folding, tokens of every script, hashing."""
