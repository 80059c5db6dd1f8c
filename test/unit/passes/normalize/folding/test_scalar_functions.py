"""Scalar operations on constants: the bits of the per-tile executor, for any bits."""

import numpy as np
import pytest
from support.compare import same_bits

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.analysis.matchers import PREDICATES
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.element_types import ELEMENT_TYPES
from ipu_mlir.dialects.support.narrow_floats import ML_DTYPES
from ipu_mlir.passes.normalize.folding import scalar_functions
from ipu_mlir.passes.normalize.folding.scalar_functions import value_of
from ipu_mlir.runtime.per_tile.scalar.narrow_floats import from_host, to_host
from ipu_mlir.runtime.per_tile.scalar.scalar_ops import SCALAR_OPS

FLOATS = tuple(name for name, row in ELEMENT_TYPES.items() if row.is_float)
INTEGERS = ("i1", "i8", "i16", "i32", "i64", "index")
CONTEXT = ipu.context()
UNARY = (
    "arith.negf",
    "math.absf",
    "math.ceil",
    "math.floor",
    "math.roundeven",
    "math.rsqrt",
    "math.sqrt",
    "math.trunc",
)
BINARY_INTEGERS = [
    name for name in scalar_functions.INTEGERS if name[6:9] in ("add", "sub", "mul", "and", "ori", "xor", "max", "min")
]
BINARY_INTEGERS += scalar_functions.SHIFTS


pytestmark = pytest.mark.filterwarnings("ignore:.* encountered in")


def op_on(text: str, takes: tuple[str, ...]) -> tuple[ir.Module, ir.OpView] | None:
    """The op ``text`` on arguments of the types ``takes``, and its module; None if there is no such op."""
    arguments = ", ".join(f"%x{place}: {name}" for place, name in enumerate(takes))
    try:
        module = ir.Module.parse(f"func.func @main({arguments}) {{ %y = {text}\n return }}")
    except ir.MLIRError:
        return None
    return module, module.body.operations[0].regions[0].blocks[0].operations[0]


def is_known(text: str, takes: tuple[str, ...], operands: list[np.ndarray]) -> bool:
    """True if the value is known; it is that of the per-tile executor then."""
    with CONTEXT, ir.Location.unknown():
        made = op_on(text, takes)
        found = None if made is None else value_of(made[1].operation, operands)
        if made is None or found is None:
            return False
        op = made[1]
        held = [from_host(name, x) if name in ML_DTYPES else x for name, x in zip(takes, operands, strict=True)]
        with np.errstate(all="ignore"):
            want = np.asarray(SCALAR_OPS[op.operation.name](op)(*held))
        gives = str(op.result.type)
        assert not same_bits([found], [to_host(gives, want) if gives in ML_DTYPES else want]), text
        return True


def numbers(name: str, seed: int) -> np.ndarray:
    """Random bits of a type, and the numbers that are often special."""
    dtype, generator = ELEMENT_TYPES[name].dtype, np.random.default_rng(seed)
    if dtype == np.bool_:
        return generator.integers(0, 2, 300).astype(np.bool_)
    with np.errstate(all="ignore"):
        special = np.array([0, 1, -1, 2, -2, 3, 7, 100, -100, 127, -128]).astype(dtype)
    random = np.frombuffer(generator.bytes((300 - special.size) * dtype.itemsize), dtype)
    return generator.permutation(np.concatenate([special, random]))


@pytest.mark.parametrize("name", scalar_functions.FLOATS)
def test_floats(name):
    arity = 1 if name in UNARY else 2
    for kind in FLOATS:
        operands = [numbers(kind, seed) for seed in range(arity)]
        assert is_known(f"{name} {', '.join(['%x0', '%x1'][:arity])} : {kind}", (kind,) * arity, operands), kind


@pytest.mark.parametrize("name", BINARY_INTEGERS)
def test_integers(name):
    for kind in INTEGERS:
        operands = [numbers(kind, 0), numbers(kind, 1)]
        assert is_known(f"{name} %x0, %x1 : {kind}", (kind, kind), operands), kind


def test_absolute_integers():
    for kind in INTEGERS:
        assert is_known(f"math.absi %x0 : {kind}", (kind,), [numbers(kind, 0)])


@pytest.mark.parametrize("name", ["arith.cmpi", "arith.cmpf"])
def test_comparisons(name):
    for predicate in PREDICATES[name]:
        for kind in FLOATS if name == "arith.cmpf" else INTEGERS:
            operands = [numbers(kind, 0), numbers(kind, 1)]
            operands[1][:100] = operands[0][:100]
            assert is_known(f"{name} {predicate}, %x0, %x1 : {kind}", (kind, kind), operands)


def test_choices():
    for kind in (*FLOATS, *INTEGERS):
        operands = [numbers("i1", 2), numbers(kind, 0), numbers(kind, 1)]
        assert is_known(f"arith.select %x0, %x1, %x2 : {kind}", ("i1", kind, kind), operands)


CONVERSIONS = {
    "arith.extf": (FLOATS, FLOATS),
    "arith.truncf": (FLOATS, FLOATS),
    "arith.sitofp": (INTEGERS[:-1], FLOATS),
    "arith.uitofp": (INTEGERS[:-1], FLOATS),
    "arith.extsi": (INTEGERS[:-1], INTEGERS[:-1]),
    "arith.extui": (INTEGERS[:-1], INTEGERS[:-1]),
    "arith.trunci": (INTEGERS[:-1], INTEGERS[:-1]),
    "arith.index_cast": (INTEGERS, INTEGERS),
    "arith.index_castui": (INTEGERS, INTEGERS),
    "arith.bitcast": ((*FLOATS, *INTEGERS[:-1]), (*FLOATS, *INTEGERS[:-1])),
}


@pytest.mark.parametrize("name", CONVERSIONS)
def test_conversions(name):
    sources, targets = CONVERSIONS[name]
    pairs = [(a, b) for a in sources for b in targets if a != b]
    known = [is_known(f"{name} %x0 : {a} to {b}", (a,), [numbers(a, 0)]) for a, b in pairs]
    assert sum(known) >= len(INTEGERS) - 1


@pytest.mark.parametrize("name", ["arith.fptosi", "arith.fptoui"])
def test_integer_parts(name):
    for source in FLOATS:
        values = np.array([0, 0.5, 1, 1.75, 2, 100, -1.5, -100]).astype(ELEMENT_TYPES[source].dtype)
        values = values[np.abs(values.astype(np.float32)) <= 100]
        for target in ("i8", "i16", "i32"):
            kept = values[values >= 0] if name == "arith.fptoui" else values
            assert is_known(f"{name} %x0 : {source} to {target}", (source,), [kept])
            for number in (np.nan, 1e30):
                beyond = np.array([number], np.float32).astype(ELEMENT_TYPES[source].dtype)
                if not float(beyond[0]) < 100:
                    assert not is_known(f"{name} %x0 : {source} to i8", (source,), [beyond])


def test_what_would_be_rounded_twice_is_not_known():
    assert not is_known("arith.truncf %x0 : f64 to bf16", ("f64",), [np.array([1.0])])
    assert not is_known("arith.sitofp %x0 : i32 to bf16", ("i32",), [np.array([2**24 + 1], np.int32)])
    assert is_known("arith.sitofp %x0 : i32 to bf16", ("i32",), [np.array([-(2**24), 2**24 - 1], np.int32)])
