"""Errors that a user can mend."""


class InputError(Exception):
    """Bad options or bad input; the message is the one line that the user sees."""


class BadInputError(InputError):
    """Input that cannot be read on from here; what came before it was read."""
