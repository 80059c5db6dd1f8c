"""Scatters as kernels beside the definition of their codelets: by rows and one by one, in order, within bounds."""

from dataclasses import replace

import numpy as np
import pytest

from ipu_mlir.dialects.codelets.library import codelet_named
from ipu_mlir.runtime.engine.engine import Engine
from ipu_mlir.runtime.translator.statements.access import Access, Buffer, Role, row_major
from ipu_mlir.runtime.translator.statements.expression import Const, Expression, Read, apply, cast
from ipu_mlir.runtime.translator.statements.iota import numbers
from ipu_mlir.runtime.translator.statements.options import TranslatorOptions
from ipu_mlir.runtime.translator.statements.statements import Elementwise, LibraryCall, Origin, Program
from ipu_mlir.runtime.translator.translate import translate_statements

AT = Origin("scatter", "")


def array(name: str, dtype: str, shape: tuple[int, ...]) -> Buffer:
    return Buffer(name, int(np.prod(shape)), np.dtype(dtype), Role.ARGUMENT, shape)


def whole(buffer: Buffer) -> Access:
    return Access(buffer, 0, row_major(buffer.shape))


def program(codelet: str, indexes: list[Buffer], guard: Buffer, update: Buffer, table: Buffer) -> Program:
    """A copy of ``table``, and a scatter to it."""
    out = Buffer("out", table.elements, table.dtype, Role.TEMPORARY, table.shape, mutable=True)
    copy = Elementwise(table.shape, AT, (whole(out),), (Read(table.dtype, whole(table)),))
    given = [*indexes, guard, update, *(numbers(extent) for extent in table.shape)]
    shapes = (*(each.shape for each in given), table.shape)
    call = LibraryCall((), AT, codelet, tuple(map(whole, given)), (whole(out),), shapes, (True,))
    arguments = tuple(each for each in (table, *indexes, guard, update) if each.role is Role.ARGUMENT)
    return Program("main", arguments, (copy, call), (whole(out),), (table.shape,))


@pytest.mark.parametrize("codelet", ["scatter_set", "scatter_add", "scatter_mul", "scatter_max", "scatter_min"])
@pytest.mark.parametrize("dtype", ["f4", "i4"])
@pytest.mark.parametrize(
    ("table", "indexes", "guard", "update", "vectors"),
    [
        ((9, 37), [(30, 1), None], (30, 1), (30, 37), True),
        ((9, 16), [(5, 6, 1), None], (1, 1, 1), (5, 1, 16), True),
        ((4, 9, 20), [(30, 1), (1, 1), None], (1, 1), (1, 20), True),
        ((50,), [(7, 3)], (7, 3), (7, 3), False),
        ((9, 37), [(30, 1), (30, 5)], (1, 5), (30, 5), False),
        ((9, 3), [(30, 1), None], (1, 1), (30, 3), False),
        ((37, 9), [None, (1, 30)], (1, 1), (37, 30), False),
    ],
)
def test_scatters(codelet, dtype, table, indexes, guard, update, vectors) -> None:
    rng = np.random.default_rng(0)
    counted = [numbers(extent) for extent in table]
    buffers, values = [], []
    for dimension, shape in enumerate(indexes):
        if shape is None:
            axes = (1,) * (len(update) - 1)
            shape = (*axes, table[dimension]) if dimension else (table[dimension], *axes)
            found = counted[dimension]
            buffers.append(Buffer("iota", found.elements, found.dtype, Role.CONSTANT, shape, value=found.value))
            values.append(np.arange(table[dimension]).reshape(shape))
        else:
            buffers.append(array(f"at{dimension}", "i8", shape))
            values.append(rng.integers(-2, table[dimension] + 2, shape))
    given = [
        rng.integers(-9, 9, table).astype(dtype),
        *(value for value, shape in zip(values, indexes, strict=True) if shape is not None),
        rng.integers(0, 4, guard).astype(bool),
        rng.integers(-9, 9, update).astype(dtype),
    ]
    made = program(codelet, buffers, array("g", "b1", guard), array("u", dtype, update), array("t", dtype, table))
    translation = translate_statements(made, TranslatorOptions(kernels="always"))
    assert "run_codelet" not in translation.source
    assert (f"vector<16x{'f32' if dtype == 'f4' else 'i32'}>" in translation.kernels.split("scf.if")[-1]) == vectors
    (got,) = Engine.of(translation).run(given)
    (want,) = codelet_named(codelet).per_tile(*values, *given[-2:], *(each.value for each in counted), given[0])
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("is_read_elsewhere", [False, True])
@pytest.mark.parametrize(("table", "places", "update"), [((50,), (60, 8), (60, 8)), ((9, 37), (40, 1), (40, 37))])
def test_scatters_compute_what_only_they_read(table, places, update, is_read_elsewhere) -> None:
    at, old = array("at", "i4", (int(np.prod(places)),)), array("t", "f4", table)
    x = array("x", "f4", (int(np.prod(update)),))
    columns = Buffer("iota", 37, np.dtype("i8"), Role.CONSTANT, (1, 37), value=np.arange(37))
    index = cast(apply("maximum", Read(at.dtype, whole(at)), Const.of(0, at.dtype)), np.dtype("i8"))
    guard = apply("less", index, Const.of(table[0], index.dtype), dtype=np.dtype("?"))
    twice = apply("add", Read(x.dtype, whole(x)), Read(x.dtype, whole(x)))

    def made(name: str, value: Expression, shape: tuple[int, ...]) -> tuple[Buffer, Elementwise]:
        buffer = Buffer(name, int(np.prod(shape)), value.dtype, Role.TEMPORARY, shape)
        return buffer, Elementwise((buffer.elements,), AT, (Access(buffer, 0, (1,)),), (value,))

    parts = [made("places", index, places), made("guard", guard, places), made("twice", twice, update)]
    (to, _), (inside, _), (new, _) = parts
    scatter = program("scatter_add", [to, columns][: len(table)], inside, new, old)
    both = replace(scatter, arguments=(old, at, x), statements=(*(each for _, each in parts), *scatter.statements))
    if is_read_elsewhere:
        both = replace(both, results=(*both.results, whole(to)), result_shapes=(table, places))
    translation = translate_statements(both, TranslatorOptions(kernels="always"))
    (call,) = [line for line in translation.source.splitlines() if ".run(" in line]
    assert not [name for name in ("places", "guard", "twice") if name in call]
    rng = np.random.default_rng(0)
    values = [rng.integers(-9, 60, each.elements).astype(each.dtype) for each in both.arguments]
    got, *others = Engine.of(translation).run([values[0].reshape(table), *values[1:]])
    clipped = np.maximum(values[1], 0).reshape(places)
    counts = list(map(np.arange, table))
    indexes = [clipped, np.arange(37).reshape(1, 37)][: len(table)]
    terms = (clipped < table[0], 2 * values[2].reshape(update), *counts, values[0].reshape(table))
    (want,) = codelet_named("scatter_add").per_tile(*indexes, *terms)
    np.testing.assert_array_equal(got, want)
    assert [np.array_equal(other, clipped) for other in others] == [True] * is_read_elsewhere


def test_large_scatters_are_kernels_by_themselves() -> None:
    def source(kernels: str) -> str:
        places, always = array("p", "i8", (1000, 1)), array("g", "b1", (1, 1))
        columns = Buffer("iota", 64, np.dtype("i8"), Role.CONSTANT, (1, 64), value=numbers(64).value)
        made = program(
            "scatter_add", [places, columns], always, array("u", "f4", (1000, 64)), array("t", "f4", (99, 64))
        )
        return translate_statements(made, TranslatorOptions(kernels=kernels)).source

    assert "run_codelet" in source("never")
    assert "run_codelet" not in source("auto")
