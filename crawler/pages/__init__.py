"""What was fetched, what was said of it, and which copy is kept."""
