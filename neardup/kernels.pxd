"""What compiled loops share: instructions that C has no word for, and the hash of a number."""

from libc.stdint cimport uint64_t

cdef extern from "neardup/kernels.h" nogil:
    int set_bits(uint64_t value) noexcept
    int lowest_bit(uint64_t value) noexcept
    int highest_bit(uint64_t value) noexcept
    uint64_t high_half(uint64_t first, uint64_t second) noexcept
    uint64_t mixed(uint64_t value) noexcept
    void prefetch(const void *address) noexcept
    const uint64_t FIRST
    const uint64_t GOLDEN
