"""``ipu-raise-choices``: a choice at every element that changes those at one index is an update of that slice."""

from dataclasses import dataclass

from ipu_mlir.dialects.analysis.control_flow import enclosing_loop
from ipu_mlir.dialects.analysis.loop_nest import loop_nest, reads_operand
from ipu_mlir.dialects.analysis.matchers import defining_op, has_one_use, predicate_of, terminator
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.clone import Known, clone_into
from ipu_mlir.passes.support.index_ranges import IndexRanges
from ipu_mlir.passes.support.linalg_builders import bodiless_generic, constant_index
from ipu_mlir.passes.support.rewriting import list_ops, replace_op
from ipu_mlir.passes.support.tensor_views import DYNAMIC

_CASTS = ("arith.index_cast", "arith.index_castui")


class RaiseChoices(Pass):
    """Write ``x = where(arange(n) == i, new, x)`` in a loop as an update of slice ``i``, the only one that changes.

    An iteration then takes as long as the slice is large, not the tensor, and iterations at places of their own can be
    done at once. The index is limited to the tensor; what lies outside changes nothing, since the choice remains.

    Needs:  linalg on tensors; loops over numbers (``ipu-raise-counted-loops``).
    Leaves: in loops, no element-wise op that keeps what the loop carries but at one index of a dimension.
    """

    name = "ipu-raise-choices"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for op in list_ops(module, "linalg.generic"):
                choice = _choice(op) if enclosing_loop(op) is not None else None
                if choice is not None:
                    with ir.InsertionPoint(op), op.location:
                        _update(op, choice)


@dataclass(frozen=True)
class _Choice:
    """An operand that is kept but at some indices.

    Attributes:
        kept: its number.
        comparisons: per loop that has such an index, the comparison in the body, and the index as that knows it.
        loops: per operand, the loop of each of its dimensions.
    """

    kept: int
    comparisons: "_Comparisons"
    loops: list[list[int]]


_Comparisons = dict[int, tuple[ir.Value, ir.Value]]


def _choice(op: ir.Operation) -> _Choice | None:
    nest, block, out = loop_nest(op), op.regions[0].blocks[0], len(op.operands) - 1
    if nest is None or "library_call" in op.attributes or len(op.results) != 1 or reads_operand(op, out):
        return None
    loops = [[loop for index in indices if (loop := index.plain_loop) is not None] for indices in nest.indices]
    if not all(nest.parallel) or loops[out] != [*range(len(nest.extents))]:
        return None
    if any(len(own) < len(indices) for own, indices in zip(loops, nest.indices, strict=True)):
        return None
    select = defining_op(terminator(block).operands[0], "arith.select")
    kept = next((n for n in range(out) if select is not None and block.arguments[n] == select.operands[2]), None)
    if select is None or kept is None or loops[kept] != loops[out] or not _is_carried(op.operands[kept]):
        return None
    found: _Comparisons = {}
    return _Choice(kept, found, loops) if _compared(select.operands[0], op, loops, found) else None


def _is_carried(value: ir.Value) -> bool:
    """True for what a loop carries, if only one op uses it."""
    if not isinstance(value.owner, ir.Block) or not has_one_use(value):
        return False
    return value.owner.owner.operation.name == "scf.for"


def _compared(condition: ir.Value, op: ir.Operation, loops: list[list[int]], found: _Comparisons) -> bool:
    """Note in ``found`` what ``condition`` compares loop indices with; False if that is not all."""
    made = defining_op(condition, "arith.andi", "arith.cmpi")
    if made is None:
        return False
    if made.name == "arith.andi":
        return all(_compared(each, op, loops, found) for each in made.operands)
    if predicate_of(made) != "eq":
        return False
    for one, other in (made.operands, list(made.operands)[::-1]):
        index = defining_op(_without_cast(one), "linalg.index")
        if index is not None and _is_one_number(other, op, loops):
            loop = ir.IntegerAttr(index.attributes["dim"]).value
            is_new = loop not in found
            found[loop] = condition, other
            return is_new
    return False


def _without_cast(value: ir.Value) -> ir.Value:
    cast = defining_op(value, *_CASTS)
    return value if cast is None else cast.operands[0]


def _is_one_number(value: ir.Value, op: ir.Operation, loops: list[list[int]]) -> bool:
    """True for a value from outside the body of ``op``, or an element that is the same for all iterations."""
    block = op.regions[0].blocks[0]
    if isinstance(value.owner, ir.Block):
        return value.owner != block or not loops[ir.BlockArgument(value).arg_number]
    return value.owner.operation.block != block


def _update(op: ir.Operation, choice: _Choice) -> None:
    """Do what ``op`` does on the slices alone, and put the new one into what is kept."""
    tensor, arith = upstream("tensor"), upstream("arith")
    block = op.regions[0].blocks[0]
    whole = op.operands[choice.kept]
    places: dict[int, ir.Value] = {}
    holds: Known = {}
    for loop, (comparison, number) in choice.comparisons.items():
        value, last = _outside(number, op), whole.type.shape[loop] - 1
        low, high = IndexRanges().of(value)
        if not isinstance(value.type, ir.IndexType):
            value = arith.IndexCastOp(ir.IndexType.get(), value).result
        if low >= 0 and high <= last:
            places[loop] = value
            holds[comparison] = arith.ConstantOp(comparison.type, 1).result
        else:
            least = arith.MaxSIOp(value, constant_index(0)).result
            places[loop] = arith.MinSIOp(least, constant_index(last)).result
    operands = [_slice(value, own, places) for value, own in zip(op.operands, choice.loops, strict=True)]
    part = operands[choice.kept]
    operands[-1] = tensor.EmptyOp(list(part.type.shape), op.results[0].type.element_type).result
    maps = [each.value for each in op.attributes["indexing_maps"]]
    new = bodiless_generic(operands[:-1], operands[-1:], maps, [True] * len(part.type.shape))
    types = [argument.type for argument in block.arguments]
    body = ir.Block.create_at_start(new.regions[0], types, [op.location] * len(types))
    known: Known = {**holds, **dict(zip(block.arguments, body.arguments, strict=True))}
    with ir.InsertionPoint(body):
        for inner in block.operations:
            loop = ir.IntegerAttr(inner.attributes["dim"]).value if inner.operation.name == "linalg.index" else None
            if loop in places:
                known[inner.operation.results[0]] = places[loop]
            elif not any(result in holds for result in inner.operation.results):
                clone_into(inner.operation, known)
    offsets, sizes, steps, given = _box(whole, choice.loops[choice.kept], places)
    replace_op(op, [tensor.InsertSliceOp(new.results[0], whole, given, [], [], offsets, sizes, steps).result])


def _outside(number: ir.Value, op: ir.Operation) -> ir.Value:
    """The scalar that the body of ``op`` knows as ``number``."""
    if not isinstance(number.owner, ir.Block) or number.owner != op.regions[0].blocks[0]:
        return number
    operand = op.operands[ir.BlockArgument(number).arg_number]
    if not isinstance(operand.type, ir.ShapedType):
        return operand
    made = defining_op(operand, "tensor.from_elements")
    return upstream("tensor").ExtractOp(operand, []).result if made is None else made.operands[0]


def _slice(value: ir.Value, loops: list[int], places: dict[int, ir.Value]) -> ir.Value:
    """The part of an operand at ``places``."""
    if not any(loop in places for loop in loops):
        return value
    offsets, sizes, steps, given = _box(value, loops, places)
    kind = ir.RankedTensorType.get(sizes, value.type.element_type)
    return upstream("tensor").ExtractSliceOp(kind, value, given, [], [], offsets, sizes, steps).result


def _box(
    value: ir.Value, loops: list[int], places: dict[int, ir.Value]
) -> tuple[list[int], list[int], list[int], list[ir.Value]]:
    """Offsets, sizes and steps of the slice of ``value``, and the offsets that are no constants."""
    offsets = [DYNAMIC if loop in places else 0 for loop in loops]
    sizes = [1 if loop in places else size for loop, size in zip(loops, value.type.shape, strict=True)]
    return offsets, sizes, [1] * len(loops), [places[loop] for loop in loops if loop in places]
