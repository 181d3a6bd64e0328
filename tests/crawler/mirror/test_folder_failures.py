from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from crawler.mirror.errors import (
    MirrorError,
    MirrorStorageError,
)
from crawler.mirror.folder import MirrorFolder
from tests.damage import largest_file
from tests.waiting import some_moment

_ROOT = Path(__file__).parents[3]


def _partial(root: Path) -> list[str]:
    return os.listdir(root / ".mirror" / "partial")


class TestFailures:
    def test_a_full_disk_leaves_the_old_file_and_says_which(self, mirror: MirrorFolder) -> None:
        mirror.write("h/a", b"old")
        with (
            largest_file(4096),
            pytest.raises(MirrorStorageError, match="h/a cannot be written: File"),
        ):
            mirror.write("h/a", b"new" * 10_000)
        assert mirror.read("h/a") == b"old"
        assert _partial(mirror.root) == []

    def test_without_hard_links_a_copy_is_written_piece_by_piece(
        self, mirror: MirrorFolder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_: object, **__: object) -> None:
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

        def read(*_: object) -> bytes:
            raise MemoryError

        mirror.write("h/a", b"many bytes")
        mirror.write("h/c", b"other ones")
        monkeypatch.setattr(os, "link", refuse)
        with monkeypatch.context() as during:
            during.setattr(MirrorFolder, "read", read)
            for path in ("h/b", "h/c", "h/b"):
                mirror.link(path, "h/a")
        assert mirror.read("h/b") == mirror.read("h/c") == b"many bytes"
        assert mirror.stat("h/b").st_ino != mirror.stat("h/a").st_ino

    def test_a_folder_without_permission_is_said(self, root: Path) -> None:
        script = """if True:
            (mirror.root / "h").mkdir()
            (mirror.root / "h").chmod(0o555)
            (mirror.root / ".mirror" / "partial").chmod(0o777)
            if os.getuid() == 0:
                os.setuid(65534)
            try:
                mirror.write("h/a", b"")
            except MirrorStorageError as error:
                print(error)
            """
        answer = subprocess.check_output(
            [sys.executable, "-c", _script(script, root)], cwd=_ROOT, text=True
        )
        assert answer == f"{root}/h/a cannot be written: Permission denied\n"
        assert os.listdir(root / "h") == []
        assert _partial(root) == []

    def test_a_name_too_long_for_the_file_system_is_an_error_of_the_mirror(
        self, mirror: MirrorFolder
    ) -> None:
        for path in ("x" * 300, "x" * 300 + "/a", "\x01\u202e" + "é" * 200):
            with pytest.raises(MirrorError):
                mirror.write(path, b"")

    def test_a_killed_process_leaves_the_old_or_the_new_file(self, root: Path) -> None:
        contents = [bytes([byte]) * 3_000_000 for byte in b"ab"]
        with MirrorFolder(root) as mirror:
            mirror.write("h/file", contents[0])
        chance = Random(3)
        for _ in range(6):
            _kill_while_writing(root, chance)
            found = (root / "h" / "file").read_bytes()
            assert found in contents
            assert os.listdir(root / "h") == ["file"]
        (root / ".mirror" / "partial" / "1-0").write_bytes(b"half")
        with MirrorFolder(root) as mirror:
            assert _partial(root) == []
            assert list(mirror.paths()) == ["h/file"]


def _kill_while_writing(root: Path, chance: Random) -> None:
    script = """if True:
        contents = [bytes([byte]) * 3_000_000 for byte in b"ab"]
        print("ready", flush=True)
        for number in range(1_000):
            mirror.write("h/file", contents[number % 2])
        """
    process = subprocess.Popen(
        [sys.executable, "-c", _script(script, root)], cwd=_ROOT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    some_moment(chance, 0.03)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    process.stdout.close()


def _script(deed: str, root: Path) -> str:
    return (
        "import os\n"
        "from pathlib import Path\n"
        "from crawler.mirror.errors import MirrorStorageError\n"
        "from crawler.mirror.folder import MirrorFolder\n"
        f"mirror = MirrorFolder(Path({str(root)!r}))\n{deed}"
    )
