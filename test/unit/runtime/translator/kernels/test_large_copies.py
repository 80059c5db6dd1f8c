"""Copies that are larger than caches: written past them, wherever the lines of the array begin."""

from functools import partial

import numpy as np
import pytest
from support.statement_text import program_of

from ipu_mlir.runtime.engine.native import machine_code
from ipu_mlir.runtime.translator.kernels import worth
from ipu_mlir.runtime.translator.statements.options import TranslatorOptions
from ipu_mlir.runtime.translator.translate import translate_statements
from ipu_mlir.runtime.translator.translation import Translation

ELEMENTS = 1000  # no multiple of the lanes


def copying(dtype: str = "float32", source: str = "d0", computed: str = "{}") -> Translation:
    read = computed.format(f"%x[{source}]")
    text = f"""program @main(%x) -> (%y[d0] : {ELEMENTS}) {{
      argument %x : {dtype}[{2 * ELEMENTS}]
      temporary %y : {dtype}[{ELEMENTS}]
      elementwise {ELEMENTS} {{
        store {read}, %y[d0]
      }}
    }}"""
    options = TranslatorOptions("auto", block_min_elementwise_us=0, block_min_us=0, block_min_array=0)
    return translate_statements(program_of(text), options)


@pytest.fixture
def from_512_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worth, "_STREAMED_BYTES", 512)


@pytest.mark.usefixtures("from_512_bytes")
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64", "int8", "bool"])
@pytest.mark.parametrize("level", [0, 1, 3])
def test_any_array_is_written_and_nothing_beside_it(dtype: str, level: int) -> None:
    translation = copying(dtype)
    assert "nontemporal" in translation.kernels
    run = machine_code(translation.kernels, level)["block0"].run
    x = np.random.default_rng(0).integers(0, 2, 2 * ELEMENTS).astype(dtype)
    for first in range(0, 24, 3):
        memory = np.full(x.itemsize * (ELEMENTS + 2) + 256, 85, np.uint8)
        begin = -memory.ctypes.data % 64 + first * x.itemsize
        out = np.ndarray(ELEMENTS, dtype, memory, begin)
        run(0, 500, x, out)
        run(500, ELEMENTS, x, out)
        np.testing.assert_array_equal(out, x[:ELEMENTS])
        assert (memory[:begin] == 85).all() and (memory[begin + out.nbytes :] == 85).all()


@pytest.mark.usefixtures("from_512_bytes")
@pytest.mark.parametrize("other", [partial(copying, source="2*d0"), partial(copying, computed="add({}, float32(1.0))")])
def test_what_is_not_side_by_side_or_computed_is_not_written_so(other: partial[Translation]) -> None:
    assert "nontemporal" not in other().kernels


def test_a_small_copy_is_a_call_of_numpy() -> None:
    assert not copying().kernels
