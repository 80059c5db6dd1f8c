"""The operations of a body, as entries of the tables of rates."""

from collections.abc import Iterable, Iterator

from ipu_mlir.dialects.analysis.locations import place_of
from ipu_mlir.dialects.analysis.matchers import defining_op
from ipu_mlir.dialects.costs.elementwise import ScalarOp, Shape
from ipu_mlir.dialects.costs.idioms import idioms_in
from ipu_mlir.dialects.costs.rates import BINARY, UNARY
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.element_types import ELEMENT_TYPES
from ipu_mlir.dialects.support.errors import CompileError

_FREE = ("arith.constant", "arith.bitcast", "linalg.index", "linalg.yield", "scf.yield", "scf.if", "cf.assert")
_MODES = ("ipu.noise", "ipu.round", "ipu.saturate", "ipu.is_sound")  # of the arithmetic units: Tile Vertex ISA, $FP_CTL
_LOADS = ("tensor.extract", "memref.load")
_CASTS = (
    "arith.extf",
    "arith.truncf",
    "arith.sitofp",
    "arith.uitofp",
    "arith.fptosi",
    "arith.fptoui",
    "arith.extsi",
    "arith.extui",
    "arith.trunci",
)
_FREE_CASTS = ("arith.index_cast", "arith.index_castui")  # an index is a word as any other
_FLOAT = {
    "arith.addf": "add",
    "arith.subf": "sub",
    "arith.mulf": "mul",
    "arith.divf": "div",
    "arith.remf": "rem",
    "arith.maximumf": "max",
    "arith.maxnumf": "max",
    "arith.minimumf": "min",
    "arith.minnumf": "min",
    "arith.cmpf": "compare",
    "math.clampf": "clamp",
    "math.fpowi": "pow",
    "math.powf": "pow",
}
_INTEGER = {
    "arith.divsi": "div",
    "arith.ceildivsi": "div",
    "arith.floordivsi": "div",
    "arith.remsi": "div",
    "arith.divui": "divu",
    "arith.ceildivui": "divu",
    "arith.remui": "divu",
    "arith.cmpi": "compare",
    "math.absi": "abs",
    "math.ctlz": "bits",
    "math.ctpop": "bits",
    "math.cttz": "bits",
    "math.ipowi": "pow",
}
_PLAIN = frozenset(
    (
        *(f"affine.{name}" for name in ("apply", "max", "min")),
        *(
            f"arith.{name}i"
            for name in ("add", "sub", "mul", "and", "or", "xor", "shl", "maxs", "maxu", "mins", "minu")
        ),
        *(f"arith.{name}" for name in ("shrsi", "shrui", "addui_extended", "mulsi_extended", "mului_extended")),
        *(f"scf.{name}" for name in ("for", "while", "condition", "index_switch")),  # one iteration; assumed
    )
)
_WAY_OUT = "write bodies in the ops of arith and math on numbers"
_NO_TIME = frozenset((*_FREE, *_MODES, *_FREE_CASTS, *_LOADS))
_ALL_CASTS = frozenset((*_CASTS, *_FREE_CASTS))
_LOGICAL = ("arith.andi", "arith.ori", "arith.xori")


def body_ops(op: ir.Operation) -> Iterator[ir.Operation]:
    """The operations in the body of a structured op that take time, also those in branches; loads are left out."""
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                operation = inner.operation
                if takes_time(operation):
                    yield operation
                yield from body_ops(operation)


def takes_time(op: ir.Operation) -> bool:
    """True if ``op`` is more than a constant, a name for a value, a load or a yield."""
    return op.name not in _NO_TIME


def is_cast(op: ir.Operation) -> bool:
    """True if ``op`` only gives a value another type."""
    return op.name in _ALL_CASTS


def scalar_ops(ops: Iterable[ir.Operation]) -> list[ScalarOp]:
    """``ops`` of a body, in the tables; where the machine has one operation for several of them, they are that one."""
    each = list(ops)
    last: dict[ir.Operation, str] = {}
    inside: set[ir.Operation] = set()
    for name, (end, *others) in idioms_in(each):
        last[end] = name
        inside.update(others)
    found = [op for op in each if op not in inside]
    return [_idiom(last[op], op) if op in last else scalar_op(op) for op in found]


def _idiom(name: str, last: ir.Operation) -> ScalarOp:
    return ScalarOp(Shape.UNARY if name in UNARY else Shape.BINARY, name, str(last.results[0].type))


def through_casts(value: ir.Value) -> ir.Value:
    """The value that ``value`` was before it got other types."""
    while (op := defining_op(value)) is not None and (is_cast(op) or op.name in _MODES):
        value = op.operands[0]
    return value


def scalar_op(op: ir.Operation) -> ScalarOp:
    """``op`` in the tables.

    Raises:
        CompileError: no table has it.
    """
    found = _entry(op)
    if found is None:
        place = place_of(op.location)
        raise CompileError(f"{place + ': ' if place else ''}'{op.name}' has no cost; {_WAY_OUT}")
    return found


def broken_body(op: ir.Operation) -> str | None:
    """The ops in the body of the structured op ``op`` that no vertex can compute, as the end of a sentence, or None."""
    for inner in body_ops(op):
        if _entry(inner) is None:
            return f"has '{inner.name}' in its body, which has no cost; {_WAY_OUT}"
        for value in inner.results:
            if not isinstance(value.type, ir.IntegerType) and str(value.type) not in ELEMENT_TYPES:
                return f"computes {value.type} in its body, which no tile does; it can be {', '.join(ELEMENT_TYPES)}"
    return None


def _entry(op: ir.Operation) -> ScalarOp | None:
    operands = list(op.operands)
    dtype = str(operands[-1 if op.name == "arith.select" else 0].type) if operands else ""
    if op.name in _CASTS:
        return ScalarOp(Shape.CAST, "cast", dtype, str(op.results[0].type))
    if op.name == "arith.select":
        return ScalarOp(Shape.SELECT, "select", dtype)
    if op.name in _FLOAT:
        return ScalarOp(Shape.BINARY, _FLOAT[op.name], dtype)
    if op.name in _INTEGER:
        return ScalarOp(Shape.INTEGER, _INTEGER[op.name], dtype)
    dialect, _, name = op.name.partition(".")
    if name in ("negf", "absf"):
        return ScalarOp(Shape.UNARY, name[:3], dtype)
    if dialect == "math" and name in UNARY:
        return ScalarOp(Shape.UNARY, name, dtype)
    if dialect == "math" and name in BINARY:
        return ScalarOp(Shape.BINARY, name, dtype)
    if op.name in _PLAIN:
        return ScalarOp(Shape.INTEGER, "logical" if op.name in _LOGICAL and dtype == "i1" else "plain", dtype)
    return None
