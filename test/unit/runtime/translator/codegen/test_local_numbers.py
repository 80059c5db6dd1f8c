"""Numbers in loops: local variables of the generated function, with the bits that arrays would give."""

import numpy as np
import pytest

from ipu_mlir.runtime import numeric
from ipu_mlir.runtime.translator.array_ir.access import Buffer, Role
from ipu_mlir.runtime.translator.array_ir.expression import Const
from ipu_mlir.runtime.translator.array_ir.statements import Origin
from ipu_mlir.runtime.translator.codegen.number_texts import number_text
from ipu_mlir.runtime.translator.codegen.schedule import COPY, Call, View, template

FLOATS = [0.0, -0.0, 1.0, -1.5, 3.7, 1e-40, 2.5e9, -3e38, 3e38, np.inf, -np.inf, np.nan]


def numbers(dtype: np.dtype) -> list:
    """The corners of ``dtype`` and some numbers between."""
    if dtype.kind == "f":
        return [dtype.type(x) for x in FLOATS]
    if dtype.kind == "b":
        return [False, True]
    limits = np.iinfo(dtype)
    inside = [x for x in (-7, -2, -1, 0, 1, 2, 3, 7, 100) if x >= limits.min]
    return [*inside, int(limits.min), int(limits.max), int(limits.max) - 1]


def view(dtype: np.dtype) -> View:
    return View(Buffer("x", 1, dtype, Role.TEMPORARY), dtype, 0, (), ())


def check(call: str, kinds: list[str], out: str, last: object = None) -> None:
    """The expression of ``call`` gives what the call gives, for all corners of the types of its operands.

    ``last`` is a constant in place of the last operand.
    """
    dtypes, kind = [np.dtype(k) for k in kinds], np.dtype(out)
    operands = [view(dtype) for dtype in dtypes]
    if last is not None:
        operands[-1] = Const.of(last, dtypes[-1])
    text = COPY if call == "copyto" else template(call, len(operands))
    names = [f"a{i}" for i in range(len(operands))]
    if last is not None and dtypes[-1].kind != "f":
        names[-1] = str(last)
    made = Call(text, tuple(operands), view(kind), Origin("", ""))
    expression = number_text(made, names, lambda const: "one")
    assert expression is not None, call
    known = {name: getattr(np, name) for name in ("float32", "float64", "fmax")}
    choices = [numbers(dtype) for dtype in dtypes]
    if last is not None:
        choices[-1] = [operands[-1].value if dtypes[-1].kind == "f" else last]
    with np.errstate(all="ignore"):
        for values in np.ndindex(*map(len, choices)):
            given = [choice[i] for choice, i in zip(choices, values, strict=True)]
            want = np.empty((), kind)
            arrays = [np.array(x, d) for x, d in zip(given, dtypes, strict=True)]
            if call == "copyto":
                np.copyto(want, arrays[0], casting="unsafe")
            else:
                numeric.function(call)(*arrays, out=want)
            scope = {**known, **{f"a{i}": x for i, x in enumerate(given)}, "one": kind.type(1)}
            got = eval(expression, scope)
            same = np.array(got, kind)
            assert same.tobytes() == want.tobytes() or (kind.kind == "f" and np.isnan(got) and np.isnan(want)), (
                call,
                given,
                got,
                want,
            )
            if kind.kind in "iu":
                assert type(got) is int


INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u4"]


@pytest.mark.parametrize("kind", INTEGERS)
@pytest.mark.parametrize(
    "call",
    ["add", "subtract", "multiply", "bitwise_and", "bitwise_or", "bitwise_xor", "maximum", "minimum", "remainder"],
)
def test_integers_wrap_as_in_arrays(call, kind):
    check(call, [kind, kind], kind)


@pytest.mark.parametrize("kind", ["i4", "i8", "u4"])
@pytest.mark.parametrize("call", ["fmod", "divide_to_zero", "floor_divide", "remainder"])
@pytest.mark.parametrize("last", [1, 3, 64])
def test_integers_are_divided_as_in_arrays(call, kind, last):
    check(call, [kind, kind], kind, last)


@pytest.mark.parametrize("kind", ["i4", "i8"])
@pytest.mark.parametrize("call", ["fmod", "floor_divide", "divide_to_zero"])
def test_integers_are_divided_by_any_number(call, kind):
    check(call, [kind, kind], kind)


@pytest.mark.parametrize("kind", ["i4", "i8", "u4"])
@pytest.mark.parametrize("call", ["left_shift", "right_shift"])
def test_shifts(call, kind):
    check(call, [kind, kind], kind, 5)


@pytest.mark.parametrize("kind", ["f4", "f8", "i4", "u4"])
@pytest.mark.parametrize("call", ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"])
def test_comparisons(call, kind):
    check(call, [kind, kind], "b1")


@pytest.mark.parametrize("kind", ["f4", "f8"])
@pytest.mark.parametrize("call", ["add", "subtract", "multiply", "divide", "larger", "smaller", "fmax"])
def test_floats(call, kind):
    check(call, [kind, kind], kind)


@pytest.mark.parametrize("kind", ["f4", "f8", "i4"])
@pytest.mark.parametrize("call", ["negative", "absolute"])
def test_signs(call, kind):
    check(call, [kind], kind)


@pytest.mark.parametrize("call", ["logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or"])
def test_truth_values(call):
    check(call, ["b1", "b1"], "b1")


@pytest.mark.parametrize("source", ["b1", "i1", "i4", "i8", "u4", "f4", "f8"])
@pytest.mark.parametrize("dest", ["b1", "i1", "i4", "i8", "u4", "f4", "f8"])
def test_conversions(source, dest):
    if dest[0] in "iu" and source[0] == "f":
        pytest.skip("outside of the range of the integer NumPy gives what the processor gives, not always the same")
    if dest[0] == "f" and source in ("b1", "i8"):
        pytest.skip("an array does it")
    check("copyto", [source], dest)


LOOP = """func.func @main(%x: memref<i32>) -> (memref<i32>, memref<f32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant {rounds} : index
  %a = arith.constant 1664525 : i32
  %b = arith.constant 1013904223 : i32
  %f = arith.constant 0.3 : f32
  %first = memref.load %x[] : memref<i32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %first, %t = %f) -> (i32, f32) {{
    %p = arith.muli %s, %a : i32
    %q = arith.addi %p, %b : i32
    %g = arith.sitofp %q : i32 to f32
    %h = arith.mulf %t, %g : f32
    %u = arith.addf %h, %t : f32
    scf.yield %q, %u : i32, f32
  }}
  %o = memref.alloc() : memref<i32>
  %w = memref.alloc() : memref<f32>
  memref.store %r#0, %o[] : memref<i32>
  memref.store %r#1, %w[] : memref<f32>
  return %o, %w : memref<i32>, memref<f32>
}}"""


@pytest.mark.parametrize("rounds", [0, 1, 7, 40])
def test_a_loop_over_numbers_calls_nothing(rounds, engine):
    made = engine(LOOP.format(rounds=rounds))
    with np.errstate(all="ignore"):
        s, t = np.int32(5), np.float32(0.3)
        for _ in range(rounds):
            s = np.int32(np.int32(s * np.int32(1664525)) + np.int32(1013904223))
            t = np.float32(t * np.float32(s)) + t
    integer, real = made.run([np.array(5, np.int32)])
    assert integer == s
    assert real.tobytes() == np.float32(t).tobytes() or (np.isnan(real) and np.isnan(t))
    body = made.source.split("for i in")[1].split("result0[()]")[0]
    assert rounds < 2 or ("multiply(" not in body and "add(" not in body)
