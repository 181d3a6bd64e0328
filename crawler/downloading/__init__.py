"""Bound the cost of an answer before it is a page."""
