"""Export each kept page once."""
