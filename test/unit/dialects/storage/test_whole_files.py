"""Files are written whole or not at all, by any number of writers, and nothing of theirs stays behind."""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ipu_mlir.dialects.storage.whole_files import STATE, Kind, make_folder, remove_abandoned, unfinished, write_whole
from ipu_mlir.dialects.support.errors import IpuError

_KILLED = """
import os, signal, sys
from ipu_mlir.dialects.storage.whole_files import STATE, unfinished
with unfinished(sys.argv[1], STATE) as file:
    file.write(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def killed_while_writing(path: Path) -> None:
    """Leave what a writer of ``path`` leaves that is killed."""
    done = subprocess.run([sys.executable, "-c", _KILLED, str(path)], check=False)
    assert done.returncode == -signal.SIGKILL


@pytest.fixture
def no_more_than_a_page() -> Iterator[int]:
    """The largest file that this process may write."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    yield 4096
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_what_a_killed_writer_left_is_removed_by_the_next_one(tmp_path: Path) -> None:
    path = tmp_path / "out"
    killed_while_writing(path)
    (left,) = os.listdir(tmp_path)
    assert left.startswith(".ipu-mlir-") and left.endswith(".unfinished")
    write_whole(path, b"whole")
    assert os.listdir(tmp_path) == ["out"] and path.read_bytes() == b"whole"


def test_what_a_living_writer_has_stays(tmp_path: Path) -> None:
    with unfinished(tmp_path / "slow", STATE) as file:
        file.write(b"slow")
        write_whole(tmp_path / "quick", b"quick")
        remove_abandoned(str(tmp_path))
        assert len(os.listdir(tmp_path)) == 2
    assert sorted(os.listdir(tmp_path)) == ["quick", "slow"] and (tmp_path / "slow").read_bytes() == b"slow"


def test_only_files_of_ours_are_removed(tmp_path: Path) -> None:
    ours = ".ipu-mlir-0123456789abcdef.unfinished"
    (tmp_path / "mine").write_text("mine")
    (tmp_path / ".ipu-mlir-notes.unfinished").write_text("mine")
    (tmp_path / f"{ours}.bak").write_text("mine")
    (tmp_path / ".ipu-mlir-0123456789abcde0.unfinished").mkdir()
    (tmp_path / ".ipu-mlir-0123456789abcde1.unfinished").symlink_to("mine")
    before = sorted(os.listdir(tmp_path))
    (tmp_path / ours).write_text("left")
    remove_abandoned(str(tmp_path))
    assert sorted(os.listdir(tmp_path)) == before


def test_threads_that_write_one_file_leave_that_of_one_of_them(tmp_path: Path) -> None:
    path, contents = tmp_path / "out", [bytes([number]) * 100_000 for number in range(40)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda content: write_whole(path, content), contents))
    assert path.read_bytes() in contents and os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
@pytest.mark.parametrize("kind", [Kind(), STATE])
def test_mode_and_links_are_kept(tmp_path: Path, mode: int, kind: Kind) -> None:
    path, link = tmp_path / "out", tmp_path / "link"
    path.write_text("old")
    path.chmod(mode)
    link.symlink_to("out")
    write_whole(link, b"new", kind)
    assert link.is_symlink() and path.read_text() == "new" and path.stat().st_mode & 0o777 == mode


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_the_owner_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("old")
    os.chown(path, 1234, 4321)
    write_whole(path, b"new")
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 4321)


_UNPRIVILEGED = """
import os, sys
from ipu_mlir.dialects.storage.whole_files import STATE, write_whole
from ipu_mlir.dialects.support.errors import IpuError
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
try:
    write_whole(sys.argv[1], b"new", STATE)
except IpuError as error:
    print(error)
"""


def said_without_privileges(path: Path) -> str:
    return subprocess.run([sys.executable, "-c", _UNPRIVILEGED, path], capture_output=True, text=True).stdout.strip()


@pytest.fixture
def open_folder(tmp_path: Path) -> Path:
    """A folder that every user may reach."""
    for each in (tmp_path, *(parent for parent in tmp_path.parents if "pytest-of-" in str(parent))):
        each.chmod(0o777)
    return tmp_path


def test_a_file_that_may_only_be_read_is_not_replaced(open_folder: Path) -> None:
    path = open_folder / "out"
    path.write_text("old")
    path.chmod(0o444)
    assert said_without_privileges(path) == f"cannot write {path}: Permission denied"
    assert path.read_text() == "old"


def test_a_folder_that_may_only_be_read_gets_no_file(open_folder: Path) -> None:
    folder = open_folder / "there"
    folder.mkdir()
    folder.chmod(0o555)
    assert said_without_privileges(folder / "out") == f"cannot write {folder / 'out'}: Permission denied"
    folder.chmod(0o755)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("absent/below/out", "No such file or directory: there is no folder {folder}/absent"),
        ("file/out", "Not a directory: {folder}/file is a file, not a folder"),
        ("file/below/out", "Not a directory: {folder}/file is a file, not a folder"),
        ("folder", "Is a directory"),
        ("new/", "Is a directory"),
        ("pipe", "it is no regular file"),
        ("a\0b", "embedded null byte"),
        ("n" * 300, "File name too long"),
    ],
)
def test_a_place_where_no_file_can_be_is_said(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / "file").write_text("old")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    path = f"{tmp_path}/{name}"
    with pytest.raises(IpuError) as raised:
        write_whole(path, b"new")
    assert str(raised.value) == f"cannot write {path}: {said.format(folder=tmp_path)}"
    assert sorted(os.listdir(tmp_path)) == ["file", "folder", "pipe"]


def test_a_folder_whose_names_may_not_be_read_gets_a_file(open_folder: Path) -> None:
    folder = open_folder / "there"
    folder.mkdir()
    folder.chmod(0o333)
    assert said_without_privileges(folder / "out") == ""
    folder.chmod(0o755)
    assert (folder / "out").read_bytes() == b"new" and os.listdir(folder) == ["out"]


def test_an_empty_name_is_said() -> None:
    with pytest.raises(IpuError, match="the name of the file is empty"):
        write_whole("", b"new")


def test_a_file_that_is_too_large_is_said_with_its_size(tmp_path: Path, no_more_than_a_page: int) -> None:
    path = tmp_path / "out"
    path.write_text("old")
    with pytest.raises(IpuError, match=r"File too large: it needs 5,000 B, and the most .* is 4,096 B"):
        write_whole(path, bytes(5000))
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["out"]


def test_a_folder_is_made_or_refused_in_words(tmp_path: Path) -> None:
    make_folder(tmp_path / "a" / "b")
    make_folder(tmp_path / "a" / "b")
    (tmp_path / "file").write_text("")
    for name in ("file", "file/below"):
        with pytest.raises(IpuError, match=r"cannot make the folder .*: a file is in its place"):
            make_folder(tmp_path / name)


def test_an_error_of_the_writer_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), unfinished(path, STATE) as file:
        file.write(b"new")
        raise KeyboardInterrupt
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["out"]


def test_a_file_of_its_own_time_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "out"
    with pytest.raises(FileExistsError), unfinished(path, Kind(replaces=False)) as file:
        file.write(b"new")
        path.write_text("another's")
    assert path.read_text() == "another's" and os.listdir(tmp_path) == ["out"]
