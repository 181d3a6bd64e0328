"""Read what a page says of itself."""
