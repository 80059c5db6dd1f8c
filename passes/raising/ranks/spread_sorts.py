"""``ipu-spread-sorts``: long sorts over many tiles."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ipu_mlir.dialects.analysis.matchers import constant_of, defining_op, terminator
from ipu_mlir.dialects.attributes.attributes import module_target
from ipu_mlir.dialects.codelets.rank import rank_cycles
from ipu_mlir.dialects.codelets.scatter import multi_update_cycles
from ipu_mlir.dialects.codelets.sort_tuples import SORT_TUPLES
from ipu_mlir.dialects.machine.machine import Machine, machine_of
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.dialects.support.element_types import element_type
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.raising.ranks.sort_plan import Shape, SortPlan, plan_sort
from ipu_mlir.passes.support.linalg_builders import (
    elementwise,
    fill_with,
    generic,
    identity_map,
    loop_index,
    reshaped,
    zero,
)
from ipu_mlir.passes.support.rewriting import list_ops

_VIEWS = ("tensor.collapse_shape", "tensor.expand_shape")
_CASTS = ("arith.index_cast", "arith.index_castui")


@dataclass(frozen=True)
class SpreadSorts(Pass):
    """Sort what is long in rows on many tiles, which are merged two by two.

    One vertex ranks a whole row, and every tile looks at all of the elements that are put where their ranks say. Where
    that takes longer than a sort over tiles, keys, places, and what is put in their order are sorted together: rows
    first, then a bitonic sort of the rows. Places go behind the keys, so that the order is that of a stable sort. Ranks
    that something else reads are the places of a second sort, of the places.

    Option: ``shortest``, from how many elements on; shorter sorts are not worth the steps of the program.

    Needs:  ranks and scatters (``ipu-raise-ranks``, ``ipu-raise-element-ops``).
    Leaves: ranks of one row of integers that are as fast on one tile.
    """

    name = "ipu-spread-sorts"

    shortest: int = 1024

    def run(self, module: ir.Operation) -> None:
        with module.context:
            target = module_target(module)
            for op in list_ops(module, "linalg.generic"):
                if is_call(op, "rank") and is_one_row_of_integers(op):
                    self._spread(op, target)

    def _spread(self, op: ir.Operation, target: Target) -> None:
        *keys, _ = list(op.operands)[:-1]
        elements = keys[0].type.shape[1]
        if elements < self.shortest:
            return
        machine = machine_of(target)
        ordered = [scatter for scatter in ordered_by(op.results[0]) if puts_all(scatter, elements)]
        most_bytes = tuple(map(_element_bytes, [*keys, *(scatter.operands[2] for scatter in ordered)]))
        plan = plan_sort(elements, (*most_bytes, 4), target.num_compute_tiles, machine)
        if plan is None or plan.cycles >= _cycles_of_ranks(keys, target, machine):
            return
        for together in _sorted_together(ordered):
            with ir.InsertionPoint(together[0]), together[0].location:
                payloads = [scatter.operands[2] for scatter in together]
                in_order = sort_over_tiles([*_flat(keys), places_of(elements), *payloads], plan)
            for scatter, value in zip(together, in_order[len(keys) + 1 :], strict=True):
                scatter.results[0].replace_all_uses_with(value)
        for scatter in ordered:
            scatter.erase()
        if is_read(op):
            with ir.InsertionPoint(op), op.location:
                op.results[0].replace_all_uses_with(_ranks(_flat(keys), op.results[0].type, plan))
            op.erase()


def _sorted_together(scatters: list[ir.Operation]) -> list[list[ir.Operation]]:
    """Groups of ``scatters``, each to stand where its first one does: what the others put is there already."""
    groups: list[list[ir.Operation]] = []
    for scatter in reversed(scatters):  # the uses of a value are listed from the last one on
        group = next((each for each in groups if _can_join(scatter, each[0])), None)
        if group is None:
            groups.append([scatter])
        else:
            group.append(scatter)
    return groups


def _can_join(scatter: ir.Operation, first: ir.Operation) -> bool:
    is_behind = scatter.block == first.block and first.is_before_in_block(scatter)
    return is_behind and _is_there(scatter.operands[2], first)


def _is_there(value: ir.Value, op: ir.Operation) -> bool:
    if isinstance(value.owner, ir.Block):
        return value.owner == op.block
    owner = value.owner.operation
    return owner.block == op.block and owner.is_before_in_block(op)


def _element_bytes(tensor: ir.Value) -> int:
    return element_type(str(tensor.type.element_type)).bytes


def is_read(op: ir.Operation) -> bool:
    """True if anything but views and casts that nobody reads uses the result of ``op``."""
    for use in op.results[0].uses:
        user = use.owner.operation
        if not (user.name in _VIEWS or _casts_only(user)) or is_read(user):
            return True
    return False


def sort_over_tiles(tensors: Sequence[ir.Value], plan: SortPlan) -> list[ir.Value]:
    """``tensors`` of one dimension in the order of their tuples, by ``plan``, at the current insertion point."""
    (elements,) = tensors[0].type.shape
    return [_first(value, elements) for value in in_order(tensors, plan.elements, plan.steps())]


def in_order(tensors: Sequence[ir.Value], elements: int, steps: Iterable[Shape]) -> list[ir.Value]:
    """``tensors`` of one dimension, with what comes last behind them up to ``elements``, after ``steps`` of a sort."""
    values = [_padded(tensor, elements) for tensor in tensors]
    for shape in steps:
        shaped = [reshaped(value, shape) for value in values]
        maps = [identity_map(len(shape))] * (2 * len(shaped))
        empties = [upstream("tensor").EmptyOp(list(shape), each.type.element_type).result for each in shaped]
        step = generic(
            shaped,
            empties,
            maps,
            [True, True, True, False, True, False],
            lambda _, shaped=shaped: [zero(each.type.element_type) for each in shaped],
            {"library_call": ir.StringAttr.get(SORT_TUPLES.name)},
        )
        values = [reshaped(result, [elements]) for result in step.results]
    return values


def _padded(tensor: ir.Value, elements: int) -> ir.Value:
    """``tensor`` with elements behind it that come last in any order, as integers do that are the largest."""
    (size,) = tensor.type.shape
    if size == elements:
        return tensor
    element = tensor.type.element_type
    empty = upstream("tensor").EmptyOp([elements], element).result
    filled = fill_with(_last(element), empty).results[0]
    return upstream("tensor").insert_slice(tensor, filled, [], [], [], [0], [size], [1])


def _last(element: ir.Type) -> ir.Value:
    constant = upstream("arith").ConstantOp
    if isinstance(element, ir.IntegerType):
        largest = (1 << (element.width - 1)) - 1 if element.width > 1 else 0
        return constant(element, ir.IntegerAttr.get(element, largest)).result
    if isinstance(element, ir.IndexType):
        return constant(element, ir.IntegerAttr.get(element, 0)).result
    return constant(element, ir.FloatAttr.get(element, 0.0)).result


def _first(value: ir.Value, elements: int) -> ir.Value:
    if list(value.type.shape) == [elements]:
        return value
    kept = ir.RankedTensorType.get([elements], value.type.element_type)
    return upstream("tensor").ExtractSliceOp(kept, value, [], [], [], [0], [elements], [1]).result


def _ranks(keys: list[ir.Value], result: ir.RankedTensorType, plan: SortPlan) -> ir.Value:
    """The rank of each element: the places of the sorted, sorted by where they came from."""
    elements = keys[0].type.shape[0]
    *_, came_from = sort_over_tiles([*keys, places_of(elements)], plan)
    _, ranks = sort_over_tiles([came_from, places_of(elements)], plan)
    index, cast = ir.IndexType.get(), upstream("arith").IndexCastOp
    return reshaped(elementwise(ranks, index, lambda x: cast(index, x).result).results[0], list(result.shape))


def _flat(keys: list[ir.Value]) -> list[ir.Value]:
    return [reshaped(key, [key.type.shape[1]]) for key in keys]


def places_of(elements: int) -> ir.Value:
    integer, cast = ir.IntegerType.get_signless(32), upstream("arith").IndexCastOp
    empty = upstream("tensor").EmptyOp([elements], integer).result
    place = generic([], [empty], [identity_map(1)], [True], lambda _: [cast(integer, loop_index(0)).result])
    return place.results[0]


def _cycles_of_ranks(keys: list[ir.Value], target: Target, machine: Machine) -> int:
    """Cycles of the ranks, and of putting one tensor in their order, which every tile looks at as a whole."""
    elements, dtype = keys[0].type.shape[1], str(keys[0].type.element_type)
    bytes_each = sum(map(_element_bytes, keys))
    if elements * bytes_each > target.bytes_per_tile:
        return 1 << 62
    own = -(-elements // target.num_compute_tiles)
    ranks = rank_cycles(len(keys), 1, own, elements, dtype, machine)
    return int(ranks + multi_update_cycles(own, 1, dtype, machine, elements - own))


def is_call(op: ir.Operation, codelet: str) -> bool:
    return "library_call" in op.attributes and ir.StringAttr(op.attributes["library_call"]).value == codelet


def is_one_row_of_integers(op: ir.Operation) -> bool:
    """True of ranks of all elements of one row by integers: a NaN would tie with all."""
    *keys, positions = list(op.operands)[:-1]
    outer, size, inner = keys[0].type.shape
    is_whole = outer == inner == 1 and list(positions.type.shape) == [size]
    return is_whole and all(isinstance(key.type.element_type, ir.IntegerType) for key in keys)


def ordered_by(ranks: ir.Value) -> list[ir.Operation]:
    """The scatters to places that are ``ranks``, as they are, in another shape or as other integers."""
    found = []
    for use in ranks.uses:
        op = use.owner.operation
        if op.name in _VIEWS or _casts_only(op):
            found += ordered_by(op.results[0])
        elif is_call(op, "scatter_set") and use.operand_number == 0:
            found.append(op)
    return found


def _casts_only(op: ir.Operation) -> bool:
    """True of an element-wise op that makes other integers, at least as wide as places need, of its input."""
    if op.name != "linalg.generic" or "library_call" in op.attributes or len(op.operands) != 2:
        return False
    maps = [ir.AffineMapAttr(each).value for each in ir.ArrayAttr(op.attributes["indexing_maps"])]
    if maps != [identity_map(op.operands[0].type.rank)] * 2:
        return False
    block = op.regions[0].blocks[0]
    value = terminator(block).operands[0]
    while (cast := defining_op(value, *_CASTS)) is not None:
        if isinstance(value.type, ir.IntegerType) and value.type.width < 32:
            return False
        value = cast.operands[0]
    return value == block.arguments[0]


def puts_all(scatter: ir.Operation, elements: int) -> bool:
    """True of a scatter of one dimension that puts every element of a tensor of ``elements`` somewhere."""
    if len(scatter.operands) != 5 or list(scatter.operands[4].type.shape) != [elements]:
        return False
    _, guard, update = list(scatter.operands)[:3]
    return list(update.type.shape) == [elements] and _is_true(guard)


def _is_true(guard: ir.Value) -> bool:
    """True if every element of ``guard`` is the constant true."""
    op = defining_op(guard, "linalg.generic", "linalg.fill", "arith.constant")
    if op is None:
        return False
    if op.name == "arith.constant":
        value = op.attributes["value"]
        return isinstance(value, ir.DenseElementsAttr) and value.is_splat and bool(value.get_splat_value().value)
    scalar = op.operands[0] if op.name == "linalg.fill" else terminator(op.regions[0].blocks[0]).operands[0]
    constant = constant_of(scalar)
    return constant is not None and bool(constant.value)
