"""``ipu-raise-ranks``: places in a sort, counted by comparing all pairs, as ranks."""

from dataclasses import dataclass
from math import prod

from ipu_mlir.dialects.analysis.matchers import block_of, defining_op, loop_of
from ipu_mlir.dialects.attributes.attributes import module_target
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.dialects.support.element_types import element_type
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.raising.ranks.rank_counts import Key, RankCount, rank_count
from ipu_mlir.passes.support.clone import Known, clone_slice, operands_from_outside
from ipu_mlir.passes.support.linalg_builders import (
    elementwise,
    generic,
    identity_map,
    in_all_dimensions,
    in_three_dimensions,
    loop_index,
)
from ipu_mlir.passes.support.rewriting import list_ops


@dataclass(frozen=True)
class RaiseRanks(Pass):
    """Write counts of the elements that come before each element in a sort as ranks.

    Frontends sort by comparing all pairs: how many elements are less, and of those that tie how many stand earlier, is
    where an element goes. That takes ``n * n`` steps; the library codelet ``rank`` sorts. What is compared may be
    computed from the elements, may be several things one after the other, and may descend. That the condition is such
    an order is found by trying every way in which two elements can compare, NaN among them: one that is not stays.

    Option: ``longest``, how many elements one vertex ranks at most: those whose keys, and the copy that a sort makes of
    the first, take seven eighths of a tile's memory if nothing is said. More are counted as before, on many tiles,
    unless they are one row of integers, which ``ipu-spread-sorts`` sorts over tiles.

    Needs:  linalg on tensors; loops raised (``ipu-raise-loops``).
    Leaves: no ``linalg.generic`` that counts what comes before an element in a stable sort by at most three keys,
            unless there are too many of them.
    """

    name = "ipu-raise-ranks"

    longest: int | None = None

    def run(self, module: ir.Operation) -> None:
        with module.context:
            target = module_target(module)
            for op in list_ops(module, "linalg.generic"):
                count = rank_count(op)
                if count is not None and self._is_ranked(count, target):
                    with ir.InsertionPoint(op), op.location:
                        op.results[0].replace_all_uses_with(_ranks(op, count))
                    op.erase()

    def _is_ranked(self, count: RankCount, target: Target) -> bool:
        if self.longest is not None:
            return count.size <= self.longest
        return count.size <= _longest(count, target) or _is_spread(count)


def _is_spread(count: RankCount) -> bool:
    """True of one row by integers, which is sorted over many tiles (``ipu-spread-sorts``)."""
    rows = prod(count.nest.extents[loop] for loop in count.order) // max(count.size, 1)
    return rows == 1 and all(isinstance(_key_type(key), ir.IntegerType) for key in count.keys)


def _longest(count: RankCount, target: Target) -> int:
    """The number of elements that have room on a tile: the keys of all, and the first key once more."""
    key_bytes = [element_type(str(_key_type(key))).bytes for key in count.keys]
    return target.bytes_per_tile * 7 // 8 // (sum(key_bytes) + key_bytes[0])


def _ranks(op: ir.Operation, count: RankCount) -> ir.Value:
    """The result of ``op`` by the codelet; each vertex learns from the positions which elements are its own."""
    index = ir.IndexType.get()
    keys = [in_three_dimensions(_key_tensor(op, count, key), count.at) for key in count.keys]
    outer, size, inner = keys[0].type.shape
    positions = upstream("tensor").EmptyOp([size], index).result
    positions = generic([], [positions], [identity_map(1)], [True], lambda _: [loop_index(0)]).results[0]
    empty = upstream("tensor").EmptyOp([outer, size, inner], index).result
    row, own, column, among = (ir.AffineExpr.get_dim(loop) for loop in range(4))
    maps = [ir.AffineMap.get(4, 0, [row, among, column])] * len(keys)
    maps += [ir.AffineMap.get(4, 0, [own]), ir.AffineMap.get(4, 0, [row, own, column])]
    ranks = generic(
        [*keys, positions],
        [empty],
        maps,
        [True, True, True, False],
        lambda arguments: [arguments[-2]],
        {"library_call": ir.StringAttr.get("rank")},
    ).results[0]
    result = op.results[0].type
    return _as_type(in_all_dimensions(ranks, ir.RankedTensorType.get(result.shape, index), count.at), result)


def _as_type(ranks: ir.Value, result: ir.RankedTensorType) -> ir.Value:
    """``ranks`` as integers of the type that counted them."""
    if ranks.type == result:
        return ranks
    cast = upstream("arith").IndexCastOp
    return elementwise(ranks, result.element_type, lambda x: cast(result.element_type, x).result).results[0]


def _key_tensor(op: ir.Operation, count: RankCount, key: Key) -> ir.Value:
    """The key of every element, so that a smaller one, signed if it is an integer, comes first."""
    given = _elements_of(op, count, key.value)
    is_compared_otherwise = key.descending or key.unsigned or str(key.value.type) in ("i1", "index")
    if given is not None and not is_compared_otherwise:
        return given
    block = op.regions[0].blocks[0]
    used = [number for number in _arguments(op, key.value) if isinstance(op.operands[number].type, ir.ShapedType)]
    shape = [count.nest.extents[loop] for loop in count.order]

    def body(arguments: list[ir.Value]) -> list[ir.Value]:
        known: Known = {block.arguments[number]: new for number, new in zip(used, arguments, strict=False)}
        for number in set(_arguments(op, key.value)) - set(used):
            known[block.arguments[number]] = op.operands[number]
        for inner in list_ops(op, "linalg.index"):
            loop = ir.IntegerAttr(inner.attributes["dim"]).value
            if loop in count.order:
                known[inner.results[0]] = loop_index(count.order.index(loop))
        value = clone_slice(key.value, known, lambda inside: block_of(inside) == block)
        return [_ascending(value, key)]

    maps = [_own_map(count, number) for number in used]
    empty = upstream("tensor").EmptyOp(shape, _key_type(key)).result
    inputs = [op.operands[number] for number in used]
    return generic(inputs, [empty], [*maps, identity_map(len(shape))], [True] * len(shape), body).results[0]


def _elements_of(op: ir.Operation, count: RankCount, value: ir.Value) -> ir.Value | None:
    """The tensor whose elements ``value`` is, in the order of the loops."""
    if isinstance(value.owner, ir.Block):
        number = ir.BlockArgument(value).arg_number
        tensor, loops = op.operands[number], [index.plain_loop for index in count.nest.indices[number]]
    elif value.owner.operation.name == "tensor.extract":
        tensor, loops = value.owner.operands[0], [loop_of(index) for index in list(value.owner.operands)[1:]]
    else:
        return None
    shape = [count.nest.extents[loop] for loop in count.order]
    return tensor if loops == list(count.order) and list(tensor.type.shape) == shape else None


def _arguments(generic: ir.Operation, value: ir.Value) -> list[int]:
    """Numbers of the block arguments that ``value`` is computed from."""
    block = generic.regions[0].blocks[0]
    seen: set[ir.Value] = set()
    pending = [value]
    while pending:
        each = pending.pop()
        if each not in seen:
            seen.add(each)
            op = defining_op(each)
            pending.extend(operands_from_outside(op) if op is not None and op.block == block else ())
    return [number for number, argument in enumerate(block.arguments) if argument in seen]


def _own_map(count: RankCount, number: int) -> ir.AffineMap:
    """The index of an input into the loops of the result."""
    found = []
    for index in count.nest.indices[number]:
        loop = index.plain_loop
        constant = ir.AffineExpr.get_constant(index.constant)
        found.append(constant if loop is None else ir.AffineExpr.get_dim(count.order.index(loop)))
    return ir.AffineMap.get(len(count.order), 0, found)


def _key_type(key: Key) -> ir.Type:
    wider = {"i1": 8, "index": 64}.get(str(key.value.type))
    return key.value.type if wider is None else ir.IntegerType.get_signless(wider)


def _ascending(value: ir.Value, key: Key) -> ir.Value:
    """``value`` so that the signed order of it, ascending, is that of the key."""
    arith = upstream("arith")
    target = _key_type(key)
    if not isinstance(target, ir.IntegerType):
        return arith.NegFOp(value).result if key.descending else value
    flipped = 0
    if str(value.type) == "i1":
        value = (arith.ExtUIOp if key.unsigned else arith.ExtSIOp)(target, value).result
    elif str(value.type) == "index":
        value = arith.IndexCastOp(target, value).result
    if key.unsigned and str(key.value.type) != "i1":
        flipped = 1 << (target.width - 1)
    if key.descending:
        flipped ^= (1 << target.width) - 1
    if flipped:
        signed = flipped - (1 << target.width) if flipped >> (target.width - 1) else flipped
        mask = arith.ConstantOp(target, ir.IntegerAttr.get(target, signed)).result
        value = arith.XOrIOp(value, mask).result
    return value
