"""Loops over the texts and the features of the blocks of a page."""

import re
from collections import Counter

import numpy as np

from libc.math cimport log1p
from libc.stdint cimport int16_t, int64_t, uint8_t

from crawler.reading.content.block_flags import FLAGS
from crawler.reading.content.blocks import MAX_BLOCKS


def score_leaves(
    const float[:, ::1] columns,
    const float[::1] leaves,
    const int64_t[::1] firsts,
    const int64_t[::1] depths,
    const int16_t[:, ::1] asked,
    const float[:, ::1] borders,
):
    """Return the sum of the leaves that each block reaches, one of each tree, float32, (blocks,).

    Args:
        columns: Features of the blocks, (features, blocks).
        leaves: The leaves of all trees.
        firsts: Place of the first leaf of each tree that the page can reach.
        depths: How many levels of a tree ask about blocks; these are its first ones.
        asked: The feature that a level asks for, (trees, levels).
        borders: What the feature must be above.
    """
    cdef Py_ssize_t tree, level, block, blocks = columns.shape[1]
    found = np.zeros(blocks, np.float32)
    cdef float[::1] out = found
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
            out[block] += leaves[firsts[tree] + numbers[block]]
    return found


TEXT_COLUMNS = (
    "chars words density digits upper commas ends price legal action date in_title "
    "i we you rating consent titled described tokens"
).split()
"""What ``read_texts`` returns."""

cdef enum:
    CHARS, WORDS, DENSITY, DIGITS, UPPER, COMMAS, ENDS, PRICE, LEGAL, ACTION, DATE, IN_TITLE
    COUNTED, TITLED = COUNTED + 5, DESCRIBED, TOKENS

    # The number of a word: a bit for each kind of words that are counted, and of those of headings,
    # one for words of the title, and above these the place of the word in the descriptions.
    KINDS_OF_HEADINGS = 8, TITLE_BIT = 5 + KINDS_OF_HEADINGS, PLACE_BIT

    # Characters of a text in which its kind is looked for, and in which words are.
    LOOKED_AT = 600, READ = 1500
    SHORT = 60, MAX_PRICE = 200, MIN_IN_TITLE = 10, MAX_IN_TITLE = 300

TITLE, PLACE = 1 << TITLE_BIT, PLACE_BIT
"""The bit of words of the title, and that above which the place of a word is."""

# From the first code on so many letters of Latin say as much as one character, and it is so many
# fifths of a word beside those between spaces: Chinese, Japanese and Thai have none between words.
_SCRIPTS = np.array(
    [
        (0x0000, 1, 0),
        (0x0E00, 1, 1),  # Thai and Lao
        (0x0F00, 1, 0),
        (0x1000, 1, 1),  # Burmese
        (0x10A0, 1, 0),
        (0x1780, 1, 1),  # Khmer
        (0x1800, 1, 0),
        (0x2E80, 3, 3),  # ideographs and kana
        (0xA000, 1, 0),
        (0xAC00, 2, 0),  # Hangul
        (0xD7B0, 1, 0),
        (0xF900, 3, 3),
        (0xFB00, 1, 0),
        (0x20000, 3, 3),
        (0x40000, 1, 0),
    ]
)
_STEPS = np.searchsorted(_SCRIPTS[:, 0], np.arange(0, 0x40001, 16), "right") - 1
cdef:
    # What a character counts for beyond one letter, and its fifths of a word, by 16 codes.
    const int64_t[:, ::1] SCRIPTS = _SCRIPTS[_STEPS, 1:] - [1, 0]
    tuple PRICE_SIGNS = ("$", "€", "£", "¥", "₹", "kr", "zł", "USD", "EUR")
    tuple LEGAL_WORDS = (
        *("©", "(c)", "copyright", "all rights reserved"),
        *("cookie", "privacy policy", "terms of", "newsletter"),
    )
    # Every control begins with one of these, in lower case.
    frozenset ACTION_STARTS = frozenset(
        "sha twe rep log sig sub rea lea mor vie see sho loa add buy sea men clo ski bac nex pre "
        "hom pri edi lik fol fil sor com dow con cli get try quo sav cop can".split()
    )
_PRICE = re.compile(r"[$€£¥₹]\s?\d|\d\s?(?:[€£₹]|kr|zł|USD|EUR)")
_ACTION = re.compile(
    r"(?:share|tweet|reply|log ?in|sign (?:in|up)|subscribe|read more|learn more|more|view all"
    r"|see all|show (?:more|all|less)|load more|add to .*|buy now|shop .*|search.*|menu|close"
    r"|skip to .*|back.*|next.*|prev.*|home|print|edit|report.*|like|follow.*|filter.*|sort.*"
    r"|comments?|leave a .*|submit|download|contact(?: us)?|click here|view .*|get started|try .*"
    r"|quote|save|copy|cancel)\W*$",
    re.IGNORECASE,
)
_DATE = re.compile(r"\b(?:19|20)\d\d\b|\d\d?[:/.]\d\d|\bago\b")


def read_texts(list texts, words):
    """Return what the texts of blocks are made of, and of which kinds of headings their words are.

    ``chars`` and ``words`` are numbers: a character of a script that says more with it counts as
    several letters, and as a part of a word where words have no spaces between them. ``density`` is
    the number of letters that a character counts for. ``digits`` and ``upper`` are shares,
    ``commas`` counts commas and ends of sentences. From ``ends`` to ``in_title`` all are 1 or 0:
    whether a text ends as a sentence does, names a price, rights, a control of the page, a date, or
    is part of the title. The others are numbers of words: of each kind, of the title, in a run of
    three of the page's descriptions, and all.

    Args:
        texts: Texts that are not empty, with one space between words.
        words: The ``PageWords`` of their page.

    Returns:
        float64, (len(TEXT_COLUMNS), texts), and int64, (texts,), a bit for each kind of headings.
    """
    columns, kinds = np.zeros((len(TEXT_COLUMNS), len(texts))), np.zeros(len(texts), np.int64)
    cdef double[:, ::1] out = columns
    cdef int64_t[::1] headings = kinds
    cdef dict codes = words.codes, of_page = words.of_page
    cdef set runs = words.runs
    cdef Py_ssize_t at, size
    cdef str text, lowered, title = words.title
    for at in range(len(texts)):
        text = texts[at]
        size = len(text)
        lowered = (text if size <= READ else text[:READ]).lower()
        count_characters(text, out[:, at])
        out[ENDS, at] = text[size - 1] in ".!?:;…。！？」』”»؟۔।\"')"
        if size < LOOKED_AT:
            out[LEGAL, at] = holds(lowered, LEGAL_WORDS)
        if size < MAX_PRICE and out[DIGITS, at] and holds(text, PRICE_SIGNS):
            out[PRICE, at] = _PRICE.search(text) is not None
        if size < SHORT:
            if text[:3].lower() in ACTION_STARTS:
                out[ACTION, at] = _ACTION.match(text) is not None
            if out[DIGITS, at] or "ago" in text:
                out[DATE, at] = _DATE.search(text) is not None
        if size < MAX_IN_TITLE and size <= len(title) and out[CHARS, at] > MIN_IN_TITLE:
            out[IN_TITLE, at] = lowered in title
        headings[at] = count_words(lowered, codes, of_page, runs, out[:, at])
    return columns, kinds


cdef bint holds(str text, tuple words):
    for word in words:
        if word in text:
            return True
    return False


cdef count_characters(str text, double[:] out):
    """Write the columns of numbers and shares of characters, by the first ones of a text."""
    cdef Py_ssize_t place, row, size = len(text), shown = min(size, LOOKED_AT)
    cdef int64_t digits = 0, capitals = 0, commas = 0, spaces = 0, letters = shown, fifths = 0
    cdef Py_UCS4 one
    for place in range(shown):
        one = text[place]
        if one == " ":
            spaces += 1
        elif "a" <= one <= "z":
            continue
        elif "A" <= one <= "Z":
            capitals += 1
        elif one in ".!?":
            commas += place + 1 < shown and text[place + 1] == " "
        elif one.isdecimal():
            digits += 1
        elif one in ",;，、。！？،؛؟।۔":
            commas += 1
        if one >= 0x0E00:  # no earlier one counts for more
            row = min(<Py_ssize_t>one // 16, SCRIPTS.shape[0] - 1)
            letters += SCRIPTS[row, 0]
            fifths += SCRIPTS[row, 1]
    if shown < size:
        spaces += text.count(" ", shown)
    out[CHARS] = <double>(letters * size) / shown
    out[WORDS] = (spaces + 1) + fifths / 5.0 * size / shown
    out[DENSITY] = <double>letters / shown
    out[DIGITS], out[UPPER] = <double>digits / shown, <double>capitals / shown
    out[COMMAS] = <double>(commas * size) / shown


cdef int64_t count_words(str text, dict codes, dict of_page, set runs, double[:] out):
    """Write the numbers of words of each kind, and return the kinds of headings as bits."""
    cdef Py_ssize_t place = 0, until = 0
    cdef int64_t number, first, second = 0, third = 0, found = 0
    cdef int kind
    for word in text.split(" "):
        value = of_page.get(word) if of_page else None
        if value is None:
            value = codes.get(word)
        number = 0 if value is None else value
        place += 1
        first, second, third = second, third, number >> PLACE_BIT
        if number:
            found |= number
            for kind in range(COUNTED, TITLED):
                out[kind] += number >> (kind - COUNTED) & 1
            out[TITLED] += number >> TITLE_BIT & 1
            if first and second and third and (first << 42 | second << 21 | third) in runs:
                out[DESCRIBED] += min(place - until, 3)
                until = place
    out[TOKENS] = place
    return found >> (TITLED - COUNTED) & (1 << KINDS_OF_HEADINGS) - 1


TAGS = tuple("p li div td th dd dt pre section article button a label".split())
"""Tags of containers that blocks are told apart by."""

cdef enum:
    # Rows of features, where each kind of them begins.
    LEVEL = 10
    PLACES = 19
    OF_TAGS = PLACES + 8
    NEIGHBOURS = OF_TAGS + 13
    SURROUNDINGS = NEIGHBOURS + 4 * 6
    OF_GROUP = SURROUNDINGS + 5 * 8
    OF_WORDS = OF_GROUP + 5
    BELOW = OF_WORDS + 10
    OF_FLAGS = BELOW + 2 * KINDS_OF_HEADINGS + 2

    # Rows of what is summed up of blocks: the last is 1 for each.
    CHARACTERS = 0, LINKED, STOPS, MOSTLY_LINKED, BLOCKS, SUMS

    LAST_HEADING = 6, MAX_HEADING = 100, MAX_LABEL = 60
    # The distance to a heading that does not come before a block.
    NEVER = 9

ROWS_OF_TAGS, ROWS_OF_FLAGS = OF_TAGS, OF_FLAGS
"""The first features of ``TAGS``, and of the flags of a container and all around it."""

cdef:
    # Headings have their levels for numbers.
    dict NUMBERS = {tag: at for at, tag in enumerate((*"h1 h2 h3 h4 h5 h6".split(), *TAGS), 1)}
    const double[::1] LOGARITHMS = np.log1p(np.arange(MAX_BLOCKS + 1.0))


cdef double logarithm(double number) noexcept:
    """Return the logarithm of one more than a number; most are whole and small."""
    if 0 <= number < LOGARITHMS.shape[0] and number == <Py_ssize_t>number:
        return LOGARITHMS[<Py_ssize_t>number]
    return log1p(number)


cdef int64_t[::1] integers(list numbers):
    cdef int64_t[::1] found = np.empty(len(numbers), np.int64)
    cdef Py_ssize_t at
    for at in range(len(numbers)):
        found[at] = numbers[at]
    return found


cdef class BlockTable:
    """The features of the blocks of a page, and what else they are chosen by.

    Attributes:
        features: float32, (features, blocks).
        texts: float64, (len(TEXT_COLUMNS), blocks): what their texts are made of.
        kinds: int64, (blocks,): kinds of headings that a short block has words of, a bit each.
        levels: int64, (blocks,): level of the heading that a block is, or 0.
        above: int64, (blocks,): kinds of the last heading up to each, a bit each.
        flags: int64, (blocks,): flags of its container and all ancestors.
        groups: int64, (blocks,): number of the group of blocks in containers of one path.
        linked: Number of characters of links.
        twinned: Number of characters of blocks whose container three levels up has three twins.
        max_twins: The largest number of containers of one path in the same parent.
    """

    cdef readonly:
        object features, texts, kinds, levels, above, flags, groups
        double linked, twinned
        int64_t max_twins
    cdef:
        Py_ssize_t count
        float[:, ::1] out
        const double[:, ::1] columns
        double[:, ::1] weights
        int64_t[::1] homes, parents, numbers, twins, level, group, heading, flag, kind

    def __init__(self, blocks, words):
        """Compute the features of ``PageBlocks`` by their ``PageWords``."""
        self.count = len(blocks.texts)
        self.texts, self.kinds = read_texts(blocks.texts, words)
        self.columns, self.kind = self.texts, self.kinds
        self.levels, self.above, self.flags, self.groups = np.zeros((4, self.count), np.int64)
        self.level, self.heading = self.levels, self.above
        self.flag, self.group = self.flags, self.groups
        self.features = np.zeros((OF_FLAGS + 3 * len(FLAGS), self.count), np.float32)
        self.out, self.weights = self.features, np.ones((SUMS, self.count))
        self.homes, self.parents = integers(blocks.homes), integers(blocks.parents)
        self.numbers = integers([NUMBERS.get(tag, 0) for tag in blocks.tags])
        self.write_own(blocks)
        self.write_groups(blocks.parents, blocks.paths)
        self.write_places()
        self.write_neighbours()
        self.write_surroundings(integers(blocks.ends))
        self.write_words(max(len(set(words.title.split())), 1))
        self.write_below(words.described)
        self.write_flags(integers(blocks.own), integers(blocks.inherited), integers(blocks.inline))

    cdef write_own(self, blocks):
        """Write what a block is by itself, and the tag of its container."""
        cdef float[:, ::1] out = self.out
        cdef const double[:, ::1] texts = self.columns
        cdef const int64_t[::1] linked = integers(blocks.linked), links = integers(blocks.links)
        cdef list depths = blocks.depths, texts_of_blocks = blocks.texts
        times = Counter(texts_of_blocks)
        cdef Py_ssize_t at, row, home, number
        cdef double chars, of_links, share
        for at in range(self.count):
            home = self.homes[at]
            number = self.numbers[home]
            if number > LAST_HEADING:
                out[OF_TAGS + number - LAST_HEADING - 1, at] = 1
            if not 0 < number <= LAST_HEADING:
                number = self.numbers[self.parents[home]]
            self.level[at] = number if number <= LAST_HEADING else 0
            chars, of_links = texts[CHARS, at], linked[at] * texts[DENSITY, at]
            share = of_links / max(chars, 1)
            self.linked += of_links
            self.weights[CHARACTERS, at], self.weights[LINKED, at] = chars, of_links
            self.weights[STOPS, at] = texts[COMMAS, at]
            self.weights[MOSTLY_LINKED, at] = share > 0.5
            out[0, at], out[1, at] = logarithm(chars), logarithm(texts[WORDS, at])
            out[2, at], out[3, at] = logarithm(of_links), share
            out[4, at], out[5, at] = logarithm(links[at]), chars / max(texts[WORDS, at], 1)
            for row in range(DIGITS, PRICE):
                out[row + 3, at] = texts[row, at]
            out[LEVEL, at] = self.level[at]
            for row in range(PRICE, IN_TITLE):
                out[row + 4, at] = texts[row, at]
            out[15, at], out[16, at] = chars < 25, times[texts_of_blocks[at]]
            out[17, at], out[18, at] = texts[IN_TITLE, at], depths[home]

    cdef write_groups(self, list parents, list paths):
        """Write what the blocks in containers of one path are together, and count twins."""
        cdef float[:, ::1] out = self.out
        cdef double[:, ::1] sums
        cdef dict groups = {}
        cdef Py_ssize_t at, group
        cdef double some
        times = Counter(zip(parents, paths))
        self.twins = integers([times[one] for one in zip(parents, paths)])
        self.max_twins = max(times.values())
        for at in range(self.count):
            self.group[at] = groups.setdefault(paths[self.homes[at]], len(groups))
            group = self.parents[self.parents[self.homes[at]]]
            self.twinned += self.weights[CHARACTERS, at] * (self.twins[group] > 3)
        sums = self.sums_of(self.group, len(groups))
        for at in range(self.count):
            group = self.group[at]
            some = max(sums[CHARACTERS, group], 1)
            out[OF_GROUP, at] = logarithm(sums[BLOCKS, group])
            out[OF_GROUP + 1, at] = logarithm(sums[CHARACTERS, group])
            out[OF_GROUP + 2, at] = sums[LINKED, group] / some
            out[OF_GROUP + 3, at] = logarithm(sums[CHARACTERS, group] / sums[BLOCKS, group])
            out[OF_GROUP + 4, at] = sums[STOPS, group] / some * 100

    cdef double[:, ::1] sums_of(self, const int64_t[::1] places, Py_ssize_t count):
        """Return the sums of the weights of blocks by the place of each, (sums, count)."""
        cdef double[:, ::1] sums = np.zeros((SUMS, count))
        cdef Py_ssize_t row, at
        for row in range(SUMS):
            for at in range(self.count):
                sums[row, places[at]] += self.weights[row, at]
        return sums

    cdef write_places(self):
        """Write where on the page a block stands, from its begin and its headings."""
        cdef float[:, ::1] out = self.out
        cdef double until = 0, before = 0, at_heading = 0, beyond, total
        cdef Py_ssize_t at, last = -1, first = -1
        for at in range(self.count):
            until += self.weights[CHARACTERS, at]
            if self.level[at] == 1 and first < 0:
                first = at
        total, until = max(until, 1), 0
        for at in range(self.count):
            until += self.weights[CHARACTERS, at]
            before = until - self.weights[CHARACTERS, at]
            if self.level[at]:
                last, at_heading = at, before
            out[PLACES, at], out[PLACES + 1, at] = <double>at / self.count, before / total
            out[PLACES + 2, at] = logarithm(self.count - at)
            out[PLACES + 3, at] = logarithm(at - last)
            out[PLACES + 4, at] = self.level[last] if last >= 0 else 0
            out[PLACES + 5, at] = logarithm(before - at_heading)
            if first < 0:
                out[PLACES + 6, at] = -99
            else:
                beyond = logarithm(abs(at - first))
                out[PLACES + 6, at] = beyond if at >= first else -beyond
                out[PLACES + 7, at] = at < first

    cdef write_neighbours(self):
        """Write what stands before and after a block, and whether it stands in the same place.

        Beyond the page all is -1.
        """
        cdef float[:, ::1] out = self.out
        cdef Py_ssize_t at, other, row = NEIGHBOURS
        for offset in (-2, -1, 1, 2):
            for at in range(self.count):
                other = at + offset
                if 0 <= other < self.count:
                    out[row, at], out[row + 1, at] = out[0, other], out[3, other]
                    out[row + 2, at], out[row + 3, at] = out[9, other], out[LEVEL, other]
                    out[row + 4, at] = self.homes[other] == self.homes[at]
                    out[row + 5, at] = self.group[other] == self.group[at]
                else:
                    out[row, at] = out[row + 1, at] = out[row + 2, at] = out[row + 3, at] = -1
            row += 6

    cdef write_surroundings(self, const int64_t[::1] ends):
        """Write what the containers around a block hold."""
        cdef float[:, ::1] out = self.out
        cdef float[:, ::1] held = np.empty((len(ends), 8), np.float32)
        # Sums of all containers before each, and at last of all.
        cdef double[:, ::1] sums = self.sums_of(self.homes, len(ends) + 1)
        cdef double within[SUMS]
        cdef double total, some, blocks
        cdef Py_ssize_t at, row, place, level, one
        for row in range(SUMS):
            total = 0
            for at in range(len(ends) + 1):
                total, sums[row, at] = total + sums[row, at], total
        total = max(sums[CHARACTERS, len(ends)], 1)
        for at in range(len(ends)):
            for row in range(SUMS):
                within[row] = sums[row, ends[at]] - sums[row, at]
            some, blocks = max(within[CHARACTERS], 1), max(within[BLOCKS], 1)
            held[at, 0], held[at, 1] = logarithm(within[CHARACTERS]), within[LINKED] / some
            held[at, 2], held[at, 3] = within[CHARACTERS] / total, logarithm(within[BLOCKS])
            held[at, 4] = logarithm(within[CHARACTERS] / blocks)
            held[at, 5], held[at, 6] = within[STOPS] / some * 100, logarithm(self.twins[at])
            held[at, 7] = within[MOSTLY_LINKED] / blocks
        for at in range(self.count):
            row, place = SURROUNDINGS, self.homes[at]
            for level in range(6):
                if level != 4:
                    for one in range(8):
                        out[row + one, at] = held[place, one]
                    row += 8
                place = self.parents[place]

    cdef write_words(self, Py_ssize_t of_title):
        """Write what the words of a block are.

        Args:
            of_title: Number of the words of the title.
        """
        cdef float[:, ::1] out = self.out
        cdef const double[:, ::1] texts = self.columns
        cdef Py_ssize_t at, kind
        cdef double words
        for at in range(self.count):
            words = texts[TOKENS, at]
            for kind in range(5):
                out[OF_WORDS + kind, at] = texts[COUNTED + kind, at] / words
            out[OF_WORDS + 5, at] = logarithm(texts[COUNTED, at])
            out[OF_WORDS + 6, at] = logarithm(texts[COUNTED + 4, at])
            out[OF_WORDS + 7, at] = texts[DESCRIBED, at] / words
            out[OF_WORDS + 8, at] = texts[TITLED, at] / words
            out[OF_WORDS + 9, at] = min(texts[TITLED, at] / of_title, 3)

    cdef write_below(self, Py_ssize_t described):
        """Write under what kind of heading a block is, and how far from the last of each kind.

        Args:
            described: Number of words of the descriptions.
        """
        cdef float[:, ::1] out = self.out
        cdef const double[:, ::1] texts = self.columns
        cdef Py_ssize_t last[KINDS_OF_HEADINGS + 1]
        cdef Py_ssize_t at, kind
        cdef int64_t kinds, above = 0
        cdef double chars
        for kind in range(KINDS_OF_HEADINGS + 1):
            last[kind] = -1
        for at in range(self.count):
            chars, kinds = texts[CHARS, at], self.kind[at]
            if chars >= (MAX_HEADING if self.level[at] else MAX_LABEL):
                kinds = self.kind[at] = 0
            # Short lines that are no heading by their tag often are one by their looks.
            if texts[ENDS, at] and not self.level[at]:
                kinds = 0
            if texts[DESCRIBED, at] > 0.5 * texts[TOKENS, at] and texts[TOKENS, at] > 8:
                kinds |= 1 << KINDS_OF_HEADINGS
            if self.level[at]:
                above = kinds
            self.heading[at] = above
            for kind in range(KINDS_OF_HEADINGS + 1):
                if kinds >> kind & 1:
                    last[kind] = at
                if kind < KINDS_OF_HEADINGS:
                    out[BELOW + 2 * kind, at] = above >> kind & 1
                out[BELOW + 2 * kind + (kind < KINDS_OF_HEADINGS), at] = (
                    NEVER if last[kind] < 0 else logarithm(at - last[kind])
                )
            out[BELOW + 2 * KINDS_OF_HEADINGS + 1, at] = logarithm(described)

    cdef write_flags(self, const int64_t[::1] own, const int64_t[::1] inherited, inline):
        """Write the flags of a block: of all around it, near it, of inline elements in it."""
        cdef int64_t[:, ::1] flags = np.empty((3, self.count), np.int64)
        cdef Py_ssize_t at, home, up, row, bits = len(FLAGS)
        for at in range(self.count):
            home = self.homes[at]
            up = self.parents[home]
            flags[0, at] = self.flag[at] = inherited[home]
            flags[1, at] = own[home] | own[up] | own[self.parents[up]]
            flags[2, at] = inline[at]
        for row in range(3 * bits if self.count else 0):
            write_bit(&flags[row // bits, 0], row % bits, &self.out[OF_FLAGS + row, 0], self.count)


cdef void write_bit(const int64_t* flags, int bit, float* out, Py_ssize_t count) noexcept:
    """Write a bit of each flag: without checks, so that several are written at once."""
    cdef Py_ssize_t at
    for at in range(count):
        out[at] = <int>(flags[at] >> bit) & 1
