"""Inputs and results of ipu-run."""

import io
import zipfile
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from ipu_mlir.dialects.storage.npz import read_arrays
from ipu_mlir.dialects.support.errors import IpuError
from ipu_mlir.specs.specs import TensorSpec
from ipu_mlir.tools.npz import npz_bytes, random_inputs, take_inputs

SPECS = (TensorSpec((2, 3), np.float32), TensorSpec((), np.int64), TensorSpec((4,), bool))


def test_random_inputs_fit_and_follow_the_seed() -> None:
    inputs = random_inputs(SPECS, 1)
    assert [(array.shape, array.dtype) for array in inputs] == [(spec.shape, spec.dtype) for spec in SPECS]
    assert all(np.array_equal(a, b) for a, b in zip(inputs, random_inputs(SPECS, 1), strict=True))
    assert not np.array_equal(inputs[0], random_inputs(SPECS, 2)[0])
    assert 0 <= inputs[1] < 10


def test_results_read_back(tmp_path: Path) -> None:
    content = npz_bytes([np.arange(3), np.array(2.5)])
    with np.load(io.BytesIO(content)) as arrays:
        assert sorted(arrays.files) == ["out0", "out1"]
        assert np.array_equal(arrays["out0"], np.arange(3)) and arrays["out1"] == 2.5


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2])
def test_numbers_that_numpy_has_no_type_for_come_back(tmp_path: Path, dtype: type) -> None:
    """NumPy cannot read a file of float8_e5m2 that it wrote itself."""
    x = np.array([[1, -2.5], [0, np.nan]]).astype(dtype)
    (tmp_path / "out.npz").write_bytes(npz_bytes([x]))
    arrays = read_arrays(str(tmp_path / "out.npz"))
    assert arrays["out0"].dtype == np.dtype(f"V{x.itemsize}")
    (found,) = take_inputs({"in0": arrays["out0"]}, [TensorSpec((2, 2), dtype)], "out.npz")
    assert found.dtype == x.dtype
    np.testing.assert_array_equal(found.astype(np.float32), x.astype(np.float32))
    (found,) = take_inputs({"in0": x.view(f"u{x.itemsize}")}, [TensorSpec((2, 2), dtype)], "bits.npz")
    assert found.dtype == x.dtype
    with pytest.raises(IpuError, match=r"in0 of bits\.npz is int8\[2, 2\], but the function takes"):
        take_inputs({"in0": np.zeros((2, 2), np.int8)}, [TensorSpec((2, 2), dtype)], "bits.npz")


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, ml_dtypes.float8_e5m2fnuz, ml_dtypes.float8_e8m0fnu])
def test_random_numbers_of_these_types_are_numbers(dtype: type) -> None:
    (found,) = random_inputs([TensorSpec((100,), dtype)], 3)
    assert found.dtype == dtype
    assert np.isfinite(found.astype(np.float32)).all()


def test_inputs_are_taken_by_number() -> None:
    arrays = {f"in{index}": array for index, array in enumerate(random_inputs(SPECS, 0))}
    assert take_inputs(arrays, SPECS, "io.npz") == list(arrays.values())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"in1": None}, r"io\.npz has no in1; the function takes 3 arrays: in0: float32\[2, 3\], in1: int64\[\], in2"),
        (
            {"in0": np.zeros((3, 2), np.float32)},
            r"in0 of io\.npz is float32\[3, 2\], but the function takes float32\[2, 3\]",
        ),
        ({"in0": np.zeros((2, 3))}, r"in0 of io\.npz is float64\[2, 3\], but the function takes float32\[2, 3\]"),
    ],
)
def test_wrong_inputs_are_refused(change: dict, message: str) -> None:
    arrays = {f"in{index}": array for index, array in enumerate(random_inputs(SPECS, 0))} | change
    with pytest.raises(IpuError, match=message):
        take_inputs({name: array for name, array in arrays.items() if array is not None}, SPECS, "io.npz")


def test_a_file_that_is_not_npz_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IpuError, match=r"cannot read .*absent\.npz: No such file"):
        read_arrays(str(tmp_path / "absent.npz"))
    (tmp_path / "text.npz").write_text("not an archive")
    with pytest.raises(IpuError, match=r"text\.npz is no \.npz file of arrays"):
        read_arrays(str(tmp_path / "text.npz"))
    np.save(tmp_path / "one.npy", np.zeros(3))
    with pytest.raises(IpuError, match=r"one\.npy is no \.npz file of arrays"):
        read_arrays(str(tmp_path / "one.npy"))


def _npz(path: Path, **members: bytes) -> str:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return str(path)


def _npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def _with_header(text: str) -> bytes:
    header = f"{text}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(32)


_F4 = "{'descr': '<f4', 'fortran_order': False, 'shape': %s}"
_HOSTILE = {
    "a huge shape": _with_header(_F4 % f"({1 << 40},)"),
    "sizes whose product overflows": _with_header(_F4 % f"({1 << 62}, {1 << 62})"),
    "a negative size": _with_header(_F4 % "(-8,)"),
    "two negative sizes": _with_header(_F4 % "(-2, -4)"),
    "too few bytes": _with_header(_F4 % "(9,)"),
    "code": _with_header("__import__('os').system('true')"),
    "deep": _with_header("(" * 5000),
    "no header": b"\x93NUMPY\x01\x00\xff\xff{",
    "another version": b"\x93NUMPY\x09\x00" + bytes(100),
    "nothing": b"",
    "text": b"text",
}


@pytest.mark.parametrize("content", _HOSTILE.values(), ids=_HOSTILE)
def test_headers_that_say_what_the_file_does_not_hold_are_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(IpuError, match=r"x\.npz is no \.npz file of arrays"):
        read_arrays(_npz(tmp_path / "x.npz", in0=content))


def test_pickled_objects_are_refused(tmp_path: Path) -> None:
    class Canary:
        def __reduce__(self):
            return (Path.touch, (tmp_path / "canary",))

    buffer = io.BytesIO()
    np.save(buffer, np.array([Canary()], object), allow_pickle=True)
    with pytest.raises(IpuError, match=r"is no \.npz file of arrays"):
        read_arrays(_npz(tmp_path / "x.npz", in0=buffer.getvalue()))
    assert not (tmp_path / "canary").exists()


def test_damaged_archives_are_refused_or_right(tmp_path: Path) -> None:
    whole = Path(
        _npz(tmp_path / "whole.npz", in0=_npy(np.arange(64.0)), in1=_npy(np.ones((2, 3), np.int8)))
    ).read_bytes()
    generator = np.random.default_rng(0)
    damaged = [b"", whole[:40], whole[:-30]]
    for _ in range(400):
        content = bytearray(whole)
        for place in generator.integers(0, len(whole), generator.integers(1, 4)):
            content[place] = generator.integers(0, 256)
        damaged.append(bytes(content))
    for content in damaged:
        (tmp_path / "x.npz").write_bytes(content)
        try:
            arrays = read_arrays(str(tmp_path / "x.npz"))
        except IpuError as error:
            assert "\n" not in str(error)
        else:
            assert sum(array.nbytes for array in arrays.values()) <= 64 * 8 + 6


def test_an_archive_cannot_claim_more_than_it_could_hold(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    content = Path(_npz(path, in0=_with_header(_F4 % f"({1 << 28},)"))).read_bytes()
    for claimed in (1 << 30, (1 << 30) + 80 - 32):
        at = content.rindex(b"PK\x01\x02") + 24  # the unpacked size in the directory of the archive
        path.write_bytes(content[:at] + claimed.to_bytes(4, "little") + content[at + 4 :])
        with pytest.raises(IpuError, match=r"cannot be 1,073,74.* bytes"):
            read_arrays(str(path))


def test_numbers_of_any_layout_are_read(tmp_path: Path) -> None:
    arrays = {
        "in0": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "in1": np.zeros((0, 3)),
        "in2": np.array(2),
        "in3": np.zeros(10**6),
    }
    np.savez_compressed(tmp_path / "x.npz", **arrays)
    found = read_arrays(str(tmp_path / "x.npz"))
    assert all(np.array_equal(found[name], array) for name, array in arrays.items()) and len(found) == 4
