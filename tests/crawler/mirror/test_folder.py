from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest

from crawler.mirror.errors import (
    MirrorStorageError,
    MissingFileError,
    PathTakenError,
    SymbolicLinkError,
    UnsafePathError,
)
from crawler.mirror.folder import MirrorFolder

_ROOT = Path(__file__).parents[3]


def _partial(root: Path) -> list[str]:
    return os.listdir(root / ".mirror" / "partial")


class TestReadingAndWriting:
    def test_what_is_written_is_read_and_lies_below_the_root(
        self, mirror: MirrorFolder, root: Path
    ) -> None:
        mirror.write("h/a/b.html", b"first")
        mirror.write("h/a/b.html", b"")
        mirror.write("h/a/é.html", b"second")
        assert mirror.read("h/a/b.html") == b""
        assert mirror.read("h/a/é.html") == b"second"
        assert mirror.stat("h/a/é.html").st_size == 6
        assert mirror.stat("h/a/b.html").st_nlink == 1
        assert (root / "h" / "a" / "é.html").read_bytes() == b"second"
        assert not (root / "h" / "a" / "é.html").stat().st_mode & 0o111
        assert _partial(root) == []

    def test_what_is_not_there_is_said(self, mirror: MirrorFolder) -> None:
        mirror.write("h/a", b"")
        assert mirror.exists("h/a")
        assert not mirror.exists("h")
        assert not mirror.exists("h/b")
        assert not mirror.exists("g/b")
        assert not mirror.exists("h/a/b")
        for path in ("h/b", "g/b"):
            with pytest.raises(MissingFileError, match=path.partition("/")[0]):
                mirror.read(path)

    def test_paths_are_all_files_but_those_of_the_state(
        self, mirror: MirrorFolder, root: Path
    ) -> None:
        for path in ("h/b", "h/a/c", "index.html", "h/a/b", "g/x/y/z"):
            mirror.write(path, b"")
        (root / ".mirror" / "crawl.db").write_bytes(b"")
        (root / "outside").symlink_to(root.parent)
        assert list(mirror.paths()) == ["index.html", "g/x/y/z", "h/b", "h/a/b", "h/a/c"]

    def test_files_may_be_removed_while_their_paths_are_walked_over(
        self, mirror: MirrorFolder, root: Path
    ) -> None:
        for path in ("a", "h/a/b", "h/b"):
            mirror.write(path, b"")
        for path in mirror.paths():
            if path == "a":
                mirror.remove("h/a/b")
            else:
                mirror.remove(path)
        assert sorted(os.listdir(root)) == [".mirror", "a"]

    def test_removing_a_file_removes_folders_that_become_empty(
        self, mirror: MirrorFolder, root: Path
    ) -> None:
        mirror.write("h/a/b/c", b"")
        mirror.write("h/d", b"")
        mirror.remove("h/a/b/c")
        assert os.listdir(root / "h") == ["d"]
        with pytest.raises(MissingFileError):
            mirror.remove("h/a/b/c")
        mirror.write("h/a/b/c", b"again")
        assert mirror.read("h/a/b/c") == b"again"
        mirror.remove("h/a/b/c")
        mirror.remove("h/d")
        assert os.listdir(root) == [".mirror"]

    def test_a_file_is_dated_and_no_link_is_followed(
        self, mirror: MirrorFolder, root: Path
    ) -> None:
        mirror.write("h/a", b"text")
        mirror.date("h/a", 1_000_000)
        assert mirror.stat("h/a").st_mtime == 1_000_000
        outside = root.parent / "outside"
        outside.write_bytes(b"text")
        before = outside.stat().st_mtime
        (root / "h" / "link").symlink_to(outside)
        with pytest.raises(SymbolicLinkError):
            mirror.date("h/link", 1_000_000)
        assert outside.stat().st_mtime == before

    def test_more_folders_than_stay_open(self, mirror: MirrorFolder) -> None:
        paths = [f"h/{number}/a" for number in range(150)] + ["/".join("d" * 130)]
        for path in paths:
            mirror.write(path, path.encode())
        descriptors = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0
        assert [mirror.read(path).decode() for path in paths] == paths
        mirror.link("/".join("e" * 130), paths[-1])
        assert mirror.stat("/".join("e" * 130)).st_nlink == 2
        assert mirror.read("/".join("e" * 130)).decode() == paths[-1]
        if descriptors:
            assert len(os.listdir("/proc/self/fd")) <= descriptors

    def test_a_folder_that_is_closed_says_so(self, mirror: MirrorFolder, root: Path) -> None:
        mirror.write("h/a", b"")
        mirror.close()
        mirror.close()
        for path in ("a", "h/a", "g/a"):
            with pytest.raises(MirrorStorageError, match="Bad file descriptor"):
                mirror.write(path, b"")
        assert sorted(os.listdir(root)) == [".mirror", "h"]

    def test_read_only_makes_nothing_and_removes_nothing(self, root: Path) -> None:
        with pytest.raises(MirrorStorageError, match="mirror"):
            MirrorFolder(root, read_only=True)
        root.mkdir(parents=True)
        (root / "a").write_bytes(b"text")
        with MirrorFolder(root, read_only=True) as mirror:
            assert mirror.read("a") == b"text"
            with pytest.raises(MirrorStorageError, match="read only"):
                mirror.write("b", b"")
            with pytest.raises(MirrorStorageError, match="read only"):
                mirror.remove("a")
        assert os.listdir(root) == ["a"]


class TestLinks:
    def test_a_linked_file_is_one_file_with_two_names(self, mirror: MirrorFolder) -> None:
        mirror.write("h/a", b"text")
        mirror.write("g/b", b"other")
        mirror.link("g/b", "h/a")
        mirror.link("g/b", "h/a")  # already so
        mirror.link("h/a", "h/a")
        assert mirror.stat("g/b").st_ino == mirror.stat("h/a").st_ino
        assert mirror.stat("h/a").st_nlink == 2
        assert _partial(mirror.root) == []

    def test_writing_one_name_leaves_the_other(self, mirror: MirrorFolder) -> None:
        mirror.write("h/a", b"text")
        mirror.link("h/b", "h/a")
        mirror.write("h/b", b"changed")
        assert mirror.read("h/a") == b"text"
        assert mirror.stat("h/a").st_nlink == 1

    def test_a_file_system_without_hard_links_gets_copies_and_is_told_once(
        self,
        mirror: MirrorFolder,
        monkeypatch: pytest.MonkeyPatch,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        def refuse(*_: object, **__: object) -> None:
            raise OSError(errno.EPERM, os.strerror(errno.EPERM))  # as FAT and exFAT do

        monkeypatch.setattr(os, "link", refuse)
        mirror.write("h/a", b"text")
        with MirrorFolder(mirror.root) as again:
            for path in ("h/b", "h/c"):
                mirror.link(path, "h/a")
                again.link(path, "h/a")
                assert mirror.read(path) == b"text"
                assert mirror.stat(path).st_nlink == 1
        assert [record.getMessage() for record in caplog.records] == [
            f"{mirror.root}: a file cannot be linked there (Operation not permitted), so the same "
            "bytes are copied"
        ]
        assert _partial(mirror.root) == []

    def test_there_is_a_copy_where_no_further_link_can_be(self, mirror: MirrorFolder) -> None:
        mirror.write("h/a", b"text")
        most = os.pathconf(mirror.root, "PC_LINK_MAX")
        if most > 70_000:
            pytest.skip("this file system has no limit that could be met")
        links = mirror.root / "links"
        links.mkdir()
        for number in range(most - 2):
            os.link(mirror.root / "h" / "a", links / str(number))
        mirror.link("h/b", "h/a")
        assert mirror.stat("h/b").st_nlink == most
        mirror.link("h/c", "h/a")
        assert mirror.read("h/c") == b"text"
        assert mirror.stat("h/c").st_nlink == 1
        assert _partial(mirror.root) == []
        shutil.rmtree(links)

    def test_what_is_no_file_is_not_linked(self, mirror: MirrorFolder) -> None:
        mirror.write("h/a", b"")
        with pytest.raises(PathTakenError):
            mirror.link("b", "h")
        with pytest.raises(MissingFileError):
            mirror.link("b", "h/c")
        with pytest.raises(UnsafePathError):
            mirror.link("b", "../c")


class TestWhatStandsInTheWay:
    def test_a_link_to_a_folder_is_refused_and_named(
        self, mirror: MirrorFolder, root: Path, tmp_path: Path
    ) -> None:
        (root / "h").symlink_to(tmp_path)
        for deed in (
            lambda: mirror.write("h/a", b""),
            lambda: mirror.write("h/x/y/a", b""),
            lambda: mirror.read("h/a"),
            lambda: mirror.read("h"),
        ):
            with pytest.raises(SymbolicLinkError, match=f"{root}/h is a symbolic link"):
                deed()
        assert os.listdir(tmp_path) == ["sites"]

    @pytest.mark.parametrize("target", ["secret", "nothing", "folder", "sites/mirror/h/b"])
    def test_a_link_in_a_files_place_is_replaced_and_never_followed(
        self,
        mirror: MirrorFolder,
        root: Path,
        tmp_path: Path,
        caplog: pytest.LogCaptureFixture,
        target: str,
    ) -> None:
        (tmp_path / "secret").write_bytes(b"secret")
        (tmp_path / "folder").mkdir()
        mirror.write("h/b", b"other")
        for content in (b"new", b"other"):
            (root / "h" / "a").unlink(missing_ok=True)
            (root / "h" / "a").symlink_to(tmp_path / target)
            assert not mirror.exists("h/a")
            for refused in (
                lambda: mirror.read("h/a"),
                lambda: mirror.link("h/c", "h/a"),
                lambda: mirror.remove("h/a"),
            ):
                with pytest.raises(SymbolicLinkError, match="h/a is a symbolic link"):
                    refused()
            caplog.clear()
            if content == b"new":
                mirror.write("h/a", content)
            else:
                mirror.link("h/a", "h/b")
            assert [record.getMessage().partition(":")[0] for record in caplog.records] == [
                f"{root}/h/a is a symbolic link"
            ]
            assert not (root / "h" / "a").is_symlink()
            assert mirror.read("h/a") == content
        assert mirror.read("h/b") == b"other"
        assert (tmp_path / "secret").read_bytes() == b"secret"
        assert not (tmp_path / "nothing").exists()
        assert not list((tmp_path / "folder").iterdir())

    @pytest.mark.parametrize("moved", ["h", "h/a", "h/a/b"])
    def test_a_link_put_in_between_two_calls_is_refused(
        self, mirror: MirrorFolder, root: Path, tmp_path: Path, moved: str
    ) -> None:
        mirror.write("h/a/b/first", b"first")
        outside = tmp_path / "outside"
        (root / moved).rename(outside)
        (root / moved).symlink_to(outside)
        for deed in (
            lambda: mirror.write("h/a/b/second", b""),
            lambda: mirror.write("h/a/b/first", b""),
            lambda: mirror.read("h/a/b/first"),
            lambda: mirror.remove("h/a/b/first"),
        ):
            with pytest.raises(SymbolicLinkError, match=f"{moved} is a symbolic link"):
                deed()
        assert [path.read_bytes() for path in outside.rglob("first")] == [b"first"]
        assert not list(outside.rglob("second"))

    def test_a_folder_moved_away_is_not_written_to(
        self, mirror: MirrorFolder, root: Path, tmp_path: Path
    ) -> None:
        mirror.write("h/a/first", b"")
        (root / "h").rename(tmp_path / "outside")
        mirror.write("h/a/second", b"")
        assert os.listdir(tmp_path / "outside" / "a") == ["first"]
        assert os.listdir(root / "h" / "a") == ["second"]

    def test_the_state_may_be_no_link_and_the_root_may(self, tmp_path: Path) -> None:
        (tmp_path / "real").mkdir()
        (tmp_path / "root").symlink_to(tmp_path / "real")
        with MirrorFolder(tmp_path / "root") as mirror:
            mirror.write("h/a", b"text")
        assert (tmp_path / "real" / "h" / "a").read_bytes() == b"text"
        (tmp_path / "elsewhere" / "partial").mkdir(parents=True)
        (tmp_path / "elsewhere" / "partial" / "mine").touch()
        (tmp_path / "second").mkdir()
        (tmp_path / "second" / ".mirror").symlink_to(tmp_path / "elsewhere")
        with pytest.raises(SymbolicLinkError, match=r"\.mirror is a symbolic link"):
            MirrorFolder(tmp_path / "second")
        assert (tmp_path / "elsewhere" / "partial" / "mine").exists()

    def test_things_of_another_kind_are_refused_and_named(
        self, mirror: MirrorFolder, root: Path
    ) -> None:
        mirror.write("h/a/b", b"")
        os.mkfifo(root / "h" / "pipe")
        for path in ("h/a", "h/a/b/c", "h/a/b/c/d", "h/pipe"):
            with pytest.raises(PathTakenError, match="h/"):
                mirror.write(path, b"")
            with pytest.raises(PathTakenError, match="h/"):
                mirror.read(path)
        assert _partial(root) == []

    def test_a_root_that_is_a_file_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        for root in (tmp_path / "file", tmp_path / "file" / "below"):
            with pytest.raises(MirrorStorageError, match="file"):
                MirrorFolder(root)
