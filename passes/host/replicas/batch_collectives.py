"""Collectives of replicas that have an axis: reductions over it, and copies along it."""

from collections.abc import Callable

from ipu_mlir.dialects.analysis.buffers import root_of
from ipu_mlir.dialects.analysis.collectives import Collective
from ipu_mlir.dialects.analysis.loop_nest import is_structured, loop_nest
from ipu_mlir.dialects.analysis.matchers import defining_op
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.dialects.support.element_types import element_type
from ipu_mlir.passes.host.replicas.axis import allocated, computed, copied, in_groups, row_of, view
from ipu_mlir.passes.placement.partition.split_reduction import plain_combiner
from ipu_mlir.passes.support.combiners import OPS_OF_KIND, neutral
from ipu_mlir.passes.support.linalg_builders import fill_with, zero
from ipu_mlir.passes.support.reduction_marks import COMBINES, PARTIALS, Block, blocks_mark

arith = upstream("arith")

_COMBINERS: dict[str, tuple[str, str]] = {
    **OPS_OF_KIND,
    "mean": OPS_OF_KIND["add"],
    "square_add": OPS_OF_KIND["add"],
    "and": ("", "arith.andi"),
    "or": ("", "arith.ori"),
}
"""What combines floats, and integers."""


def expand_collective(collective: Collective, source: ir.Value, dest: ir.Value, replicas: int) -> None:
    """Give ``dest`` its part of ``source``, which has the axis; ``dest`` has it unless all replicas get one value."""
    size = collective.size(replicas)
    if collective.makes_equal(replicas):
        _FOR_ALL[collective.kind](collective, source, dest)
    else:
        _IN_GROUPS[collective.kind](collective, in_groups(source, size), in_groups(dest, size))


def _loops(first: int, count: int) -> list[int]:
    return list(range(first, first + count))


def _to_all(found: ir.Value, dest: ir.Value) -> None:
    """All replicas of a group get what ``found`` has for the group."""
    rank = len(found.type.shape) - 1
    computed([(found, [0, *_loops(2, rank)])], dest, [0, 1, *_loops(2, rank)], lambda x: [x[0]])


def _reduce_all(collective: Collective, source: ir.Value, dest: ir.Value) -> None:
    _reduce(collective.reduction, source, 0, dest)


def _reduce_groups(collective: Collective, source: ir.Value, dest: ir.Value) -> None:
    groups, _, *shape = source.type.shape
    found = allocated([groups, *shape], source.type.element_type)
    _reduce(collective.reduction, source, 1, found)
    _to_all(found, dest)


def _reduce(reduction: str, source: ir.Value, at: int, dest: ir.Value) -> None:
    """Combine ``source`` over its dimension ``at``: floats of fewer bits than f32 in f32, rounded once."""
    element = source.type.element_type
    is_float = isinstance(element, ir.FloatType)
    wide = ir.F32Type.get() if is_float and element_type(str(element)).bytes < 4 else element
    total = dest if wide == element else allocated(list(dest.type.shape), wide)
    name = _COMBINERS[reduction][0 if is_float else 1]
    rank = len(dest.type.shape)
    kept = _loops(0, rank)
    begin = neutral(name, wide)
    assert begin is not None, "numbers have a neutral element"
    whole = reduction in ("add", "mean") and wide == element and _is_whole(source, at)
    writer = _writer_of_partials(source, name) if whole else None
    if is_float and writer is not None:
        begin = ir.FloatAttr.get(wide, 0.0)  # so that all of a sum begins with what each of its parts began with
    fill_with(arith.ConstantOp(wide, begin).result, total)

    def combine(elements: list[ir.Value]) -> list[ir.Value]:
        term, before = elements
        if wide != element:
            term = arith.ExtFOp(wide, term).result
        if reduction == "square_add":
            term = (arith.MulFOp if is_float else arith.MulIOp)(term, term).result
        return [ir.Operation.create(name, [wide], [before, term]).results[0]]

    computed([(source, [*kept[:at], rank, *kept[at:]])], total, kept, combine)
    if writer is not None:
        _mark(writer, total)
    if reduction == "mean" or wide != element:
        count = arith.ConstantOp(wide, ir.FloatAttr.get(wide, float(source.type.shape[at]))).result
        _finish(total, dest, element, count if reduction == "mean" else None)


def _finish(total: ir.Value, dest: ir.Value, element: ir.Type, count: ir.Value | None) -> None:
    kept = _loops(0, len(dest.type.shape))

    def finished(elements: list[ir.Value]) -> list[ir.Value]:
        value = elements[0] if count is None else arith.DivFOp(elements[0], count).result
        return [value if value.type == element else arith.TruncFOp(element, value).result]

    computed([(total, kept)], dest, kept, finished)


def _is_whole(source: ir.Value, at: int) -> bool:
    """True if ``source`` is all of an allocation, with the dimension that is combined in front."""
    root = root_of(source)
    return at == 0 and source == root and defining_op(root, "memref.alloc") is not None


def _writer_of_partials(memory: ir.Value, combiner: str) -> ir.Operation | None:
    """The op that adds up ``memory``, if each replica adds up its own and nothing else reads that."""
    users = [use.owner.operation for use in memory.uses if use.owner.name != "ipu.collective"]
    fill = next((user for user in users if user.name == "linalg.fill"), None)
    writer = next((user for user in users if is_structured(user) and user.name != "linalg.fill"), None)
    if len(users) != 2 or fill is None or writer is None or fill.block != writer.block:
        return None
    begin, found = fill.operands[0].owner, plain_combiner(writer)
    nest = loop_nest(writer)
    if nest is None or found is None or found != combiner or "library_call" in writer.attributes:
        return None
    if writer.operands[len(writer.operands) - 1] != memory or isinstance(begin, ir.Block):
        return None
    if begin.name != "arith.constant" or nest.outputs[0][0].plain_loop != 0 or len(nest.outputs) != 1:
        return None
    kind = begin.operation.results[0].type
    zero = neutral(combiner, kind)
    value = begin.operation.attributes["value"]
    if value != zero and not (isinstance(kind, ir.FloatType) and ir.FloatAttr(value).value == 0.0):
        return None
    with ir.InsertionPoint(fill):
        fill.operands[0] = arith.ConstantOp(kind, zero).result
    return writer


def _mark(writer: ir.Operation, total: ir.Value) -> None:
    """Say that what ``writer`` leaves for each replica is a part of ``total``: ``ipu-merge-reductions`` unites them."""
    combination = next(use.owner.operation for use in total.uses if use.owner.name == "linalg.generic")
    mark = blocks_mark([Block(0, 1)])
    writer.attributes[PARTIALS] = mark
    combination.attributes[COMBINES] = mark


def _gather_all(collective: Collective, source: ir.Value, dest: ir.Value) -> None:
    copied(source, dest)


def _gather_groups(collective: Collective, source: ir.Value, dest: ir.Value) -> None:
    rank = len(source.type.shape) - 2
    computed([(source, [0, 2, *_loops(3, rank)])], dest, [0, 1, 2, *_loops(3, rank)], lambda x: [x[0]])


def _reduce_scatter(collective: Collective, source: ir.Value, dest: ir.Value) -> None:
    groups, size, length = source.type.shape
    block = dest.type.shape[2]
    element = source.type.element_type
    if length < size * block:
        padded = allocated([groups, size, size * block], element)
        fill_with(zero(element), padded)
        copied(source, view(padded, [groups, size, length], [size * size * block, size * block, 1], 0))
        source = padded
    strides, offset = source.type.get_strides_and_offset()
    cut = view(source, [groups, size, size, block], [*strides[:2], block * strides[2], strides[2]], offset)
    found = allocated([groups, size, block], element)
    _reduce(collective.reduction, cut, 1, found)
    copied(found, dest)


def _all_to_all(collective: Collective, source: ir.Value, dest: ir.Value) -> None:
    """Loops: the group, who gives, who gets, and those of a block."""
    groups, size, *shape = source.type.shape
    cut = [length // size if d == collective.split else length for d, length in enumerate(shape)]

    def expanded(value: ir.Value, at: int, other: int) -> tuple[ir.Value, list[int]]:
        """``value`` with a dimension in front of ``at`` that counts the blocks there, and the loops of all of them."""
        (*strides,), offset = value.type.get_strides_and_offset()
        lengths, steps, loops = [groups, size], strides[:2], [0, 2 if other == 1 else 1]
        for d, (length, step) in enumerate(zip(cut, strides[2:], strict=True)):
            if d == at:
                lengths, steps, loops = [*lengths, size], [*steps, length * step], [*loops, other]
            lengths, steps, loops = [*lengths, length], [*steps, step], [*loops, 3 + d]
        return view(value, lengths, steps, offset), loops

    given, given_loops = expanded(source, collective.split, 2)
    taken, taken_loops = expanded(dest, collective.concat, 1)
    computed([(given, given_loops)], taken, taken_loops, lambda x: [x[0]])


def _broadcast_to_all(collective: Collective, source: ir.Value, dest: ir.Value) -> None:
    copied(row_of(source, collective.root), dest)


def _broadcast_in_groups(collective: Collective, source: ir.Value, dest: ir.Value) -> None:
    _to_all(_of_member(source, collective.root), dest)


def _of_member(grouped: ir.Value, number: int) -> ir.Value:
    """The value of the replica of that number in each group."""
    groups, _, *shape = grouped.type.shape
    (first, second, *strides), offset = grouped.type.get_strides_and_offset()
    return view(grouped, [groups, *shape], [first, *strides], offset + number * second)


def _equal_in_all(collective: Collective, source: ir.Value, dest: ir.Value) -> None:
    _demand_equal(in_groups(source, source.type.shape[0]))
    copied(row_of(source), dest)


def _equal_in_groups(collective: Collective, source: ir.Value, dest: ir.Value) -> None:
    _demand_equal(source)
    copied(source, dest)


def _demand_equal(source: ir.Value) -> None:
    """An assertion that the values of each group are those of its first replica."""
    rank, bit = len(source.type.shape) - 2, ir.IntegerType.get_signless(1)
    equal = allocated([], bit)
    fill_with(arith.ConstantOp(bit, ir.IntegerAttr.get(bit, -1)).result, equal)
    same = _same_number if isinstance(source.type.element_type, ir.FloatType) else _same_integer
    computed(
        [(source, _loops(0, rank + 2)), (_of_member(source, 0), [0, *_loops(2, rank)])],
        equal,
        [],
        lambda x: [arith.AndIOp(x[2], same(x[0], x[1])).result],
    )
    text = "ipu.assume_equal says that replicas have one value, but they differ"
    upstream("cf").AssertOp(upstream("memref").LoadOp(equal, []).result, text)


def _same_integer(one: ir.Value, other: ir.Value) -> ir.Value:
    return arith.CmpIOp(arith.CmpIPredicate.eq, one, other).result


def _same_number(one: ir.Value, other: ir.Value) -> ir.Value:
    """Equal, or no number either of them."""
    unordered = [arith.CmpFOp(arith.CmpFPredicate.UNO, each, each).result for each in (one, other)]
    both = arith.AndIOp(*unordered).result
    return arith.OrIOp(arith.CmpFOp(arith.CmpFPredicate.OEQ, one, other).result, both).result


_Expand = Callable[[Collective, ir.Value, ir.Value], None]

_FOR_ALL: dict[str, _Expand] = {
    "all_reduce": _reduce_all,
    "all_gather": _gather_all,
    "broadcast": _broadcast_to_all,
    "assume_equal": _equal_in_all,
}
"""Where one value comes of the values of all replicas."""

_IN_GROUPS: dict[str, _Expand] = {
    "all_reduce": _reduce_groups,
    "all_gather": _gather_groups,
    "reduce_scatter": _reduce_scatter,
    "all_to_all": _all_to_all,
    "broadcast": _broadcast_in_groups,
    "assume_equal": _equal_in_groups,
}
"""Where groups or replicas get values of their own; both buffers have a dimension for groups and one for replicas."""
