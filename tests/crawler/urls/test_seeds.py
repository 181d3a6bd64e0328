from __future__ import annotations

import re

import pytest
from hypothesis import given

from crawler.urls.canonical import Canonicalizer, MalformedUrl
from crawler.urls.seeds import check_seed, host_folder
from tests.crawler.urls.strategies import texts

canonical = Canonicalizer()
EXAMPLE = "type one such as https://docs.python.org/3/"

REFUSED = [
    ("", f"no URL was given: {EXAMPLE}"),
    (" \n", f"no URL was given: {EXAMPLE}"),
    (
        "docs.python.org/3",
        "'docs.python.org/3' has no scheme: did you mean https://docs.python.org/3 ?",
    ),
    ("//h.org/a", "'//h.org/a' has no scheme: did you mean https://h.org/a ?"),
    (
        "localhost:8000/x",
        "'localhost:8000/x' has no scheme: did you mean http://localhost:8000/x ?",
    ),
    ("10.0.0.1", "'10.0.0.1' has no scheme: did you mean http://10.0.0.1 ?"),
    ("h.org:8080", "'h.org:8080' has no scheme: did you mean https://h.org:8080 ?"),
    ("https//h.org", "'https//h.org' has no scheme: did you mean https://h.org ?"),
    ("/home/me/urls.txt", f"'/home/me/urls.txt' has no scheme: {EXAMPLE}"),
    ("./urls", f"'./urls' has no scheme: {EXAMPLE}"),
    ("???", f"'???' has no scheme: {EXAMPLE}"),
    ("h.org:a/b", f"'h.org:a/b' has no scheme: {EXAMPLE}"),
    ("http:/h.org/a", "'http:/h.org/a' has no host: did you mean http://h.org/a ?"),
    ("https:h.org", "'https:h.org' has no host: did you mean https://h.org ?"),
    ("https:///h.org", "'https:///h.org' has no host: did you mean https://h.org ?"),
    ("https://", f"'https://' has no host: {EXAMPLE}"),
    ("https://?a", f"'https://?a' has no host: {EXAMPLE}"),
    ("https://:80/", "'https://:80/' has no host"),
    (
        "http://me:secret@h.org/",
        "a user name or password stands before 'h.org': leave it out, and put HTTPAUTH_USER and "
        "HTTPAUTH_PASS into the environment",
    ),
    (
        "https://me@h.org:8/?a b",
        "a user name or password stands before 'h.org:8': leave it out, and put HTTPAUTH_USER and "
        "HTTPAUTH_PASS into the environment",
    ),
    ("ftp://h.org/", "'ftp://h.org/' begins with 'ftp', but only http and https are fetched"),
    ("htps://h.org/", "'htps://h.org/' begins with 'htps', but only http and https are fetched"),
    (
        "mailto:a@h.org",
        "'mailto:a@h.org' begins with 'mailto', but only http and https are fetched",
    ),
    (
        "https://h.org/a b",
        "'https://h.org/a b' has a space in it: did you mean https://h.org/a%20b ?",
    ),
    ("https://h .org/", f"'https://h .org/' has a space in it: {EXAMPLE}"),
    (
        "http://a.org http://b.org",
        "'http://a.org http://b.org' has a space in it: put a comma between two URLs",
    ),
    ("http://h\n.org/", f"'http://h\\n.org/' has a space in it: {EXAMPLE}"),
    ("http://h:x/", "'http://h:x/' has a bad port: a number up to 65535 is wanted"),
    ("http://h:70000", "'http://h:70000' has a bad port: a number up to 65535 is wanted"),
    ("http://h:0/", "'http://h:0/' has port 0, to which nothing can be sent"),
    ("http://h..org/", "'http://h..org/' has a dot too many in its host"),
    ("http://[::1", "'http://[::1' has brackets without an IPv6 address"),
    ("http://1.2.3.256/", "'1.2.3.256' is no IPv4 address"),
    ("http://a|b/", "'a|b' has a character that no host has"),
]

FOLDERS = [
    ("https://Docs.Python.org/3/", "docs.python.org"),
    ("http://h.org:80", "h.org"),
    ("https://h.org:443/", "h.org"),
    ("http://h.org:443/", "h.org_443"),
    ("http://localhost:8000/a", "localhost_8000"),
    ("http://u:p@127.0.0.1:8000/", "127.0.0.1_8000"),
    ("http://[2001:DB8::1]:8080/", "ipv6-2001-db8--1_8080"),
    ("http://[::1]/", "ipv6---1"),
    ("http://bücher.ch/", "xn--bcher-kva.ch"),
    ("http://h.org./", "h.org"),
    ("http://a_b.org/", "a_b.org"),
]


class TestCheckSeed:
    @pytest.mark.parametrize(("text", "message"), REFUSED)
    def test_bad_seed_is_answered_with_what_to_type(self, text: str, message: str) -> None:
        with pytest.raises(MalformedUrl) as caught:
            check_seed(text)
        assert str(caught.value) == message

    @pytest.mark.parametrize(
        "url",
        [
            "https://docs.python.org/3/",
            "HTTP://H.org:8080?a=%zz#b",
            "http://bücher.ch/ü",
            "http://localhost:8000",
            "http://[::1]:8000/a",
            "http://2130706433/",
            "http://@h.org/",
            "http://h.org./a,b",
            "http://h\\a",
        ],
    )
    def test_good_seed_is_returned_as_it_was_written(self, url: str) -> None:
        assert check_seed(f" {url}\n") == url

    @given(texts)
    def test_any_text_is_a_url_or_answered_in_one_line(self, text: str) -> None:
        try:
            seed = check_seed(text)
        except MalformedUrl as error:
            message = str(error)
        else:
            assert seed == text.strip()
            assert canonical(seed)
            return
        assert message.isprintable()

    @given(texts)
    def test_what_is_suggested_would_be_accepted(self, text: str) -> None:
        try:
            check_seed(text)
        except MalformedUrl as error:
            suggested = re.search(r"did you mean (.*) \?$", str(error))
            if suggested:
                assert check_seed(suggested[1]) == suggested[1]

    def test_long_text_is_shortened(self) -> None:
        with pytest.raises(MalformedUrl) as caught:
            check_seed("x" * 100_000)
        assert len(str(caught.value)) < 300


class TestHostFolder:
    @pytest.mark.parametrize(("url", "folder"), FOLDERS)
    def test_folder_is_the_host_and_a_port_that_is_not_the_default(
        self, url: str, folder: str
    ) -> None:
        assert host_folder(url) == folder

    @pytest.mark.parametrize(
        "host", ["..", ".", ".hidden", "-rf", "a$(b)", "~", "a" * 63 + ".b" * 60]
    )
    def test_host_that_is_no_file_name_gets_a_digest(self, host: str) -> None:
        folder = host_folder(f"http://{host}:8080/")
        assert re.fullmatch(r"[a-z0-9_][a-z0-9._-]*-[0-9a-f]{16}_8080", folder)
        assert len(folder) <= 100

    def test_hosts_that_look_alike_as_folders_stay_apart(self) -> None:
        assert host_folder("http://a$b/") != host_folder("http://a!b/")

    def test_malformed_url_has_no_folder(self) -> None:
        with pytest.raises(MalformedUrl):
            host_folder("http:///etc/passwd")

    @given(texts)
    def test_folder_never_leaves_its_parent(self, text: str) -> None:
        try:
            folder = host_folder(text)
        except MalformedUrl:
            return
        assert re.fullmatch(r"[a-z0-9_][a-z0-9._-]{0,99}", folder)
        assert not folder.endswith(".")
