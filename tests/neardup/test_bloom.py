import hashlib
import math
import os
import struct
from pathlib import Path
from typing import Literal, TypeAlias

import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup.bloom import BloomFilter, ScalableBloomFilter
from neardup.errors import IndexFileError, ParameterError
from tests.damage import full_for, refuses_flipped_bytes, refuses_other_lengths

AnyFilter: TypeAlias = BloomFilter | ScalableBloomFilter
KINDS = [BloomFilter, ScalableBloomFilter]
both = pytest.mark.parametrize("kind", KINDS)


def key(number: int) -> bytes:
    return xxhash.xxh3_128_digest(number.to_bytes(8, "little"))


def wrong_answers(filter_: AnyFilter, asked: int) -> float:
    """Return the share of keys never added that are taken for added."""
    return sum(key(-1 - number & 2**63 - 1) in filter_ for number in range(asked)) / asked


@both
class TestBothFilters:
    def test_an_empty_filter_holds_nothing(self, kind: type[AnyFilter]) -> None:
        for error_rate in (1e-9, 0.001, 0.5, 0.9):
            assert not any(key(number) in kind(10, error_rate) for number in range(100))

    @pytest.mark.parametrize("data", [b"", b"x", b"15 bytes, just so", bytes(16), b"\xff" * 16])
    def test_keys_of_any_length_are_told_apart(self, kind: type[AnyFilter], data: bytes) -> None:
        filter_ = kind(100, 1e-9)
        assert data not in filter_
        filter_.add(data)
        assert data in filter_
        assert data + b"\0" not in filter_

    @pytest.mark.parametrize("length", [1, 2, 8, 15, 16, 17, 20, 32])
    @pytest.mark.parametrize("order", ["little", "big"])
    def test_counters_of_any_length_are_told_apart(
        self, kind: type[AnyFilter], length: int, order: Literal["little", "big"]
    ) -> None:
        filter_ = kind(1000, 1e-9)
        counters = [number.to_bytes(length, order) for number in range(min(1000, 256**length))]
        assert all(filter_.add(counter) for counter in counters)
        assert len(filter_) == len(counters)

    def test_a_digest_stands_for_the_key_that_it_is_of(self, kind: type[AnyFilter]) -> None:
        filter_ = kind(100, 1e-9)
        assert filter_.add(b"a page")
        assert filter_.has_digest(xxhash.xxh3_128_digest(b"a page"))
        assert filter_.add_digest(xxhash.xxh3_128_digest(b"another"))
        assert not filter_.add_digest(xxhash.xxh3_128_digest(b"another"))
        assert b"another" in filter_
        assert not filter_.has_digest(xxhash.xxh3_128_digest(b"a third"))

    def test_the_first_16_bytes_of_a_digest_count(self, kind: type[AnyFilter]) -> None:
        filter_ = kind(100, 1e-9)
        filter_.add_digest(hashlib.sha1(b"a page").digest())
        assert filter_.has_digest(hashlib.sha1(b"a page").digest()[:16])
        for call in (filter_.add_digest, filter_.has_digest):
            with pytest.raises(ParameterError, match="at least 16 bytes, got 15; a key that"):
                call(bytes(15))

    @pytest.mark.parametrize("capacity", [0, -5])
    def test_a_capacity_out_of_range_is_named(self, kind: type[AnyFilter], capacity: int) -> None:
        with pytest.raises(ParameterError, match=f"^capacity must be at least 1, got {capacity}$"):
            kind(capacity, 0.01)

    @pytest.mark.parametrize("error_rate", [0, 1, -0.1, 1.5, math.nan])
    def test_an_error_rate_out_of_range_is_named(
        self, kind: type[AnyFilter], error_rate: float
    ) -> None:
        with pytest.raises(ParameterError, match=r"^error_rate must be between 0 and 1, got"):
            kind(100, error_rate)

    def test_more_memory_than_there_is_is_refused(self, kind: type[AnyFilter]) -> None:
        with pytest.raises(ParameterError, match=r"at most 2\*\*43 bits"):
            kind(10**15, 0.01)

    def test_a_file_keeps_everything(self, kind: type[AnyFilter], tmp_path: Path) -> None:
        filter_ = kind(300, 0.001)
        for number in range(1000):
            filter_.add(key(number))
        filter_.save(tmp_path / "seen.bloom")
        loaded = kind.load(str(tmp_path / "seen.bloom"))
        assert len(loaded) == len(filter_)
        assert (loaded.capacity, loaded.error_rate) == (filter_.capacity, filter_.error_rate)
        assert loaded.size_bytes == filter_.size_bytes
        for number in range(5000):
            assert (key(number) in loaded) == (key(number) in filter_)

    def test_a_loaded_filter_goes_on_as_the_saved_one(
        self, kind: type[AnyFilter], tmp_path: Path
    ) -> None:
        filter_ = kind(10, 0.01)
        filter_.save(tmp_path / "seen.bloom")
        loaded = kind.load(tmp_path / "seen.bloom")
        for number in range(100):
            assert loaded.add(key(number)) == filter_.add(key(number))
        assert loaded.capacity == filter_.capacity


class TestBloomFilter:
    @pytest.mark.parametrize("error_rate", [0.3, 0.1, 0.01, 0.001, 0.0001])
    @pytest.mark.parametrize("capacity", [1000, 20_000])
    def test_a_full_filter_is_wrong_as_often_as_promised(
        self, capacity: int, error_rate: float
    ) -> None:
        filter_ = BloomFilter(capacity, error_rate)
        number = 0
        while len(filter_) < capacity:
            filter_.add(key(number))
            number += 1
        asked = 50_000
        # Five standard deviations of the mean: the same keys in every run, so never by chance.
        spread = 5 * math.sqrt(error_rate / asked) + 0.05 * error_rate
        assert wrong_answers(filter_, asked) <= error_rate + spread

    def test_a_thousandth_takes_14_bits_and_a_half_a_key(self) -> None:
        filter_ = BloomFilter(1_000_000, 0.001)
        assert filter_.capacity == 1_000_000
        assert filter_.bits / 1_000_000 < 14.5
        assert filter_.size_bytes == filter_.bits // 8


class TestScalableBloomFilter:
    def test_it_grows_and_stays_as_right_as_promised(self) -> None:
        filter_ = ScalableBloomFilter(500, 0.01)
        for number in range(30_000):
            filter_.add(key(number))
        assert all(key(number) in filter_ for number in range(30_000))
        assert filter_.capacity == 500 * (2**6 - 1)
        assert wrong_answers(filter_, 50_000) <= 0.01

    def test_it_grows_by_doubling(self) -> None:
        filter_ = ScalableBloomFilter(4, 0.001)
        capacities = []
        for number in range(60):
            filter_.add(key(number))
            capacities.append(filter_.capacity)
        assert sorted(set(capacities)) == [4, 12, 28, 60]
        assert all(len_ + 1 <= capacity for len_, capacity in enumerate(capacities))

    def test_two_bytes_a_key_when_the_first_filter_is_full(self) -> None:
        filter_ = ScalableBloomFilter(1_000_000, 0.001)
        assert 1.9 < filter_.size_bytes / 1_000_000 < 2.05


class TestBloomProperties:
    @settings(deadline=None)
    @given(st.lists(st.binary(max_size=20)), st.sampled_from(KINDS), st.integers(1, 50))
    def test_whatever_was_added_is_stored(
        self, keys: list[bytes], kind: type[AnyFilter], capacity: int
    ) -> None:
        filter_ = kind(capacity, 0.01)
        new = [data for data in keys if filter_.add(data)]
        assert all(data in filter_ for data in keys)
        assert len(filter_) == len(new) == len(set(new))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    filter_ = ScalableBloomFilter(10, 0.1)
    for number in range(40):
        filter_.add(key(number))
    filter_.save(tmp_path / "seen.bloom")
    return tmp_path / "seen.bloom"


class TestDamage:
    def test_every_flipped_byte_is_found(self, path: Path) -> None:
        refuses_flipped_bytes(path, ScalableBloomFilter.load)

    def test_every_shorter_and_a_longer_file_is_found(self, path: Path) -> None:
        complaint = "expected an end after 3 filters, found more"
        refuses_other_lengths(path, ScalableBloomFilter.load, complaint)

    def test_another_file_is_named_with_what_to_do(self, path: Path) -> None:
        path.write_bytes(b"GIF89a" + bytes(100))
        with pytest.raises(IndexFileError) as caught:
            BloomFilter.load(path)
        assert str(caught.value) == (
            f"{path}: expected Bloom filters, starting with b'NDUPBLM\\n', "
            "found b'GIF89a\\x00\\x00'; restore it from a copy, or delete it and add its keys again"
        )

    def test_the_other_kind_is_named(self, path: Path) -> None:
        with pytest.raises(IndexFileError, match=r"load it with ScalableBloomFilter\.load"):
            BloomFilter.load(path)
        BloomFilter(10, 0.1).save(path)
        with pytest.raises(IndexFileError, match=r"load it with BloomFilter\.load"):
            ScalableBloomFilter.load(path)

    @pytest.mark.parametrize(
        ("place", "form", "value", "complaint"),
        [
            (8, "<I", 1, "expected version 2, found version 1"),
            (40, "<Q", 123, "found probe 000000000000007b; use the version of rbloom"),
        ],
    )
    def test_another_version_is_named(
        self, path: Path, place: int, form: str, value: int, complaint: str
    ) -> None:
        data = bytearray(path.read_bytes())
        struct.pack_into(form, data, place, value)
        struct.pack_into("<Q", data, 48, xxhash.xxh3_64_intdigest(bytes(data[:48])))
        path.write_bytes(data)
        with pytest.raises(IndexFileError, match=complaint):
            ScalableBloomFilter.load(path)

    @pytest.mark.parametrize(
        ("place", "form", "value"),
        [
            (56, "<Q", 2**40),
            (64, "<d", -1.0),
            (72, "<Q", 2**64 - 1),
            (88, "<Q", 2**64 - 1),  # bits that a key sets: to look one up would take for ever
            (88, "<Q", 0),
        ],
    )
    def test_what_no_filter_has_is_refused_though_its_checksums_are_right(
        self, path: Path, place: int, form: str, value: float
    ) -> None:
        data = bytearray(path.read_bytes())
        struct.pack_into(form, data, place, value)
        end = 88 + struct.unpack_from("<Q", data, 80)[0]
        for start, stop in ((0, 48), (56, end)):
            struct.pack_into("<Q", data, stop, xxhash.xxh3_64_intdigest(bytes(data[start:stop])))
        path.write_bytes(data)
        with pytest.raises(IndexFileError, match="expected filter"):
            ScalableBloomFilter.load(path)

    def test_a_file_without_filters_is_refused(self, path: Path) -> None:
        data = bytearray(path.read_bytes()[:56])
        struct.pack_into("<I", data, 16, 0)
        struct.pack_into("<Q", data, 48, xxhash.xxh3_64_intdigest(bytes(data[:48])))
        path.write_bytes(data)
        with pytest.raises(IndexFileError, match="expected filters of a Scalable"):
            ScalableBloomFilter.load(path)

    def test_a_missing_file_is_an_error_of_the_system(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError):
            BloomFilter.load(tmp_path / "none")

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is no file here")
    def test_a_failed_save_leaves_the_old_file(self, path: Path) -> None:
        before = path.read_bytes()
        with full_for(Path(f"{path}.tmp")), pytest.raises(OSError, match="No space left"):
            ScalableBloomFilter(1000, 0.01).save(path)
        assert path.read_bytes() == before
        assert os.listdir(path.parent) == [path.name]

    def test_the_bytes_are_those_of_the_documentation(self, path: Path) -> None:
        data = path.read_bytes()
        header = struct.unpack("<8sIIIIQdQQ", data[:56])
        assert header[:7] == (b"NDUPBLM\n", 2, 2, 3, 0, 10, 0.1)
        assert header[8] == xxhash.xxh3_64_intdigest(data[:48])
        place, capacities = 56, []
        for _ in range(3):
            capacity, _rate, keys, size = struct.unpack("<QdQQ", data[place : place + 32])
            end = place + 32 + size
            assert struct.unpack("<Q", data[end : end + 8])[0] == xxhash.xxh3_64_intdigest(
                data[place:end]
            )
            assert keys <= capacity
            capacities.append(capacity)
            place = end + 8
        assert place == len(data)
        assert capacities == [10, 20, 40]

    def test_the_bits_are_those_of_the_documentation(self, tmp_path: Path) -> None:
        filter_ = BloomFilter(100, 0.01)
        keys = [b"hello", bytes(range(16)), b"\xff" * 16]
        for data in keys:
            filter_.add(data)
        filter_.save(tmp_path / "seen.bloom")
        saved = (tmp_path / "seen.bloom").read_bytes()[56 + 32 : -8]
        bits_a_key, found = int.from_bytes(saved[:8], "little"), saved[8:]
        wanted = bytearray(len(found))
        for data in keys:
            state = int.from_bytes(xxhash.xxh3_128_digest(data), "little")
            for _ in range(bits_a_key):
                state = (state * 47026247687942121848144207491837418733 + 1) % 2**128
                bit = (state >> 32) % 2**64 % (8 * len(wanted))
                wanted[bit // 8] |= 1 << bit % 8
        assert found == wanted
