"""How do two texts differ? Containment, edits, and a diff for people to read."""
