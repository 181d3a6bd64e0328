"""Sets of documents of which one knows what they are, for the benchmark of verdicts."""
