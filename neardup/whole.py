r"""A text and the whole that it was taken from, in one string.

::

    text [ "\n" NUL "\n" whole ]

Texts may be equal although what they were taken from is not: the article of a page, beside
captions, notes and prices that differ. Such a string is judged as the text that it begins with,
which has the words and the fingerprint, and repeats another one only as far as both parts do: its
digest is of both, its similarity that of the part that is less similar.
"""

_NUL = "\0"
SEPARATOR = f"\n{_NUL}\n"
_READABLE = "\n\nAll text outside links:\n"


def with_whole(text: str, whole: str) -> str:
    """Return a text that is judged together with the whole that it was taken from.

    Args:
        text: A part of the whole.
        whole: Empty where the text is all that there is.
    """
    return text + SEPARATOR + whole if whole else text


def split_whole(text: str) -> tuple[str, str]:
    """Return a text and the whole that it was taken from, which may be the text itself."""
    if _NUL not in text:
        return text, text
    part, _, whole = text.partition(SEPARATOR)
    return part, whole or part


def part_of(text: str) -> str:
    """Return a text without the whole that it was taken from."""
    # Most texts lack it, and one character is sought in a tenth of the time of three.
    return text.partition(SEPARATOR)[0] if _NUL in text else text


def readable(text: str) -> str:
    """Return a text with its whole below it, to be shown."""
    return text.replace(SEPARATOR, _READABLE)
