"""Turn a text into hashes of its shingles: folding, tokens of every script, hashing."""
