"""``ipu-simplify-stablehlo``: marks that frameworks leave in a program go, functions get the names of ``math``."""

from math import prod
from typing import Any

from ipu_mlir.dialects.analysis.matchers import module_around, terminator
from ipu_mlir.dialects.ipu import BarrierOp
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.importing.stablehlo.builders import full, stablehlo_op
from ipu_mlir.passes.importing.stablehlo.read_program_calls import is_ordered_call
from ipu_mlir.passes.support.rewriting import list_ops, replace_op

MATH = {
    **{f"chlo.{name}": f"math.{name}" for name in ("erf", "erfc", "tan", "sinh", "cosh", "asin", "acos", "atan")},
    **{f"chlo.{name}": f"math.{name}" for name in ("asinh", "acosh", "atanh")},
    "mhlo.erf": "math.erf",
    "stablehlo.tan": "math.tan",
}
"""Functions that are one op of ``math`` for real numbers."""
_LONG, _FEW = 4096, 64
"""Elements that take long in one place, and results that are too few to be in many."""
IDENTITIES = ("mhlo.copy", "sdy.sharding_constraint")
IDENTITY_CALLS = (
    "Sharding",
    "SPMDFullToShardShape",
    "SPMDShardToFullShape",
    "annotate_device_placement",
    "LayoutConstraint",
)
"""Custom calls that say where a value lies on the machines of the framework."""


class SimplifyStablehlo(Pass):
    """Drop ops of StableHLO that only mark a value, and name functions as ``math`` does.

    Needs:  StableHLO.
    Leaves: custom calls named ``ipu.*`` that say so where they have an effect; no copies and marks, and
            ``ipu.barrier`` for barriers of floats outside of loops and branches; no
            reshape to the shape that is there, at which upstream ends the process for an unsigned scalar; no
            ``set_dimension_size`` to the whole size; no reduction over no dimension or of no elements; no slice and no
            padding of no elements, which upstream puts outside of its tensor; parts, and then a reduction of these, for
            a long reduction with several results; a sort for the call ``ApproxTopK``;
            ``tensor.concat`` for ``concatenate``; ops of ``math`` for error functions and the like, which otherwise
            become long polynomials, and for powers of integers, which become loops of six squares.
    """

    name = "ipu-simplify-stablehlo"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            ops = list_ops(module)
            comparators = {called_function(op) for op in ops if is_top_k(op)}
            for op in ops:
                with ir.InsertionPoint(op) if op.parent is not None else ir.Location.unknown(), op.location:
                    _simplify(op)
            for comparator in comparators:
                comparator.erase()


def _simplify(op: ir.Operation) -> None:
    if op.name in IDENTITIES or is_identity_call(op):
        replace_op(op, list(op.operands))
    elif op.name == "stablehlo.optimization_barrier":
        replace_op(op, [_barrier(value, op) for value in op.operands])
    elif op.name == "stablehlo.reshape" and op.operands[0].type == op.results[0].type:
        replace_op(op, [op.operands[0]])
    elif op.name == "sdy.mesh":
        op.erase()
    elif is_ordered_call(op):
        op.attributes["has_side_effect"] = ir.BoolAttr.get(True)
    elif math_name(op) is not None:
        name = math_name(op)
        assert name is not None
        made = ir.Operation.create(name, results=[op.results[0].type], operands=list(op.operands))
        replace_op(op, list(made.results))
    elif op.name == "stablehlo.power" and _is_unsigned(op.results[0].type):
        replace_op(op, [_unsigned_power(op)])
    elif op.name == "stablehlo.set_dimension_size" and sets_whole_size(op):
        replace_op(op, [op.operands[0]])
    elif is_top_k(op):
        replace_op(op, _top_k(op))
    elif op.name == "stablehlo.slice" and 0 in op.results[0].type.shape:
        kind = op.results[0].type
        replace_op(op, [upstream("tensor").EmptyOp(kind.shape, kind.element_type).result])
    elif op.name == "stablehlo.pad" and 0 in op.operands[0].type.shape:
        replace_op(op, [_spread(op.operands[1], op.results[0].type)])
    elif op.name == "stablehlo.concatenate":
        replace_op(
            op, [upstream("tensor").ConcatOp(op.results[0].type, op.attributes["dimension"], op.operands).result]
        )
    elif op.name == "stablehlo.reduce" and 0 in op.operands[0].type.shape:
        replace_op(op, _initial_values(op))
    elif op.name == "stablehlo.reduce" and not list(ir.DenseI64ArrayAttr(op.attributes["dimensions"])):
        _reduce_one(op)
    elif op.name == "stablehlo.reduce" and _is_long_of_its_own(op):
        replace_op(op, _reduced_in_parts(op))


def _barrier(value: ir.Value, op: ir.Operation) -> ir.Value:
    """``value`` behind a barrier; in a loop, or a branch, there is nothing that has computed it before."""
    kind = value.type
    is_tensor = isinstance(kind, ir.RankedTensorType) and kind.has_static_shape
    is_float = is_tensor and isinstance(kind.element_type, ir.FloatType)
    is_outside = op.parent is not None and op.parent.operation.name == "func.func"
    return BarrierOp(source=value, anew=kind).anew if is_float and is_outside else value


def math_name(op: ir.Operation) -> str | None:
    """The op of ``math`` that ``op`` is, if it is one on real numbers, or a power of signed integers."""
    name = op.name
    if name == "stablehlo.power" and _is_signless(op.results[0].type):
        return "math.ipowi"
    if name == "stablehlo.composite":
        name = ir.StringAttr(op.attributes["name"]).value
    if name not in MATH or not isinstance(op.results[0].type.element_type, ir.FloatType):
        return None
    return MATH[name]


def _is_signless(type_: Any) -> bool:
    return isinstance(type_.element_type, ir.IntegerType) and type_.element_type.is_signless


def _is_unsigned(type_: Any) -> bool:
    return isinstance(type_.element_type, ir.IntegerType) and type_.element_type.is_unsigned


def _unsigned_power(op: ir.Operation) -> ir.Value:
    """``(base * base) ** (exponent // 2)``, whose exponent has no sign, times the base if the exponent is odd."""
    (base, exponent), kind = op.operands, op.results[0].type
    one = full(kind, 1)
    signless = ir.RankedTensorType.get(kind.shape, ir.IntegerType.get_signless(kind.element_type.width))
    halves = [
        stablehlo_op("stablehlo.multiply", kind, [base, base]),
        stablehlo_op("stablehlo.shift_right_logical", kind, [exponent, one]),
    ]
    signed = [stablehlo_op("stablehlo.bitcast_convert", signless, [each]) for each in halves]
    squares = stablehlo_op("stablehlo.bitcast_convert", kind, [stablehlo_op("math.ipowi", signless, signed)])
    odd = stablehlo_op("stablehlo.and", kind, [exponent, one])
    even = stablehlo_op("stablehlo.subtract", kind, [one, odd])
    factor = stablehlo_op("stablehlo.add", kind, [stablehlo_op("stablehlo.multiply", kind, [odd, base]), even])
    return stablehlo_op("stablehlo.multiply", kind, [squares, factor])


def is_identity_call(op: ir.Operation) -> bool:
    """True if ``op`` is a custom call that gives back what it gets."""
    if op.name != "stablehlo.custom_call" or len(op.operands) != len(op.results):
        return False
    return ir.StringAttr(op.attributes["call_target_name"]).value in IDENTITY_CALLS


def is_top_k(op: ir.Operation) -> bool:
    """True if ``op`` is a custom call that finds the largest or the smallest elements along a dimension."""
    return op.name == "stablehlo.custom_call" and ir.StringAttr(op.attributes["call_target_name"]).value == "ApproxTopK"


def sets_whole_size(op: ir.Operation) -> bool:
    """True if a ``set_dimension_size`` says the size that the tensor has anyway."""
    size = op.operands[1].owner
    if isinstance(size, ir.Block) or size.name != "stablehlo.constant":
        return False
    (value,) = ir.DenseIntElementsAttr(size.attributes["value"])
    return value == op.operands[0].type.shape[ir.IntegerAttr(op.attributes["dimension"]).value]


def _top_k(op: ir.Operation) -> list[ir.Value]:
    """The first elements of a sort by the function that the call names; they are exact, which the call allows."""
    operands = list(op.operands)[: len(op.results)]
    along = ir.DictAttr(op.attributes["mhlo.backend_config"])["reduction_dim"]
    attributes = {"dimension": along, "is_stable": ir.BoolAttr.get(True)}
    types = [operand.type for operand in operands]
    sort = ir.Operation.create("stablehlo.sort", types, operands, attributes, regions=1)
    copy_called(op, sort.regions[0])
    return [_begin(sorted_, result.type) for sorted_, result in zip(sort.results, op.results, strict=True)]


def copy_called(op: ir.Operation, region: ir.Region) -> None:
    """Put a copy of the function that a custom call names into ``region``."""
    copied = called_function(op).clone()
    body = copied.regions[0].blocks[0]
    end = terminator(body)
    with ir.InsertionPoint(end):
        ir.Operation.create("stablehlo.return", operands=list(end.operands))
    end.erase()
    body.append_to(region)
    copied.erase()


def called_function(op: ir.Operation) -> ir.Operation:
    """The function that a custom call names, such as the one that says which of two elements comes first."""
    (name,) = ir.ArrayAttr(op.attributes["called_computations"])
    return ir.SymbolTable(module_around(op))[ir.FlatSymbolRefAttr(name).value].operation


def _begin(value: ir.Value, kind: ir.Type) -> ir.Value:
    """The elements of ``value`` at the indices that ``kind`` has."""
    bounds = {
        "start_indices": ir.DenseI64ArrayAttr.get([0] * kind.rank),
        "limit_indices": ir.DenseI64ArrayAttr.get(kind.shape),
        "strides": ir.DenseI64ArrayAttr.get([1] * kind.rank),
    }
    return ir.Operation.create("stablehlo.slice", [kind], [value], bounds).results[0]


def _initial_values(op: ir.Operation) -> list[ir.Value]:
    """The results of a reduction that has no elements."""
    initial = list(op.operands)[len(op.results) :]
    return [_spread(value, result.type) for result, value in zip(op.results, initial, strict=True)]


def _spread(value: ir.Value, kind: ir.Type) -> ir.Value:
    """A tensor of type ``kind`` whose elements are all ``value``."""
    none = {"broadcast_dimensions": ir.DenseI64ArrayAttr.get([])}
    return ir.Operation.create("stablehlo.broadcast_in_dim", [kind], [value], none).results[0]


def _reduce_one(op: ir.Operation) -> None:
    """Reduce over a dimension of size 1 behind the others: elements meet the initial value, and that is all."""
    half = len(op.operands) // 2
    for number in range(half):
        kind = op.operands[number].type
        wider = ir.RankedTensorType.get([*kind.shape, 1], kind.element_type)
        made = ir.Operation.create("stablehlo.reshape", results=[wider], operands=[op.operands[number]])
        op.operands[number] = made.results[0]
    op.attributes["dimensions"] = ir.DenseI64ArrayAttr.get([len(op.results[0].type.shape)])


def _is_long_of_its_own(op: ir.Operation) -> bool:
    """True of a reduction of many elements to few results of several tensors, unless it is to say where one stands."""
    kinds = [operand.type for operand in op.operands]
    if len(op.results) == 1 or not all(kind.has_static_shape for kind in kinds):
        return False
    if any(inner.operation.name == "stablehlo.compare" for inner in op.regions[0].blocks[0].operations):
        return False
    return kinds[0].shape[_longest(op)] >= _LONG and prod(op.results[0].type.shape) <= _FEW


def _longest(op: ir.Operation) -> int:
    """The longest dimension that a reduction goes over."""
    return max(ir.DenseI64ArrayAttr(op.attributes["dimensions"]), key=lambda each: op.operands[0].type.shape[each])


def _reduced_in_parts(op: ir.Operation) -> list[ir.Value]:
    """The results of a reduction of parts, whose results are reduced.

    The order of the elements, and how often initial values are among them, is for an implementation to choose.
    """
    count, at = len(op.results), _longest(op)
    dims, initial = list(ir.DenseI64ArrayAttr(op.attributes["dimensions"])), list(op.operands)[count:]
    size = op.operands[0].type.shape[at]
    parts = 1 << size.bit_length() // 2
    kept = sum(each not in dims for each in range(at))
    inside = [each + (each >= at) for each in dims]
    cut = [_in_parts(value, begin, at, parts) for value, begin in zip(op.operands, initial, strict=False)]
    shape = list(op.results[0].type.shape)
    first = _reduced(op, [*cut, *initial], inside, [*shape[:kept], parts, *shape[kept:]])
    return list(_reduced(op, [*first.results, *initial], [kept], shape).results)


def _in_parts(value: ir.Value, begin: ir.Value, at: int, parts: int) -> ir.Value:
    """``value`` with dimension ``at`` as two: parts, and elements of each, of which the last ones may be ``begin``."""
    shape, element = list(value.type.shape), value.type.element_type
    length = -(-shape[at] // parts)
    behind = [(parts * length - size) * (each == at) for each, size in enumerate(shape)]
    wider = ir.RankedTensorType.get([size + more for size, more in zip(shape, behind, strict=True)], element)
    none = [0] * len(shape)
    edges = {"edge_padding_low": none, "edge_padding_high": behind, "interior_padding": none}
    padded = {name: ir.DenseI64ArrayAttr.get(each) for name, each in edges.items()}
    value = stablehlo_op("stablehlo.pad", wider, [value, begin], padded) if any(behind) else value
    cut = ir.RankedTensorType.get([*shape[:at], parts, length, *shape[at + 1 :]], element)
    return stablehlo_op("stablehlo.reshape", cut, [value])


def _reduced(op: ir.Operation, operands: list[ir.Value], dims: list[int], shape: list[int]) -> ir.Operation:
    """Such a reduction as ``op`` of other operands, over other dimensions, to results of ``shape``."""
    made = op.clone()
    for number, operand in enumerate(operands):
        made.operands[number] = operand
    made.attributes["dimensions"] = ir.DenseI64ArrayAttr.get(dims)
    for result in made.results:
        result.set_type(ir.RankedTensorType.get(shape, result.type.element_type))
    return made
