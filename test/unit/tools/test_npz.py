"""Inputs and results of ipu-run."""

import io
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from ipu_mlir.dialects.errors import IpuError
from ipu_mlir.specs import TensorSpec
from ipu_mlir.tools.npz import npz_bytes, random_inputs, read_arrays, take_inputs

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
