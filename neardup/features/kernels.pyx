"""Loops over the bytes, words and shingles of a text.

Shingles of texts that are compared have hashes with secret keys. Their arithmetic is that of the
field of integers modulo 2**61 - 1. A word is a polynomial of one key whose coefficients are its
bytes, seven at a time; a shingle is a polynomial of the other key whose coefficients are its words.
Two polynomials that differ have the same value at no more keys than their degree, so the author of
a text cannot choose words that collide, whatever he knows but the keys (Carter and Wegman,
Universal classes of hash functions, 1979; Dietzfelbinger and others, Polynomial hash functions are
reliable, 1992).
"""

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from neardup.kernels cimport FIRST, GOLDEN, high_half, lowest_bit, mixed, set_bits as bits_set

from neardup.features import folding, scripts

cdef:
    uint64_t KNOWN = folding.KNOWN
    uint64_t TOO_LONG = folding.TOO_LONG
    uint64_t COMPOSES = folding.COMPOSES
    uint64_t OPEN = folding.OPEN
    uint64_t STARTS_MARKED = folding.STARTS_MARKED
    uint64_t ENDS_MARKED = folding.ENDS_MARKED
    int64_t LAST = scripts.LAST
    uint8_t SEPARATOR = scripts.SEPARATOR
    uint8_t WORD = scripts.WORD
    uint8_t SINGLE = scripts.SINGLE
    uint8_t MARK = scripts.MARK
    uint8_t FOLDED[128]
    uint8_t PACKED[128]
    uint8_t SPACE = 0x20
    # A long line is cut by the hash of a window: its codes times rising powers of an odd number.
    Py_ssize_t WINDOW = 16
    Py_ssize_t MIN_CUT_CHARACTERS = 32  # one letter that is repeated would be cut at each place
    int CUT_SHIFT = 64 - 5
    uint64_t FIRST_UNSPACED = 0x0E00  # Thai; Lao, Khmer, Han, kana and the like have higher codes
    uint64_t FIRST_POWER = GOLDEN * GOLDEN
    uint64_t LAST_POWER = pow(GOLDEN, WINDOW + 1, 1 << 64)
    uint64_t DIVISOR = pow(GOLDEN, -1, 1 << 64)

for _character in map(chr, range(128)):
    # ASCII folded: small letters, and a space for each character that str.split() takes for one.
    FOLDED[ord(_character)] = ord(" " if _character.isspace() else _character.lower())
    # Folded ASCII packed: a space for each character that belongs to no word.
    is_word = _character.isalnum() or _character == "_"
    PACKED[ord(_character)] = ord(_character if is_word else " ")


cdef inline int64_t code_at(const uint8_t[::1] text, Py_ssize_t place) except -1 nogil:
    """Return the character beyond ASCII that begins at a byte of UTF-8."""
    cdef int64_t first = text[place]
    cdef int64_t second = text[place + 1] & 0x3F
    if first < 0xE0:
        return (first & 0x1F) << 6 | second
    cdef int64_t third = text[place + 2] & 0x3F
    if first < 0xF0:
        return (first & 0x0F) << 12 | second << 6 | third
    return (first & 0x07) << 18 | second << 12 | third << 6 | (text[place + 3] & 0x3F)


cdef inline int length_of(uint8_t first) noexcept nogil:
    """Return the bytes of the character beyond ASCII that begins with this one."""
    return 2 if first < 0xE0 else 3 if first < 0xF0 else 4


cdef inline uint64_t folded_eight(uint64_t eight, uint8_t last) noexcept nogil:
    """Return eight bytes of ASCII folded, given the last one before; 0 where not one by one."""
    cdef uint64_t others = (eight ^ SPACE * EACH) + LOWER
    # Only a space leaves its highest bit unset; from it on bytes plus 96 reach 128.
    cdef uint64_t spaces = ~others & HIGHEST
    cdef uint64_t doubled = spaces & (spaces << 8 | <uint64_t>(last == SPACE) << 7)
    if doubled or eight & HIGHEST or ~(eight + 0x60 * EACH) & HIGHEST:
        return 0
    return lower_case(eight)


cdef inline bint reaches_back(uint64_t entry, bint opened, bint marked) noexcept nogil:
    """Return whether a character may change, or be changed by, what stands before it."""
    if opened and entry & COMPOSES:
        return True
    if marked and entry & STARTS_MARKED:
        return True
    return entry & TOO_LONG != 0


def fold_into(const uint8_t[::1] text, const uint64_t[::1] foldings, uint8_t[::1] folded):
    """Write the folded text, character by character.

    Args:
        text: UTF-8, lone surrogates as "surrogatepass" encodes them.
        foldings: The entries of ``FoldTable``.
        folded: uint8, (3 * len(text),), or (len(text),) for ASCII.

    Returns:
        The bytes written; ~code for the first character that is not in the table yet; or
        ~LAST, or less, where the characters do not fold one by one.
    """
    cdef Py_ssize_t place = 0, size = 0, offset
    cdef int64_t code, refused = 0
    cdef uint64_t entry, eight
    cdef int written
    cdef bint opened = False, marked = False
    # What was written last; at first as if it were a space, so that none stands at the beginning.
    cdef uint8_t byte, before, last = SPACE
    with nogil:
        while place < text.shape[0]:
            byte = text[place]
            if byte < 0x80 and place + 8 <= text.shape[0] and size + 8 <= folded.shape[0]:
                memcpy(&eight, &text[place], 8)
                eight = folded_eight(eight, last)
                if eight:
                    memcpy(&folded[size], &eight, 8)
                    last = <uint8_t>(eight >> 56)
                    opened, marked = True, False
                    size, place = size + 8, place + 8
                    continue
            if byte < 0x80:
                before, last = last, FOLDED[byte]
                folded[size] = last
                size += last != SPACE or before != SPACE
                opened, marked = True, False
                place += 1
                continue
            code = code_at(text, place)
            entry = foldings[code] if code <= LAST else 0
            if not entry & KNOWN:
                refused = ~code
                break
            if reaches_back(entry, opened, marked):
                refused = ~(LAST + 1)
                break
            written = <int>(entry >> 48 & 7)
            for offset in range(written):
                before, last = last, <uint8_t>(entry >> (offset << 3))
                folded[size] = last
                size += last != SPACE or before != SPACE
            if written:
                # What is not seen stands between nothing, and a mark leaves its base as open as
                # it is.
                opened = entry & OPEN or (opened and entry & STARTS_MARKED)
                marked = entry & ENDS_MARKED != 0
            place += length_of(byte)
        if size > 0 and folded[size - 1] == SPACE:
            size -= 1
    return refused if refused else size


def pack_into(const uint8_t[::1] folded, const uint8_t[::1] kinds, uint8_t[::1] packed):
    """Write the tokens of a folded text, parted by one or more spaces, and return how many bytes.

    Args:
        folded: UTF-8, in lower case.
        kinds: uint8, (characters,), as ``scripts.all_kinds`` returns them.
        packed: uint8, (2 * len(folded),).
    """
    cdef Py_ssize_t place = 0, size = 0, offset
    cdef int width
    # What the character is that a mark here would stand on.
    cdef uint8_t byte, kind, owner = SEPARATOR
    with nogil:
        while place < folded.shape[0]:
            byte = folded[place]
            if byte < 0x80 and owner != SINGLE:
                packed[size] = PACKED[byte]
                owner = WORD if PACKED[byte] != SPACE else SEPARATOR
                size += 1
                place += 1
                continue
            if byte < 0x80:
                kind, width = WORD if PACKED[byte] != SPACE else SEPARATOR, 1
            else:
                kind, width = kinds[min(code_at(folded, place), LAST)], length_of(byte)
            if kind == MARK:
                kind = owner
            elif kind != WORD or owner == SINGLE:
                packed[size] = SPACE
                size += 1
            if kind != SEPARATOR:
                for offset in range(width):
                    packed[size + offset] = folded[place + offset]
                size += width
            owner = kind
            place += width
    return size


cdef:
    uint64_t EACH = 0x0101010101010101ULL
    uint64_t HIGHEST = 0x8080808080808080ULL
    uint64_t LOWER = 0x7F7F7F7F7F7F7F7FULL
    # Times this, the lowest bits of eight bytes stand side by side in the highest byte.
    uint64_t GATHER = 0x0102040810204080ULL


cdef inline uint64_t lower_case(uint64_t eight) noexcept nogil:
    """Turn ASCII's capitals into small letters, in eight bytes at once."""
    cdef uint64_t low = eight & LOWER
    # A byte below 128 plus 63 reaches 128 from "A" on, plus 37 from "[" on.
    cdef uint64_t capitals = (low + 63 * EACH) & ~(low + 37 * EACH) & ~eight & HIGHEST
    return eight | capitals >> 2


cdef inline uint64_t word_bits(uint64_t eight) noexcept nogil:
    """Return eight bits that say which of eight bytes belong to a word, the first byte's lowest."""
    cdef uint64_t low = eight & LOWER  # capitals are folded
    cdef uint64_t letters = (low + 31 * EACH) & ~(low + 5 * EACH)
    cdef uint64_t digits = (low + 80 * EACH) & ~(low + 70 * EACH)
    cdef uint64_t underscores = HIGHEST - (low ^ 0x5F * EACH)
    cdef uint64_t inside = (letters | digits | underscores | eight) & HIGHEST
    return ((inside >> 7) * GATHER) >> 56


def bound_words(const uint64_t[::1] eights, uint64_t[::1] bounds):
    """Write where the words of a text begin and end, and return their number.

    Bytes are looked at eight at a time, and 64 of them give one number with a bit for each that
    belongs to a word, so that a word costs no branch for each of its bytes.

    Args:
        eights: uint64, (8 * blocks + 1,): what ``unit_bytes`` returns for words, with a space or
            more up to whole blocks of 64, and a number more, so that eight bytes can be read from
            any place. Bytes beyond ASCII belong to words.
        bounds: uint64, (at least 2 * words,): takes for each word the place of its first byte and
            the place after its last.

    Complexity: O(bytes).
    """
    cdef Py_ssize_t place, block, begun = 0, ended = 0
    cdef uint64_t words, shifted, starts, ends, inside = 0
    with nogil:
        for block in range(eights.shape[0] >> 3):
            words = 0
            for place in range(8):
                words |= word_bits(eights[(block << 3) + place]) << (place << 3)
            shifted = words << 1 | inside
            starts, ends = words & ~shifted, shifted & ~words
            inside = words >> 63
            while starts:
                bounds[2 * begun] = (block << 6) + lowest_bit(starts)
                starts &= starts - 1
                begun += 1
            while ends:
                bounds[2 * ended + 1] = (block << 6) + lowest_bit(ends)
                ends &= ends - 1
                ended += 1
    return ended


cdef inline uint64_t eight_from(const uint64_t[::1] eights, uint64_t start) except? 1 nogil:
    """Return the eight bytes from a place on."""
    cdef uint64_t place = start >> 3, shift = (start & 7) << 3
    # By two shifts, since one of 64 bits is none.
    return eights[place] >> shift | (eights[place + 1] << 1) << (63 - shift)


def hash_words(const uint64_t[::1] eights, const uint64_t[::1] bounds, uint64_t[::1] hashes):
    """Write one hash for each word of a text.

    The same for the same word, in every process and on every platform; words of at most eight
    bytes never collide.

    Args:
        eights: What ``bound_words`` read.
        bounds: What it wrote.
        hashes: uint64, (words,).

    Complexity: O(bytes).
    """
    cdef Py_ssize_t word
    cdef uint64_t start, end, eight, taken, value
    with nogil:
        for word in range(hashes.shape[0]):
            start, end, value = bounds[2 * word], bounds[2 * word + 1], 0
            while start < end:
                taken = min(end - start, <uint64_t>8)
                eight = eight_from(eights, start) & ~(<uint64_t>0) >> (64 - (taken << 3))
                value = mixed(eight ^ value * GOLDEN)
                start += taken
            hashes[word] = value


def character_hashes(const uint8_t[::1] folded, uint64_t[::1] hashes):
    """Write one hash for each character of a text in UTF-8 and return their number.

    There must be room for as many hashes as bytes.
    """
    cdef Py_ssize_t place, count = 0
    cdef uint64_t character = 0
    with nogil:
        for place in range(folded.shape[0]):
            # A byte that is not a character's first has the two highest bits 1 and 0.
            if folded[place] & 0xC0 != 0x80:
                character = 0
            character = character << 8 | folded[place]
            if place + 1 == folded.shape[0] or folded[place + 1] & 0xC0 != 0x80:
                # Moved off 0, which a NUL would stay.
                hashes[count] = mixed(character + GOLDEN)
                count += 1
    return count


def rolled(uint64_t[::1] hashes, Py_ssize_t size):
    """Replace the hashes of units by those of the shingles that begin there.

    A shingle's hash is a polynomial of its units' hashes, mixed, so the order of units counts;
    from one to the next it takes one multiplication, whatever the size.

    Returns:
        The number of shingles.
    """
    cdef Py_ssize_t place, units = hashes.shape[0], taken = min(hashes.shape[0], size)
    cdef uint64_t out = 1, value = 0, next_value
    if taken == 0:
        return 0
    with nogil:
        for place in range(taken):
            out *= GOLDEN
            value = value * GOLDEN + hashes[place]
        for place in range(taken, units):
            next_value = value * GOLDEN + hashes[place] - out * hashes[place - taken]
            hashes[place - taken] = mixed(value)
            value = next_value
        hashes[units - taken] = mixed(value)
    return units - taken + 1


def counted(uint64_t[::1] hashes, double[::1] counts):
    """Move the distinct ones of hashes that ascend to the front, count each, return how many."""
    cdef Py_ssize_t place, found = 0
    with nogil:
        for place in range(hashes.shape[0]):
            if place == 0 or hashes[place] != hashes[found - 1]:
                hashes[found] = hashes[place]
                counts[found] = 0
                found += 1
            counts[found - 1] += 1
    return found


def set_bits(const uint64_t[::1] hashes, uint64_t[::1] words):
    """Set for each hash the bit that its lowest bits name; the words are a power of two."""
    cdef Py_ssize_t place
    cdef uint64_t bit, last = 64 * words.shape[0] - 1
    with nogil:
        for place in range(hashes.shape[0]):
            bit = hashes[place] & last
            words[bit >> 6] |= <uint64_t>1 << (bit & 63)


def max_shared(
    const uint64_t[::1] small, int64_t small_size, const uint64_t[::1] large, int64_t large_size
):
    """Return the largest number of values that two sets may have in common.

    Both are bits, a power of two of words, the larger ones folded to the same length.
    """
    cdef Py_ssize_t place, further
    cdef uint64_t folded
    with nogil:
        for place in range(small.shape[0]):
            folded, further = 0, place
            while further < large.shape[0]:
                folded |= large[further]
                further += small.shape[0]
            small_size -= bits_set(small[place] & ~folded)
            large_size -= bits_set(folded & ~small[place])
    return min(small_size, large_size)


cdef uint64_t PRIME = 0x1FFFFFFFFFFFFFFFULL
FIELD = PRIME
"""The prime number, 2**61 - 1, modulo which keys and hashes are calculated."""


cdef inline uint64_t sum_of(uint64_t first, uint64_t second) noexcept nogil:
    """Return the sum of two numbers below the prime number, modulo it."""
    cdef uint64_t value = first + second
    return value - PRIME if value >= PRIME else value


cdef inline uint64_t product_of(uint64_t first, uint64_t second) noexcept nogil:
    """Return the product of two numbers below the prime number, modulo it."""
    cdef uint64_t low = first * second
    # 2**61 is 1 modulo 2**61 - 1, so what lies above 61 bits is added to them.
    return sum_of(low & PRIME, high_half(first, second) << 3 | low >> 61)


cdef inline uint64_t keyed_word(
    const uint64_t[::1] eights, uint64_t start, uint64_t end, uint64_t key
) except? 1 nogil:
    """Return the value of a word's polynomial; words of at most seven bytes are themselves.

    No word holds a NUL, so the first coefficient is not 0, and words of other lengths differ too.
    """
    cdef uint64_t eight, taken, value = 0
    while start < end:
        taken = min(end - start, <uint64_t>7)
        eight = eight_from(eights, start) & 0x00FFFFFFFFFFFFFFULL >> (56 - (taken << 3))
        value = sum_of(product_of(value, key), eight)
        start += 7
    return value


def hash_shingles(
    const uint64_t[::1] eights,
    const uint64_t[::1] bounds,
    uint64_t[::1] hashes,
    Py_ssize_t size,
    uint64_t word_key,
    uint64_t shingle_key,
):
    """Write the hashes of all shingles of a text, in order, each as often as it occurs.

    Args:
        eights: The text, as ``neardup.features.shingles.words_in`` returns it.
        bounds: The bounds of its words, as well.
        hashes: uint64, (words,): takes the hashes, 1 to ``FIELD``.
        size: Words of a shingle. A text of fewer is one shingle; a text of none has none.
        word_key: A secret number, 1 to ``FIELD`` - 1.
        shingle_key: Another one.

    Returns:
        The number of shingles.

    Complexity: O(bytes): two multiplications a shingle, whatever the size.
    """
    cdef Py_ssize_t word, words = hashes.shape[0], taken = min(hashes.shape[0], size)
    cdef uint64_t entering, leaving, above = 0, value = 0
    if words == 0:
        return 0
    with nogil:
        for word in range(words):
            entering = keyed_word(eights, bounds[2 * word], bounds[2 * word + 1], word_key)
            if word < taken:
                above = product_of(above, shingle_key) if word else shingle_key
            else:
                leaving = product_of(above, hashes[word - taken])
                hashes[word - taken] = value + 1
                value = sum_of(value, PRIME - leaving)
            hashes[word] = entering
            # Multiplied by the key once more than need be, so that one word is not its own hash.
            value = product_of(sum_of(value, entering), shingle_key)
        hashes[words - taken] = value + 1
    return words - taken + 1


cdef inline uint64_t slot_of(uint64_t[::1] table, uint64_t value, int shift) except? 1 nogil:
    """Return the slot that holds a value, or the free one that it is to take."""
    cdef uint64_t last = table.shape[0] - 1, slot = value * FIRST >> shift
    while table[slot] != 0 and table[slot] != value:
        slot = (slot + 1) & last
    return slot


def fill_table(uint64_t[::1] hashes, uint64_t[::1] table, int shift):
    """Put hashes into a table, move the distinct ones to the front, and return how many.

    Args:
        hashes: uint64, none of them 0, in any order; they stay in the order of their first
            appearances.
        table: uint64, zeros, (2 ** (64 - shift),), at least twice as many as hashes: takes them by
            open addressing, and stays 0 where a slot is free.
        shift: How far a product of 64 bits is shifted to be the place of a slot.

    Complexity: O(hashes) on average.
    """
    cdef Py_ssize_t place, found = 0
    cdef uint64_t value, slot
    with nogil:
        for place in range(hashes.shape[0]):
            value = hashes[place]
            slot = slot_of(table, value, shift)
            if table[slot] == 0:
                table[slot] = value
                hashes[found] = value
                found += 1
    return found


def shared_size(uint64_t[::1] table, int shift, uint64_t[::1] hashes):
    """Return the number of hashes that a table holds, which ``fill_table`` filled.

    Complexity: O(hashes) on average.
    """
    cdef Py_ssize_t place, shared = 0
    with nogil:
        for place in range(hashes.shape[0]):
            shared += table[slot_of(table, hashes[place], shift)] == hashes[place]
    return shared


def cuts_of(str line):
    """Return the places where a long line of a text is cut, as ``neardup.boilerplate`` says.

    Complexity: O(length).
    """
    cdef str lowered = line.lower()
    if len(lowered) != len(line):
        lowered = line
    cdef Py_ssize_t place, last = 0
    cdef uint64_t code, value = 0
    cdef list cuts = []
    for place in range(len(lowered)):
        if place >= WINDOW:
            value -= <uint64_t>lowered[place - WINDOW] * FIRST_POWER
        code = <uint64_t>lowered[place]
        value = value * DIVISOR + code * LAST_POWER
        if place + 1 < WINDOW or value >> CUT_SHIFT or (code != SPACE and code < FIRST_UNSPACED):
            continue
        if place + 1 - last >= MIN_CUT_CHARACTERS:
            cuts.append(place + 1)
        last = place + 1
    return cuts
