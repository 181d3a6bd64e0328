"""Loops over the texts and the features of the blocks of a page."""

import numpy as np

from libc.stdint cimport int16_t, int64_t, uint8_t


def leaves_of(
    const float[:, ::1] columns,
    const float[::1] leaves,
    const int64_t[::1] firsts,
    const int64_t[::1] depths,
    const int16_t[:, ::1] asked,
    const float[:, ::1] borders,
):
    """Return the leaf of each tree that each block reaches, float32, (trees, blocks).

    Args:
        columns: Features of the blocks, (features, blocks).
        leaves: The leaves of all trees.
        firsts: Place of the first leaf of each tree that the page can reach.
        depths: How many levels of a tree ask about blocks; these are its first ones.
        asked: The feature that a level asks for, (trees, levels).
        borders: What the feature must be above.
    """
    cdef Py_ssize_t tree, level, block, blocks = columns.shape[1]
    found = np.empty((len(firsts), blocks), np.float32)
    cdef float[:, ::1] out = found
    cdef uint8_t[::1] answers = np.empty(max(blocks, 1), np.uint8)
    # Rows are walked without checks, so that several blocks are answered at once.
    cdef uint8_t* numbers = &answers[0]
    cdef const float* values
    cdef float border
    for tree in range(firsts.shape[0] if blocks else 0):
        answers[:] = 0
        for level in range(depths[tree] - 1, -1, -1):
            values, border = &columns[asked[tree, level], 0], borders[tree, level]
            for block in range(blocks):
                numbers[block] = numbers[block] << 1 | (values[block] > border)
        for block in range(blocks):
            out[tree, block] = leaves[firsts[tree] + numbers[block]]
    return found


def count_characters(list texts, str marks, const int64_t[:, :] scripts, int step):
    """Return what each text has: digits, capitals of ASCII, commas, spaces, more; (6, texts).

    Commas are also ends of sentences that a space follows. The last two rows are the letters that
    its characters count for beyond one, and fifths of words without spaces.

    Args:
        texts: The texts.
        marks: The characters that are commas.
        scripts: What a character counts for beyond one letter and its fifths of a word, of each
            step of characters, (2, steps).
        step: Characters of a step, which are all of one script.
    """
    cdef Py_ssize_t at, place, size, row
    cdef Py_UCS4 one
    cdef str text
    found = np.zeros((6, len(texts)), np.int64)
    cdef int64_t[:, ::1] counts = found
    for at in range(len(texts)):
        text = texts[at]
        size = len(text)
        for place in range(size):
            one = text[place]
            if one == " ":
                counts[3, at] += 1
            elif "a" <= one <= "z":
                continue
            elif "A" <= one <= "Z":
                counts[1, at] += 1
            elif one in ".!?":
                counts[2, at] += place + 1 < size and text[place + 1] == " "
            elif one.isdecimal():
                counts[0, at] += 1
            elif one in marks:
                counts[2, at] += 1
            if one >= 0x0E00:  # no earlier one counts for more
                row = min(<Py_ssize_t>one // step, scripts.shape[1] - 1)
                counts[4, at] += scripts[0, row]
                counts[5, at] += scripts[1, row]
    return found


def tell_words(list texts, dict numbers, set runs, int things):
    """Return how many words of each text tell each thing, those of runs and all.

    Args:
        texts: Texts with one space between words.
        numbers: The number of a word that tells something: a bit for each thing, and above these
            its place in the descriptions.
        runs: Places of three words that follow each other there, packed as here.
        things: Number of things.

    Returns:
        float64, (things + 2, texts).
    """
    cdef Py_ssize_t at, place, until
    cdef int64_t number, first, second, third
    cdef int thing
    found = np.zeros((things + 2, len(texts)))
    cdef double[:, ::1] counts = found
    for at in range(len(texts)):
        second = third = until = place = 0
        for word in (<str>texts[at]).lower().split(" "):
            value = numbers.get(word)
            number = 0 if value is None else value
            for thing in range(things if number else 0):
                counts[thing, at] += number >> thing & 1
            first, second, third = second, third, number >> things
            place += 1
            if first and second and third and (first << 42 | second << 21 | third) in runs:
                counts[things, at] += min(place - until, 3)
                until = place
        counts[things + 1, at] = place
    return found
