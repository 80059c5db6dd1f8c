"""Random numbers as kernels beside the definition of their codelets: the same bits, shared by threads or not."""

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.dialects.codelets import random_numbers as definition
from ipu_mlir.runtime.engine.engine import Engine
from ipu_mlir.runtime.translator.kernels import random_numbers as kernels
from ipu_mlir.runtime.translator.statements.access import Access, Buffer, Role, row_major
from ipu_mlir.runtime.translator.statements.options import TranslatorOptions
from ipu_mlir.runtime.translator.statements.statements import LibraryCall, Origin, Program
from ipu_mlir.runtime.translator.translate import translate_statements
from ipu_mlir.runtime.translator.translation import Translation

AT = Origin("draw", "")
NAMES = ("random_bits", "random_uniform", "random_normal", "random_truncated_normal")


def drawing(name: str, shape: tuple[int, ...], how: str, strides: tuple[int, ...] | None = None) -> Translation:
    """A program that draws ``shape`` numbers, row by row or with ``strides``."""
    keys = (*shape[:-1], 4)
    key = Buffer("key", int(np.prod(keys)), np.dtype("i4"), Role.ARGUMENT, keys)
    dtype = np.dtype("i4" if name == "random_bits" else "f4")
    strides = strides or row_major(shape)
    elements = 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    out = Buffer("out", elements, dtype, Role.TEMPORARY, (elements,), mutable=True)
    access = Access(out, 0, strides)
    call = LibraryCall((), AT, name, (Access(key, 0, row_major(keys)),), (access,), (keys, shape), (False,))
    options = TranslatorOptions.with_checks() if how == "checked" else TranslatorOptions(kernels=how)
    return translate_statements(Program("main", (key,), (call,), (access,), (shape,)), options)


def keys_of(shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(7).integers(-(2**31), 2**31, (*shape[:-1], 4)).astype(np.int32)


def wanted(name: str, keys: np.ndarray, shape: tuple[int, ...], strides: tuple[int, ...] | None = None) -> np.ndarray:
    """What the codelet itself fills in."""
    translation = drawing(name, shape, "never", strides)
    assert "run_codelet" in translation.source
    return Engine.of(translation).run([keys])[0]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("shape", "strides"),
    [((1,), None), ((37,), None), ((3, 530), None), ((2, 3, 17), None), ((2, 3, 5), (5, 10, 1)), ((70_001,), None)],
)
def test_numbers_have_the_bits_of_the_definition(name, shape, strides):
    keys = keys_of(shape)
    translation = drawing(name, shape, "always", strides)
    assert "run_codelet" not in translation.source
    assert ("run_blocks" in translation.source) == (shape[-1] > 60_000)
    np.testing.assert_array_equal(Engine.of(translation).run([keys])[0], wanted(name, keys, shape, strides))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", [(2, 37), (70_001,)])
def test_kernels_keep_to_what_they_declare(name, shape):
    keys = keys_of(shape)
    np.testing.assert_array_equal(Engine.of(drawing(name, shape, "checked")).run([keys])[0], wanted(name, keys, shape))


def test_the_far_end_has_the_bits_of_the_definition(monkeypatch):
    """One number of 10**11 lies there; here it begins nearer to zero."""
    for module in (definition, kernels):
        monkeypatch.setattr(module, "END_BEGINS", 2.0)
    keys, shape = keys_of((2000,)), (2000,)
    found = Engine.of(drawing("random_normal", shape, "always")).run([keys])[0]
    want = wanted("random_normal", keys, shape)
    assert np.count_nonzero(np.abs(want) > 2.5) > 10
    np.testing.assert_array_equal(found, want)


def test_numbers_that_do_not_lie_side_by_side_are_those_of_numpy():
    shape = (2, 5)
    assert "run_codelet" in drawing("random_uniform", shape, "always", (1, 2)).source


def test_a_loop_that_draws_is_one_kernel():
    def walk(key):
        def step(number, at):
            return at + ipu.random.normal(ipu.random.fold_in(key, number), (5,))

        return ipu.fori_loop(0, 20, step, np.zeros(5, np.float32))

    key = ipu.random.key(3)
    whole, calls = (ipu.compile(walk, args=[key], kernels=how) for how in ("auto", "never"))
    np.testing.assert_array_equal(whole.run([key]), calls.run([key]))
    assert "run_codelet" not in whole.source() and "loop0.run" in whole.source()
