"""Every scalar op of the tables, on the values that tell right from nearly right."""

import math

import numpy as np
import pytest

from ipu_mlir.runtime.translator.importing.scalar_lowerings import CMPF_PREDICATES, CMPI_PREDICATES, LOWERINGS
from ipu_mlir.runtime.translator.importing.scalar_ops import SCALAR_OPS

NAN, INF = math.nan, math.inf
FLOATS = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 3.7, -3.7, 1e-30, 1e30, INF, -INF, NAN], np.float32)
INTS = np.array([0, 1, -1, 2, -2, 7, -7, 31, 100, -100, 2**31 - 1, -(2**31)], np.int32)
DTYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "i1": np.bool_, "i8": np.int8, "i16": np.int16,
          "i32": np.int32, "i64": np.int64, "index": np.int64}  # fmt: skip


def body(op: str, inputs: list[str], result: str, syntax: str, size: int) -> str:
    """A program that applies one op to vectors of the given element types."""
    types = [*inputs, result]
    memrefs = [f"memref<{size}x{t}>" for t in types]
    arguments = ", ".join(f"%m{i}: {m}" for i, m in enumerate(memrefs[:-1]))
    maps = ", ".join(["affine_map<(d0) -> (d0)>"] * len(types))
    scalars = ", ".join(f"%x{i}: {t}" for i, t in enumerate(types))
    names = ", ".join(f"%m{i}" for i in range(len(inputs)))
    return f"""func.func @main({arguments}) -> {memrefs[-1]} {{
      %o = memref.alloc() : {memrefs[-1]}
      linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel"]}}
        ins({names} : {", ".join(memrefs[:-1])}) outs(%o : {memrefs[-1]}) {{
      ^bb0({scalars}):
        %r = {op} {syntax}
        linalg.yield %r : {result}
      }}
      return %o : {memrefs[-1]}
    }}"""


def pairs(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of ``values``."""
    return np.repeat(values, len(values)), np.tile(values, len(values))


def unary(op, values, kind, run, result=None):
    syntax = f"%x0 : {kind}" + (f" to {result}" if result else "")
    return run(body(op, [kind], result or kind, syntax, len(values)), values)[0]


def binary(op, a, b, kind, run):
    return run(body(op, [kind, kind], kind, f"%x0, %x1 : {kind}", len(a)), a, b)[0]


def trunc_div(a, b):
    return np.array(
        [
            0 if y == 0 else int(abs(int(x)) // abs(int(y)) * (1 if (x < 0) == (y < 0) else -1))
            for x, y in zip(a, b, strict=True)
        ]
    )


def erf(x):
    return np.array([math.erf(v) for v in x.astype(float)])


def erfc(x):
    return np.array([math.erfc(v) for v in x.astype(float)])


def half_away(x):
    return np.copysign(np.floor(np.abs(x) + np.float32(0.5)), x)


FLOAT_UNARY = {
    "math.absf": np.abs, "math.acos": np.arccos, "math.acosh": np.arccosh, "math.asin": np.arcsin,
    "math.asinh": np.arcsinh,
    "math.atan": np.arctan, "math.atanh": np.arctanh, "math.cbrt": np.cbrt, "math.ceil": np.ceil, "math.cos": np.cos,
    "math.cosh": np.cosh, "math.erf": erf, "math.erfc": erfc, "math.exp": np.exp, "math.exp2": np.exp2,
    "math.expm1": np.expm1, "math.floor": np.floor, "math.log": np.log, "math.log10": np.log10, "math.log1p": np.log1p,
    "math.log2": np.log2, "math.round": half_away, "math.roundeven": np.round, "math.sin": np.sin, "math.sinh": np.sinh,
    "math.sqrt": np.sqrt, "math.tan": np.tan, "math.tanh": np.tanh, "math.trunc": np.trunc, "arith.negf": np.negative,
    "math.rsqrt": lambda x: 1 / np.sqrt(x),
}  # fmt: skip
FLOAT_BINARY = {
    "arith.addf": np.add, "arith.subf": np.subtract, "arith.mulf": np.multiply, "arith.divf": np.divide,
    "arith.remf": np.fmod, "arith.maximumf": np.maximum, "arith.minimumf": np.minimum, "arith.maxnumf": np.fmax,
    "arith.minnumf": np.fmin, "math.atan2": np.arctan2, "math.copysign": np.copysign, "math.powf": np.power,
}  # fmt: skip
FLOAT_TESTS = {
    "math.isfinite": np.isfinite, "math.isinf": np.isinf, "math.isnan": np.isnan,
    "math.isnormal": lambda x: np.isfinite(x) & (np.abs(x) >= np.finfo(np.float32).tiny),
}  # fmt: skip
WRAPPING = {"arith.addi": int.__add__, "arith.subi": int.__sub__, "arith.muli": int.__mul__}
INT_BINARY = {
    "arith.andi": np.bitwise_and, "arith.ori": np.bitwise_or, "arith.xori": np.bitwise_xor, "arith.maxsi": np.maximum,
    "arith.minsi": np.minimum,
    "arith.maxui": lambda a, b: np.maximum(a.view(np.uint32), b.view(np.uint32)).view(np.int32),
    "arith.minui": lambda a, b: np.minimum(a.view(np.uint32), b.view(np.uint32)).view(np.int32),
}  # fmt: skip
DIVISIONS = {
    "arith.divsi": trunc_div,
    "arith.floordivsi": lambda a, b: a.astype(object) // b.astype(object),
    "arith.ceildivsi": lambda a, b: -((-a.astype(object)) // b.astype(object)),
    "arith.remsi": lambda a, b: a.astype(object) - trunc_div(a, b).astype(object) * b.astype(object),
    "arith.divui": lambda a, b: a.view(np.uint32) // b.view(np.uint32),
    "arith.ceildivui": lambda a, b: -(-a.view(np.uint32).astype(object) // b.view(np.uint32).astype(object)),
    "arith.remui": lambda a, b: a.view(np.uint32) % b.view(np.uint32),
}
SHIFTS = {
    "arith.shli": lambda a, b: a.astype(np.int64) << b,
    "arith.shrsi": lambda a, b: a >> b,
    "arith.shrui": lambda a, b: a.view(np.uint32) >> b.view(np.uint32),
}
BITS = {
    "math.ctpop": lambda v: bin(v).count("1"),
    "math.ctlz": lambda v: 32 - v.bit_length(),
    "math.cttz": lambda v: 32 if v == 0 else (v & -v).bit_length() - 1,
}
CASTS = {
    "arith.extf": [
        ("f32", "f64", FLOATS, lambda x: x.astype(np.float64)),
        ("f16", "f32", FLOATS[:10].astype(np.float16), np.float32),
    ],
    "arith.truncf": [("f64", "f32", FLOATS.astype(np.float64) / 3, np.float32)],
    "arith.fptosi": [("f32", "i32", FLOATS[:10], lambda x: x.astype(np.int32))],
    "arith.fptoui": [("f32", "i32", np.float32([0, 1.9, 3e9]), lambda x: x.astype(np.uint32).view(np.int32))],
    "arith.sitofp": [
        ("i32", "f32", INTS, np.float32),
        ("i1", "f32", np.array([True, False]), lambda x: -x.astype(np.float32)),
    ],
    "arith.uitofp": [
        ("i32", "f64", INTS, lambda x: x.view(np.uint32).astype(np.float64)),
        ("i1", "f32", np.array([True, False]), np.float32),
    ],
    "arith.extsi": [
        ("i32", "i64", INTS, np.int64),
        ("i1", "i32", np.array([True, False]), lambda x: -x.astype(np.int32)),
    ],
    "arith.extui": [
        ("i32", "i64", INTS, lambda x: x.view(np.uint32).astype(np.int64)),
        ("i1", "i8", np.array([True, False]), np.int8),
    ],
    "arith.trunci": [
        ("i32", "i8", INTS, lambda x: x.astype(np.int8)),
        ("i32", "i1", INTS, lambda x: (x & 1).astype(bool)),
    ],
    "arith.index_cast": [
        ("i32", "index", INTS, np.int64),
        ("index", "i32", INTS.astype(np.int64) * 3, lambda x: x.astype(np.int32)),
    ],
    "arith.index_castui": [("i32", "index", INTS, lambda x: x.view(np.uint32).astype(np.int64))],
    "arith.bitcast": [
        ("f32", "i32", FLOATS, lambda x: x.view(np.int32)),
        ("i32", "f32", INTS, lambda x: x.view(np.float32)),
    ],
}
OTHERS = {"arith.select", "arith.cmpf", "arith.cmpi", "math.absi", "math.ipowi", "math.fpowi", "math.fma"}


def test_every_op_of_the_tables_is_tested_here():
    tested = OTHERS.union(FLOAT_UNARY, FLOAT_BINARY, FLOAT_TESTS, WRAPPING, INT_BINARY, DIVISIONS, SHIFTS, BITS, CASTS)
    assert set(SCALAR_OPS) | set(LOWERINGS) | {"arith.bitcast"} == tested


@pytest.mark.parametrize("op", FLOAT_UNARY)
def test_float_function(op, run_plain):
    with np.errstate(all="ignore"):
        want = FLOAT_UNARY[op](FLOATS).astype(np.float32)
    got = unary(op, FLOATS, "f32", run_plain)
    np.testing.assert_allclose(got, want, rtol=2e-7)
    zero = want == 0
    np.testing.assert_array_equal(np.signbit(got[zero]), np.signbit(want[zero]))


@pytest.mark.parametrize("op", FLOAT_BINARY)
def test_float_function_of_two(op, run_plain):
    a, b = pairs(FLOATS)
    with np.errstate(all="ignore"):
        want = FLOAT_BINARY[op](a, b)
    np.testing.assert_array_equal(binary(op, a, b, "f32", run_plain), want)


@pytest.mark.parametrize("op", FLOAT_TESTS)
def test_float_classification(op, run_plain):
    values = np.append(FLOATS, np.float32(1e-40))
    (got,) = run_plain(body(op, ["f32"], "i1", "%x0 : f32", len(values)), values)
    np.testing.assert_array_equal(got, FLOAT_TESTS[op](values))


@pytest.mark.parametrize("op", WRAPPING)
@pytest.mark.parametrize("kind", ["i8", "i32", "i64"])
def test_integers_wrap_around(op, kind, run_plain):
    dtype = DTYPES[kind]
    limits = np.iinfo(dtype)
    a, b = pairs(np.array([0, 1, -1, 5, limits.max, limits.min], dtype))
    want = [
        (WRAPPING[op](int(x), int(y)) - limits.min) % 2**limits.bits + limits.min for x, y in zip(a, b, strict=True)
    ]
    np.testing.assert_array_equal(binary(op, a, b, kind, run_plain), np.array(want, dtype))


@pytest.mark.parametrize("op", INT_BINARY)
def test_integer_function_of_two(op, run_plain):
    a, b = pairs(INTS)
    np.testing.assert_array_equal(binary(op, a, b, "i32", run_plain), INT_BINARY[op](a, b))


@pytest.mark.parametrize("op", DIVISIONS)
def test_division_rounds_as_its_name_says(op, run_plain):
    a, b = pairs(INTS)
    defined = (b != 0) & ~((a == INTS.min()) & (b == -1))
    a, b = a[defined], b[defined]
    got = binary(op, a, b, "i32", run_plain).astype(np.int64) % 2**32
    np.testing.assert_array_equal(got, DIVISIONS[op](a, b).astype(np.int64) % 2**32)


@pytest.mark.parametrize("op", SHIFTS)
def test_shift(op, run_plain):
    a, b = (x.ravel() for x in np.meshgrid(INTS, np.array([0, 1, 5, 31], np.int32)))
    got = binary(op, a, b, "i32", run_plain).astype(np.int64) % 2**32
    np.testing.assert_array_equal(got, SHIFTS[op](a, b).astype(np.int64) % 2**32)


@pytest.mark.parametrize("op", BITS)
def test_bit_count(op, run_plain):
    want = [BITS[op](int(v) % 2**32) for v in INTS]
    np.testing.assert_array_equal(unary(op, INTS, "i32", run_plain), want)


@pytest.mark.parametrize(
    ("op", "source", "target", "values", "expected"), [(op, *case) for op, cases in CASTS.items() for case in cases]
)
def test_cast(op, source, target, values, expected, run_plain):
    with np.errstate(all="ignore"):
        want = expected(values)
    got = unary(op, values, source, run_plain, result=target)
    assert got.dtype == DTYPES[target]
    np.testing.assert_array_equal(got, want)


ORDERED = {
    "eq": np.equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "lt": np.less,
    "le": np.less_equal,
    "ne": np.not_equal,
}


@pytest.mark.parametrize("predicate", CMPF_PREDICATES)
def test_float_comparison_with_nan(predicate, run_plain):
    a, b = pairs(FLOATS)
    nan = np.isnan(a) | np.isnan(b)
    if predicate in ("true", "false", "ord", "uno"):
        want = {"true": nan | True, "false": nan & False, "ord": ~nan, "uno": nan}[predicate]
    else:
        relation = ORDERED[predicate[1:]](a, b)
        want = relation & ~nan if predicate[0] == "o" else relation | nan
    (got,) = run_plain(body("arith.cmpf", ["f32", "f32"], "i1", f"{predicate}, %x0, %x1 : f32", len(a)), a, b)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("predicate", CMPI_PREDICATES)
@pytest.mark.parametrize("kind", ["i32", "i1"])
def test_integer_comparison(predicate, kind, run_plain):
    a, b = pairs(INTS if kind == "i32" else np.array([False, True]))
    relation = ORDERED[predicate if len(predicate) == 2 else predicate[1:]]
    if kind == "i1":  # as a signed number true is -1
        seen = (-a.astype(int), -b.astype(int)) if predicate[0] == "s" else (a, b)
    else:
        seen = (a.view(np.uint32), b.view(np.uint32)) if predicate[0] == "u" else (a, b)
    (got,) = run_plain(body("arith.cmpi", [kind, kind], "i1", f"{predicate}, %x0, %x1 : {kind}", len(a)), a, b)
    np.testing.assert_array_equal(got, relation(*seen))


@pytest.mark.parametrize("op", ["addi", "subi", "muli", "maxsi", "minsi", "maxui", "minui", "andi", "ori", "xori"])
def test_arithmetic_on_i1_is_modulo_two(op, run_plain):
    a, b = pairs(np.array([False, True]))
    want = {
        "addi": a ^ b, "subi": a ^ b, "muli": a & b, "andi": a & b, "ori": a | b, "xori": a ^ b,
        "maxsi": a & b, "minsi": a | b, "maxui": a | b, "minui": a & b,
    }[op]  # fmt: skip
    np.testing.assert_array_equal(binary(f"arith.{op}", a, b, "i1", run_plain), want)


@pytest.mark.parametrize("kind", ["f32", "i32", "i1"])
@pytest.mark.parametrize("size", [5, 5000])
def test_select(kind, size, run_plain):
    rng = np.random.default_rng(3)
    condition = rng.random(size) < 0.5
    a, b = (rng.integers(0, 2, size).astype(DTYPES[kind]) for _ in range(2))
    if kind == "f32":
        a[0] = NAN
    (got,) = run_plain(body("arith.select", ["i1", kind, kind], kind, f"%x0, %x1, %x2 : {kind}", size), condition, a, b)
    np.testing.assert_array_equal(got, np.where(condition, a, b))


def test_powers_and_fused_multiply(run_plain):
    a, b = pairs(np.array([0, 1, -1, 2, -3, 9], np.int32))
    want = [
        int(x) ** int(y) if y >= 0 else {1: 1, -1: -1 if y % 2 else 1}.get(int(x), 0) for x, y in zip(a, b, strict=True)
    ]
    np.testing.assert_array_equal(binary("math.ipowi", a, b, "i32", run_plain), np.array(want).astype(np.int32))
    x, n = np.float32([2, -3, 0.5]), np.array([3, 2, -1], np.int32)
    (got,) = run_plain(body("math.fpowi", ["f32", "i32"], "f32", "%x0, %x1 : f32, i32", 3), x, n)
    np.testing.assert_array_equal(got, [8, 9, 2])
    (got,) = run_plain(body("math.fma", ["f32"] * 3, "f32", "%x0, %x1, %x2 : f32", 3), x, x, x)
    np.testing.assert_array_equal(got, x * x + x)
    np.testing.assert_array_equal(unary("math.absi", INTS[:-1], "i32", run_plain), np.abs(INTS[:-1]))
