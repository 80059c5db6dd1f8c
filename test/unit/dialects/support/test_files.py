"""Files are read whole, or refused."""

import os
import threading
from pathlib import Path

import pytest

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.support.diagnostics import DiagnosedError
from ipu_mlir.dialects.support.files import FileTooLarge, read_bytes
from ipu_mlir.dialects.support.parsing import parse_module


def test_a_file_of_at_most_so_many_bytes_is_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 100)
    assert read_bytes(tmp_path / "a", 100) == b"x" * 100
    with pytest.raises(FileTooLarge, match="more than 99 bytes"):
        read_bytes(tmp_path / "a", 99)


def test_what_does_not_end_is_refused() -> None:
    with pytest.raises(FileTooLarge, match="more than 3,000,000 bytes"):
        read_bytes("/dev/zero", 3_000_000)


def test_a_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(b"y" * 100_000,))
    writer.start()
    assert read_bytes(tmp_path / "pipe", 100_000) == b"y" * 100_000
    writer.join()


@pytest.mark.parametrize("name", ["absent.mlir", ".", "a\0b.mlir", "a" * 5000])
def test_files_that_cannot_be_read_are_errors_in_one_line(name: str) -> None:
    with pytest.raises(DiagnosedError, match=r"^\S+ error: cannot read the file: .*$"):
        parse_module(Path(name), ipu.context())
