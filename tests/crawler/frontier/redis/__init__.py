"""The frontier of a fleet, over real servers."""
