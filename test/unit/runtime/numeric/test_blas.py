"""The BLAS that NumPy has: which processor it takes this one for, and what follows from that."""

import pytest

from ipu_mlir.runtime.numeric import blas


@pytest.mark.parametrize(
    ("core", "has_512_bits", "is_narrow"),
    [
        ("Haswell", True, True),
        ("Zen", True, True),
        ("Haswell", False, False),
        ("SkylakeX", True, False),
        ("Sapphirerapids", True, False),
        ("", True, False),
    ],
)
def test_blas_is_narrow_where_it_has_half_the_vectors_of_the_processor(
    core: str, has_512_bits: bool, is_narrow: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blas, "core_name", lambda: core)
    monkeypatch.setitem(blas.__cpu_features__, "AVX512F", has_512_bits)
    assert blas.is_narrow.__wrapped__() == is_narrow


def test_the_core_is_a_name_where_openblas_is_found() -> None:
    assert bool(blas.core_name()) == (blas.thread_control() is not None)
    assert blas.default_threads() >= 1


def test_a_numpy_with_another_blas_has_no_core_and_nobody_knows_its_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blas, "_libraries", lambda: iter(()))
    assert blas.core_name() == ""
    monkeypatch.setattr(blas, "thread_control", lambda: None)
    assert blas.default_threads.__wrapped__() == 1
