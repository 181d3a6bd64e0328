"""Give every reader of foreign bytes damaged input for minutes: ``python -m tests.fuzzing``.

Not a part of the tests: pytest collects nothing here but the test of the mechanism itself.
"""
