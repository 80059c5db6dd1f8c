"""Object code on disk: it saves the work of LLVM, and nothing but what was written for this text and machine runs."""

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from ipu_mlir.runtime.engine import code_cache, native
from ipu_mlir.runtime.engine.object_code import ObjectCode, ObjectError, can_load
from ipu_mlir.runtime.translator.kernels.module import KernelText, module_text

pytestmark = pytest.mark.skipif(not can_load(), reason="object code is kept on Linux on x86-64 only")


def text_of(number: int) -> str:
    """A kernel that writes ``number`` where the elements of an array are."""
    lines = [
        "  llvm.func @run0(%array0: !llvm.ptr) {",
        "    %d = llvm.getelementptr %array0[16] : (!llvm.ptr) -> !llvm.ptr, i8",
        "    %x = llvm.load %d : !llvm.ptr -> !llvm.ptr",
        f"    %c = arith.constant {number} : i64",
        "    llvm.store %c, %x : i64, !llvm.ptr",
        "    llvm.return",
        "  }",
    ]
    return module_text([KernelText("run0", 0, 1, "\n".join(lines))])


def written_by(text: str) -> int:
    """What the kernel of ``text`` writes, as a new process would find it."""
    native._kept.clear()
    array = np.zeros(1, np.int64)
    native.machine_code(text)["run0"].run(array)
    return int(array[0])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "kernels"
    monkeypatch.setenv(code_cache.FOLDER, str(place))
    return place


def without_llvm(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(text: str) -> None:
        raise AssertionError("the machine code was there")

    monkeypatch.setattr(native, "lowered", refuse)


def test_what_is_kept_needs_no_llvm(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert written_by(text_of(7)) == 7
    assert [path.stat().st_mode & 0o777 for path in folder.iterdir()] == [0o600]
    without_llvm(monkeypatch)
    assert written_by(text_of(7)) == 7
    with pytest.raises(AssertionError, match="the machine code was there"):
        written_by(text_of(8))


@pytest.mark.parametrize("damage", ["a bit", "the end", "all of it", "another's"])
def test_what_is_damaged_is_made_again(folder: Path, damage: str) -> None:
    assert written_by(text_of(3)) == 3
    (path,) = folder.iterdir()
    good = path.read_bytes()
    if damage == "another's":
        assert written_by(text_of(4)) == 4
        (other,) = set(folder.iterdir()) - {path}
        path.write_bytes(other.read_bytes())
    else:
        bit = good[:100] + bytes([good[100] ^ 1]) + good[101:]
        path.write_bytes({"a bit": bit, "the end": good[:-1], "all of it": b""}[damage])
    assert written_by(text_of(3)) == 3
    assert path.read_bytes() == good


def test_other_machines_have_other_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert written_by(text_of(5)) == 5
    monkeypatch.setattr(code_cache, "_machine", lambda: "another one")
    assert written_by(text_of(5)) == 5
    assert len(list(folder.iterdir())) == 2


def test_a_folder_that_others_may_change_is_not_used(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.warns(UserWarning, match="others may write into it"):
        assert written_by(text_of(6)) == 6
    assert list(folder.iterdir()) == []


def test_no_folder_no_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(code_cache.FOLDER, "")
    assert code_cache.folder() is None
    assert written_by(text_of(9)) == 9


def test_the_usual_folder_is_that_of_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(code_cache.FOLDER, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert code_cache.folder() == tmp_path / "ipu-mlir" / "kernels"
    assert os.stat(tmp_path / "ipu-mlir" / "kernels").st_mode & 0o777 == 0o700


def test_a_disk_that_takes_nothing_is_no_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert written_by(text_of(10)) == 10
    assert list(folder.iterdir()) == []


def test_the_oldest_make_room(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_cache, "_MOST_FILES", 2)
    for number in range(3):
        code_cache.write(f"key {number}", b"code")
        for path in folder.iterdir():
            os.utime(path, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns - 10**9))
    assert [code_cache.read(f"key {number}") for number in range(3)] == [None, b"code", b"code"]


def test_the_oldest_make_room_for_bytes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_cache, "_MOST_BYTES", 2500)
    for number, size in enumerate((100, 1000, 1000, 9000)):
        code_cache.write(f"key {number}", bytes(size))
        for path in folder.iterdir():
            os.utime(path, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns - 10**9))
        if number == 2:
            assert [code_cache.read(f"key {each}") is not None for each in range(3)] == [True, True, True]
    assert list(folder.iterdir()) == []  # a file that is too large itself goes as well


def test_many_write_one_file(folder: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: code_cache.write("key", bytes(100_000)), range(40)))
        assert set(pool.map(lambda _: code_cache.read("key"), range(8))) == {bytes(100_000)}
    assert len(list(folder.iterdir())) == 1


def test_what_is_no_object_code_is_not_loaded(folder: Path) -> None:
    written_by(text_of(11))
    (path,) = folder.iterdir()
    code = path.read_bytes()[code_cache.HEAD_BYTES :]
    ObjectCode(code)
    with pytest.raises(ObjectError, match="the object code is for another machine"):
        ObjectCode(b"\x7fELF" + bytes(200))
    for end in (70, len(code) // 2, len(code) - 10):
        with pytest.raises(ObjectError, match="the object code is not whole"):
            ObjectCode(code[:end])
    with pytest.raises(ObjectError, match="a call of memseT"):
        ObjectCode(_that_clears_memory(folder).replace(b"memset\0", b"memseT\0"))


def _that_clears_memory(folder: Path) -> bytes:
    before = set(folder.iterdir())
    text = text_of(0).replace(
        "llvm.store %c, %x : i64, !llvm.ptr",
        "%z = arith.constant 0 : i8\n    %n = llvm.load %x : !llvm.ptr -> i64\n    "
        '"llvm.intr.memset"(%x, %z, %n) <{isVolatile = false}> : (!llvm.ptr, i8, i64) -> ()',
    )
    native.machine_code(text)
    (path,) = set(folder.iterdir()) - before
    return path.read_bytes()[code_cache.HEAD_BYTES :]


def test_files_of_others_are_neither_counted_nor_removed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_cache, "_MOST_FILES", 2)
    folder.mkdir(mode=0o700)
    ours = "0" * 64
    names = [*(f"photo{number}.jpg" for number in range(5)), ours, f"{ours}.kernel", f"{ours}.kernel.bak"]
    for name in names:
        (folder / name).write_text("mine")
        os.utime(folder / name, (1, 1))
    (folder / f"{'1' * 64}.kernel").symlink_to(folder / "photo0.jpg")
    (folder / f"{'2' * 64}.kernel").mkdir()
    before = set(os.listdir(folder))
    for number in range(4):
        code_cache.write(f"key {number}", b"code")
    assert before < set(os.listdir(folder))
    assert all((folder / name).read_text() == "mine" for name in names)
    assert code_cache.read("key 3") == b"code" and len(os.listdir(folder)) <= len(before) + 2


@pytest.mark.parametrize(
    ("name", "said"), [("file", "a file is in its place"), ("file/below", "a file is in its place"), ("open", "others")]
)
def test_a_folder_that_cannot_be_used_is_said(
    tmp_path: Path, name: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    monkeypatch.setenv(code_cache.FOLDER, str(tmp_path / name))
    with pytest.warns(UserWarning, match=f"no machine code is kept in .*{name} .*: {said}"):
        assert code_cache.folder() is None
    assert (tmp_path / "file").read_text() == "mine"
