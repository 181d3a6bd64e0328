"""What the benchmark of corpora runs: made corpora, and a peer in its own environment."""
