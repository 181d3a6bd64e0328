"""How good are the verdicts? Labelled pairs, and errors counted in crawl order."""
