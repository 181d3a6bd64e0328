/* What compiled loops share: instructions that C has no word for, and the hash of a number. */

#ifndef NEARDUP_KERNELS
#define NEARDUP_KERNELS

#include <stdint.h>

/*
 * Stands before a function that is compiled for several kinds of x86 processors; the loader chooses
 * one. Elsewhere it is compiled once, for the oldest. Kinds are told by instructions: GCC knows
 * arch=x86-64-v3 from 12 on. Sanitizers are not ready yet when the loader chooses.
 */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
#define FOR_EACH_PROCESSOR __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define FOR_EACH_PROCESSOR
#endif

/* Stands before a function that is made part of those that call it, for the same processors. */
#if defined(__GNUC__)
#define PART static inline __attribute__((always_inline))
#else
#define PART static inline
#endif

#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
PART int set_bits(uint64_t value) { return (int)__popcnt64(value); }
PART int lowest_bit(uint64_t value)
{
    unsigned long place;
    _BitScanForward64(&place, value);
    return (int)place;
}
PART int highest_bit(uint64_t value)
{
    unsigned long place;
    _BitScanReverse64(&place, value);
    return (int)place;
}
PART uint64_t high_half(uint64_t first, uint64_t second) { return __umulh(first, second); }
PART void prefetch(const void *address) { _mm_prefetch((const char *)address, _MM_HINT_T0); }
#else
PART int set_bits(uint64_t value) { return __builtin_popcountll(value); }
/* The place of the lowest bit that is set; the value is not 0. */
PART int lowest_bit(uint64_t value) { return __builtin_ctzll(value); }
PART int highest_bit(uint64_t value) { return 63 - __builtin_clzll(value); }
/* The upper half of a product of 128 bits. */
PART uint64_t high_half(uint64_t first, uint64_t second)
{
    return (uint64_t)((unsigned __int128)first * second >> 64);
}
/* Has the memory bring the cache line of an address, which need not be valid. */
PART void prefetch(const void *address) { __builtin_prefetch(address); }
#endif

/* As in neardup.features.hashing. */
#define FIRST 0xFF51AFD7ED558CCDULL
#define SECOND 0xC4CEB9FE1A85EC53ULL
#define GOLDEN 0x9E3779B97F4A7C15ULL

PART uint64_t mixed(uint64_t value)
{
    value ^= value >> 33;
    value *= FIRST;
    value ^= value >> 33;
    value *= SECOND;
    return value ^ (value >> 33);
}

#endif
