"""Which hosts are private, and which answers of name servers may be used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.urls.private_hosts import AddressGuard, is_private, may_resolve

if TYPE_CHECKING:
    from ipaddress import IPv4Address, IPv6Address

PRIVATE = [
    # Loopback, in the spellings that resolvers accept.
    *("127.0.0.1", "127.0.0.1.", "127.1", "127.255.255.254", "2130706433", "0x7f000001", "0X7F.1"),
    *(
        "0177.0.0.1",
        "017700000001",
        "0x7f.0.0x0.01",
        "%31%32%37.0.0.1",
        "１２７.0.0.1",
        "127。0。0。1",
    ),
    *("0.0.0.0", "0", "0x", "0.1.2.3"),
    *(
        "10.0.0.1",
        "012.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.0.1",
        "192.168.257",
        "169.254.1.1",
    ),
    *("100.64.0.1", "100.127.255.255", "192.0.0.1", "198.18.0.1", "198.19.255.255"),
    *("192.0.2.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1", "255.255.255.255"),
    # IPv6, with brackets and without.
    *("::1", "[::1]", "[0:0:0:0:0:0:0:1]", "::", "[::]", "fe80::1", "[FE80::1]", "fe80::1%eth0"),
    *("[fe80::1%25eth0]", "febf::1", "fc00::1", "fdff::1", "fec0::1", "ff02::1", "2001:db8::1"),
    *("100::1", "64:ff9b:1::1", "3fff::1", "5f00::1", "5f00:ffff::1", "2001:10::1", "2001:1f::1"),
    *("100:0:0:1::1", "2001:2::1"),
    # Those that carry an IPv4 address: mapped, compatible, translated, NAT64, 6to4, Teredo.
    *("::ffff:127.0.0.1", "::ffff:7f00:1", "[::FFFF:10.0.0.1]", "::127.0.0.1", "::ffff:0:10.0.0.1"),
    *("64:ff9b::10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "2002:c0a8:1::1"),
    *("2001:0:1:2:3:4:80ff:fffe", "2001:0:1:2:3:4:f5ff:fffe"),
    # Names.
    *("localhost", "LOCALHOST", "localhost.", "a.localhost", "localhost.localdomain", "ｌocalhost"),
    *("printer.local", "metadata.google.internal", "nas.home.arpa", "home.arpa"),
    *("intranet", "metadata", "local"),
    # No host at all.
    *("", ".", "..", " ", "a b", "1.2.3.4.5", "256.1.1.1", "1.2.3.08", "[::1", "[]", "::1::2"),
    *("127.0.0.1:80", "\ud800", "x" * 100_000, "9" * 100_000),
]
PUBLIC = [
    *(
        "1.1.1.1",
        "8.8.8.8",
        "134744072",
        "0x08.8.8.8",
        "9.255.255.255",
        "11.0.0.0",
        "126.255.255.255",
    ),
    *("128.0.0.0", "100.63.255.255", "100.128.0.0", "169.253.0.1", "172.15.0.1", "172.32.0.1"),
    *("192.167.0.1", "192.169.0.1", "198.17.0.1", "198.20.0.1", "223.255.255.255"),
    *("5eff::1", "5f01::1", "2001:0f::1", "2001:20::1", "100:0:0:2::1"),
    *("2606:4700::1111", "[2a00:1450::1]", "2001:4860:4860::8888", "fbff::1"),
    *("::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1", "2001:0:1:2:3:4:f7f7:f7f7"),
    *("python.org", "Docs.Python.org.", "bücher.ch", "xn--bcher-kva.ch", "a_b.example.com"),
    *("localhost.org", "notlocalhost.org", "internal.org", "local.example", "10.0.0.1.nip.io"),
    *("127.0.0.1.example.org", "127.org"),
]


@pytest.mark.parametrize("host", PRIVATE, ids=lambda host: ascii(host[:30]))
def test_host_that_leads_into_a_private_network_is_private(host: str) -> None:
    assert is_private(host)


@pytest.mark.parametrize("host", PUBLIC)
def test_any_other_host_is_public(host: str) -> None:
    assert not is_private(host)


class TestIsPrivateProperties:
    @given(st.text())
    def test_never_raises(self, host: str) -> None:
        assert is_private(host) in (True, False)

    @given(st.ip_addresses(v=4))
    def test_every_spelling_of_an_ipv4_address_is_judged_alike(self, address: IPv4Address) -> None:
        number = int(address)
        a, b, c, d = number.to_bytes(4)
        spellings = [
            *(str(number), hex(number), f"0{number:o}", f"{a}.{number & 0xFFFFFF}"),
            *(f"{a:#x}.{b}.{c << 8 | d}", f"{a}.{b}.{c}.{d}.", f"0{a:o}.{b:#X}.{c}.{d}"),
            *(f"::ffff:{a}.{b}.{c}.{d}", f"[::ffff:{number >> 16:x}:{number & 0xFFFF:x}]"),
            *(f"64:ff9b::{a}.{b}.{c}.{d}", f"2002:{number >> 16:x}:{number & 0xFFFF:x}::1"),
        ]
        assert {is_private(spelling) for spelling in spellings} == {is_private(str(address))}

    @given(st.ip_addresses())
    def test_what_python_calls_private_is_not_called_public(
        self, address: IPv4Address | IPv6Address
    ) -> None:
        # Python calls all of 2001::/23 private, in which Teredo leads to the public too.
        if address.is_private and not str(address).startswith("2001:"):
            assert is_private(str(address))


INSIDE = "10.0.0.1"
PUBLIC_ADDRESS = "93.184.215.14"


@pytest.mark.parametrize("address", [INSIDE, "127.0.0.1", "169.254.169.254", "0.0.0.0"])
def test_a_name_that_a_public_page_led_to_is_not_private(address: str) -> None:
    guard = AddressGuard()
    guard.note_asked("x.example.com", allowed=False)
    assert not may_resolve("x.example.com", address)
    assert guard.is_private("x.example.com")


def test_a_public_answer_may_be_used() -> None:
    guard = AddressGuard()
    guard.note_asked("x.example.com", allowed=False)
    assert may_resolve("x.example.com", PUBLIC_ADDRESS)
    assert not guard.is_private("x.example.com")


def test_a_name_that_nobody_asked_for_is_nobodys_business() -> None:
    guard = AddressGuard()
    assert may_resolve("proxy.example.com", INSIDE)
    assert guard.allows("proxy.example.com") is None


def test_a_start_may_be_private_and_lead_on() -> None:
    guard = AddressGuard(["start.example.com"])
    guard.note_asked("start.example.com", allowed=False)
    assert may_resolve("start.example.com", INSIDE)
    assert guard.may_lead("start.example.com", "other.example.com")
    guard.note_asked("other.example.com", allowed=True)
    assert may_resolve("other.example.com", INSIDE)


def test_a_name_private_by_its_spelling_was_judged_before() -> None:
    guard = AddressGuard()
    guard.note_asked("localhost", allowed=False)
    assert may_resolve("localhost", "127.0.0.1")


def test_crawls_of_one_process_do_not_forbid_each_other_anything() -> None:
    strict, free = AddressGuard(), AddressGuard()
    strict.note_asked("shared.example.com", allowed=False)
    free.note_asked("shared.example.com", allowed=True)
    assert may_resolve("shared.example.com", INSIDE)
    assert strict.is_private("shared.example.com")


def test_what_a_private_start_led_to_is_remembered_for_the_next_process() -> None:
    found: list[str] = []
    guard = AddressGuard(["intranet.test"], remember=found.append)
    guard.note_asked("wiki.test", allowed=True)
    guard.note_asked("hostile.test", allowed=False)
    for name in ("intranet.test", "wiki.test", "hostile.test", "wiki.test"):
        guard.note_private(name)
    assert found == ["intranet.test", "wiki.test"]
    assert AddressGuard(["intranet.test"], found).may_lead("intranet.test", "wiki.test")
    assert not AddressGuard(["intranet.test"]).may_lead("intranet.test", "wiki.test")
