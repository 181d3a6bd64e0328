"""Verifiers that look at what texts say, where the default looks at how they say it."""
