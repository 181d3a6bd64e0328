"""``python -m neardup``, for people who would rather not program."""
