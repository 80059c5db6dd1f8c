"""Arrays in files: made once, mapped by all, with their bytes on the disk before."""

import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ipu_mlir.dialects.storage.array_files import ArrayFile, ArrayFileError

SHAPE, DTYPE = (8, 16), np.dtype(np.float32)


def opened(path: Path | str, begin: Callable[[np.ndarray], None] = lambda array: None) -> ArrayFile:
    return ArrayFile(path, SHAPE, DTYPE, begin)


def ones(array: np.ndarray) -> None:
    array[...] = 1


def header(text: str) -> bytes:
    """A file of this header; its length is a multiple of 64, as NumPy has it."""
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


def described(dtype: str = "'<f4'", order: str = "False", shape: str = "(8, 16)") -> bytes:
    return header(f"{{'descr': {dtype}, 'fortran_order': {order}, 'shape': {shape}, }}")


def test_a_new_file_is_as_numpy_has_it(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    made = opened(path, ones)
    made.array[3] = 5
    made.flush()
    np.testing.assert_array_equal(np.load(path), opened(path).array)
    assert np.load(path)[:, 0].tolist() == [1, 1, 1, 5, 1, 1, 1, 1]
    np.save(tmp_path / "b.npy", np.full(SHAPE, 2, DTYPE))
    assert opened(tmp_path / "b.npy").array.min() == 2
    assert sorted(os.listdir(tmp_path)) == ["a.npy", "b.npy"]


def test_all_bytes_are_on_the_disk_also_of_a_file_with_holes(tmp_path: Path) -> None:
    path = tmp_path / "holes.npy"
    shape = (1024, 1024)
    np.lib.format.open_memmap(path, "w+", DTYPE, shape)
    assert os.stat(path).st_blocks * 512 < os.stat(path).st_size
    ArrayFile(path, shape, DTYPE, ones)
    ArrayFile(tmp_path / "new.npy", shape, DTYPE, lambda array: None)
    for each in (path, tmp_path / "new.npy"):
        assert os.stat(each).st_blocks * 512 >= os.stat(each).st_size


WRONG = {
    "cut off": (described() + bytes(172), "was cut off: float32[8, 16] ends after 640 B, and the file has 300 B"),
    "no elements": (described(), "was cut off: float32[8, 16] ends after 640 B, and the file has 128 B"),
    "another shape": (described(shape="(16, 8)") + bytes(512), "has float32[16, 8], expected float32[8, 16]; name"),
    "a huge shape": (described(shape=f"(8, {2**62})"), "has float32[8, 4611686018427387904], expected"),
    "bytes in another order": (described("'>f4'") + bytes(512), "has >f4[8, 16], expected float32[8, 16]"),
    "Fortran's order": (described(order="True") + bytes(512), "has float32[8, 16] in the order of Fortran, expected"),
    "objects": (described("'|O'") + bytes(1024), "has object[8, 16], expected float32[8, 16]"),
    "fields": (described("[('a', '<f4')]") + bytes(512), "has [('a', '<f4')][8, 16], expected"),
    "less than no rows": (described(shape="(-8, -16)") + bytes(512), "its header says that it has [-8, -16]"),
    "truth for a number": (described(shape="(8, True)") + bytes(512), "its header says that it has [8, True]"),
    "code": (header("{'descr': __import__('os').getcwd(), 'fortran_order': False, 'shape': (8, 16)}"), "is no .npy"),
    "many brackets": (header("(" * 5000), "is no .npy file: its beginning is not that of an array"),
    "another version": (b"\x93NUMPY\x09\x00", "is of version 9.0, which is not known"),
    "nothing": (b"", "is no .npy file: its beginning is not that of an array"),
    "text": (b"rows", "is no .npy file: its beginning is not that of an array"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_file_of_something_else_is_refused_and_left_alone(tmp_path: Path, what: str) -> None:
    content, said = WRONG[what]
    path = tmp_path / "a.npy"
    path.write_bytes(content)
    with pytest.raises(ArrayFileError) as raised:
        opened(path)
    assert str(raised.value).startswith(f"{path} ") and said in str(raised.value)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("folder", "Is a directory"),
        ("pipe", "is no regular file"),
        ("absent/a.npy", "No such file or directory: there is no folder"),
        ("file/a.npy", "is a file, not a folder"),
        ("a\0b.npy", "embedded null byte"),
        ("new/", "Is a directory"),
    ],
)
def test_a_place_where_no_array_can_be_is_said(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ArrayFileError, match=said):
        opened(f"{tmp_path}/{name}")
    with pytest.raises(ArrayFileError, match="the name of the file is empty"):
        opened("")


def test_a_link_leads_to_the_file(tmp_path: Path) -> None:
    link, file = tmp_path / "link.npy", tmp_path / "there.npy"
    link.symlink_to("there.npy")
    opened(link, ones).array[0] = 3
    assert link.is_symlink() and np.load(file)[:2, 0].tolist() == [3, 1]


def test_a_file_that_was_removed_meanwhile_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    first = opened(path, ones)
    path.unlink()
    for _ in range(2):
        with pytest.raises(ArrayFileError, match="was removed or replaced by another file"):
            first.flush()
        opened(path, ones)


def test_threads_that_begin_at_once_share_one_file(tmp_path: Path) -> None:
    for number in range(20):
        path, together = tmp_path / f"{number}.npy", threading.Barrier(6)
        begun: list[int] = []

        def one(row: int, path: Path = path, together: threading.Barrier = together, begun: list[int] = begun) -> None:
            def begin(array: np.ndarray) -> None:
                begun.append(row)
                array[...] = 1

            together.wait()
            opened(path, begin).array[row] += 1

        threads = [threading.Thread(target=one, args=(row,)) for row in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert np.load(path)[:, 0].tolist() == [2] * 6 + [1] * 2 and len(begun) == 1
    assert len(os.listdir(tmp_path)) == 20


_KILLED = """
import os, signal, sys
import numpy as np
from ipu_mlir.dialects.storage.array_files import ArrayFile
def begin(array):
    array[:4] = 7
    os.kill(os.getpid(), signal.SIGKILL)
ArrayFile(sys.argv[1], (8, 16), np.dtype(np.float32), begin)
"""


def test_half_a_file_is_never_seen(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    assert subprocess.run([sys.executable, "-c", _KILLED, path], check=False).returncode == -signal.SIGKILL
    assert not path.exists()
    assert opened(path, ones).array.max() == 1
    assert os.listdir(tmp_path) == ["a.npy"]


def test_a_file_that_would_be_too_large_is_refused_before_it_is_mapped(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        with pytest.raises(ArrayFileError, match=r"File too large: it needs 67,108,992 B, and the most .* is 4,096 B"):
            ArrayFile(tmp_path / "a.npy", (4096, 4096), DTYPE, ones)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert os.listdir(tmp_path) == []


_LARGER = (1 << 40, 1 << 10)
"""4 PiB of float32, which no disk has left."""


def test_a_full_disk_is_said_with_the_bytes_that_are_missing(tmp_path: Path) -> None:
    with pytest.raises(ArrayFileError, match=r"(B left, [\d,]+ B too few|File too large)"):
        ArrayFile(tmp_path / "a.npy", _LARGER, DTYPE, lambda array: None)
    assert os.listdir(tmp_path) == []
