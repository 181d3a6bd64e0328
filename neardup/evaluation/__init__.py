"""Evaluation of verdicts: labelled pairs, and errors counted in crawl order."""
