"""``crawl-once label`` as a user runs it."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from tests.crawler.commands.in_process import Done, run
from tests.crawler.commands.lab_crawl import BASE, make_lab_crawl

if TYPE_CHECKING:
    from pathlib import Path

A, NEAR, FAR = f"{BASE}/a", f"{BASE}/one-word", f"{BASE}/five-words"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_lab_crawl(tmp_path_factory.mktemp("label") / "job")


@pytest.fixture
def folder(template: Path, tmp_path: Path) -> Path:
    return shutil.copytree(template, tmp_path / "job")


def label(folder: Path, *arguments: str, keys: str = "") -> Done:
    done = run("label", str(folder), *arguments, stdin=keys)
    assert done.returncode == 0, done.stderr
    return done


def labels(folder: Path) -> dict[tuple[str, str], str]:
    """By the URLs, sorted."""
    lines = label(folder, "--export", "-").stdout.splitlines()
    found = map(json.loads, lines)
    return {
        (min(one["first_url"], one["second_url"]), max(one["first_url"], one["second_url"])): one[
            "label"
        ]
        for one in found
    }


class TestKeys:
    def test_each_key_is_kept_at_once(self, folder: Path) -> None:
        done = label(folder, keys="d\nn\n")
        assert sorted(labels(folder).values()) == ["different", "duplicate"]
        assert "d = duplicate, n = not" in done.stdout
        last = done.stdout.splitlines()[-1]
        assert last.startswith("labelled: 2 of ")
        assert last.endswith("(1 duplicate, 1 different); 2 labels in all")

    def test_pairs_are_shown_with_their_differences(self, folder: Path) -> None:
        done = label(folder, keys="q\n")
        assert BASE in done.stdout
        assert "[-" in done.stdout
        assert "{+" in done.stdout
        assert labels(folder) == {}

    def test_skipped_pair_has_no_label_and_another_key_asks_again(self, folder: Path) -> None:
        done = label(folder, keys="s\nwhat\n\nD\nq\n")
        assert len(labels(folder)) == 1
        assert done.stdout.count("d = duplicate, n = not") == 2

    def test_going_back_changes_what_was_said(self, folder: Path) -> None:
        label(folder, keys="d\nb\nn\nq\n")
        assert list(labels(folder).values()) == ["different"]

    def test_going_back_and_removing_takes_the_label_away(self, folder: Path) -> None:
        label(folder, keys="b\nd\nb\nr\nq\n")
        assert labels(folder) == {}

    def test_what_is_labelled_is_not_asked_again(self, folder: Path) -> None:
        first = label(folder, keys="d\n" * 50)
        count = int(first.stdout.splitlines()[-1].split()[1])
        assert len(labels(folder)) == count
        assert "all pairs at these distances are labelled" in label(folder).stdout


def test_two_urls_are_labelled_and_listed(folder: Path) -> None:
    done = label(folder, "--pair", A, NEAR, "duplicate")
    assert done.stdout.startswith("duplicate  ")
    label(folder, "--pair", FAR, A, "different")
    assert labels(folder) == {(A, NEAR): "duplicate", (A, FAR): "different"}
    label(folder, "--pair", NEAR, A, "different")
    assert labels(folder)[A, NEAR] == "different"
    assert len(label(folder, "--list").stdout.splitlines()) == 2
    assert "label removed" in label(folder, "--remove", A, NEAR).stdout
    assert labels(folder) == {(A, FAR): "different"}


def test_labels_show_in_pairs(folder: Path) -> None:
    label(folder, "--pair", A, NEAR, "duplicate")
    assert "[duplicate]" in run("pairs", str(folder)).stdout


def test_labels_go_from_one_crawl_to_another(folder: Path, template: Path, tmp_path: Path) -> None:
    label(folder, "--pair", A, NEAR, "duplicate")
    label(folder, "--pair", A, FAR, "different")
    file = tmp_path / "labels.jsonl"
    assert label(folder, "--export", str(file)).stdout == f"2 labels in {file}\n"
    other = shutil.copytree(template, tmp_path / "other")
    assert " taken from" in label(other, "--import", str(file)).stdout
    assert labels(other) == labels(folder)
    third = shutil.copytree(template, tmp_path / "third")
    label(third, "--import", "-", keys=file.read_text())
    assert labels(third) == labels(folder)


def test_labels_of_a_file_stand_beside_it(template: Path, tmp_path: Path) -> None:
    file = tmp_path / "pages.jsonl"
    assert run("pages", str(template), "-o", str(file), "--verdict", "kept").returncode == 0
    label(file, "--pair", A, FAR, "different")
    assert labels(file) == {(A, FAR): "different"}
    assert (tmp_path / "pages.jsonl.labels.jsonl").is_file()


def test_bad_file_of_labels_changes_nothing(folder: Path, tmp_path: Path) -> None:
    label(folder, "--pair", A, NEAR, "duplicate")
    before = label(folder, "--export", "-").stdout
    file = tmp_path / "labels.jsonl"
    file.write_text(before.replace("duplicate", "different") + "{}\n")
    done = run("label", str(folder), "--import", str(file))
    assert done.returncode == 2
    assert "labels.jsonl, line 2: no label" in done.stderr
    assert label(folder, "--export", "-").stdout == before


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--pair", A, NEAR, "duplicat"), "did you mean duplicate?"),
        (("--pair", A, f"{BASE}/on-word", "different"), f"did you mean {NEAR}?"),
        (("--pair", A, A, "different"), "say the same, word for word"),
        (("--remove", A, NEAR), "are not labelled"),
        (("--list", "--export", "-"), "--export and --list cannot be combined; give one of them"),
        (("--import", "nowhere"), "--import nowhere: No such file"),
        (("--export", "nowhere/x"), "--export nowhere/x: No such file"),
        (("--distance", "9"), "--distance takes bits"),
        (("--lst",), "did you mean --list?"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(
    template: Path, arguments: tuple[str, ...], complaint: str
) -> None:
    done = run("label", str(template), *arguments)
    assert done.returncode == 2, done.stdout
    assert complaint in done.stderr
    assert len(done.stderr.splitlines()) == 1
