"""Nests of loops that put elements into one tensor."""

from dataclasses import dataclass
from itertools import pairwise

from ipu_mlir.dialects.analysis.matchers import defining_op, has_one_use, integer_of, terminator
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.support.combiners import KIND_OF_OP


@dataclass(frozen=True)
class ScatterNest:
    """``for i, j, ...: if guard: tensor[index] = combine(tensor[index], update)``.

    Attributes:
        loops: the ``scf.for`` ops, the outermost first; all run from 0 in steps of 1.
        extents: iterations of each.
        initial: the tensor before the first iteration.
        index: where an element goes, per dimension.
        guard: whether it goes there, or None for always.
        guarded: the ops that run only where the guard holds, if there is one.
        update: the element, or what it is combined with.
        combine: ``set``, ``add``, ``mul``, ``max`` or ``min``.
    """

    loops: tuple[ir.Operation, ...]
    extents: tuple[int, ...]
    initial: ir.Value
    index: tuple[ir.Value, ...]
    guard: ir.Value | None
    guarded: ir.Block | None
    update: ir.Value
    combine: str

    @property
    def counters(self) -> tuple[ir.Value, ...]:
        """The induction variable of each loop."""
        return tuple(loop.regions[0].blocks[0].arguments[0] for loop in self.loops)


def trip_count(loop: ir.Operation) -> int | None:
    """Iterations of an ``scf.for`` from 0 in steps of 1 to a constant; None for any other."""
    bounds = [integer_of(value) for value in list(loop.operands)[:3]]
    return bounds[1] if bounds[0] == 0 and bounds[2] == 1 and bounds[1] is not None and bounds[1] > 0 else None


def counted(loop: ir.Operation) -> tuple[int, int] | None:
    """The first index and the iterations of an ``scf.for`` in steps of 1 between constants; None for any other."""
    first, end, step = (integer_of(value) for value in list(loop.operands)[:3])
    return (first, end - first) if first is not None and end is not None and step == 1 and 0 <= first < end else None


def loads_inside(load: ir.Operation) -> bool:
    """True if a ``tensor.extract`` cannot miss its tensor: each index is a constant or the counter of a loop."""
    sizes = load.operands[0].type.shape
    ends = [_end(index) for index in list(load.operands)[1:]]
    return all(end is not None and end <= size for end, size in zip(ends, sizes, strict=True))


def _end(index: ir.Value) -> int | None:
    """One more than the most that ``index`` can be, if it is at least 0."""
    if isinstance(index.owner, ir.Block):
        loop = index.owner.owner.operation
        return trip_count(loop) if loop.name == "scf.for" and index == index.owner.arguments[0] else None
    constant = integer_of(index)
    return None if constant is None or constant < 0 else constant + 1


def scatter_nest(outermost: ir.Operation) -> ScatterNest | None:
    """The nest that ``outermost`` begins, if it is one."""
    loops = _perfect_nest(outermost)
    extents = [trip_count(loop) for loop in loops]
    if not loops or None in extents:
        return None
    block = loops[-1].regions[0].blocks[0]
    carried = block.arguments[1]
    *body, terminator = (op.operation for op in block.operations)
    guard, insert = _guarded_insert(terminator.operands[0], carried)
    if insert is None or insert.operands[1] != carried:
        return None
    index = tuple(insert.operands)[2:]
    old = [value for value in _loads_of(carried) if tuple(value.owner.operands)[1:] == index]
    if len(old) != sum(1 for _ in _loads_of(carried)) or len(old) > 1:
        return None
    update, combine = _combination(insert.operands[0], old[0] if old else None)
    if update is None or not all(is_scalar(op, carried) for op in body):
        return None
    for outer, inner in pairwise(loops):
        *around, _ = (op.operation for op in outer.regions[0].blocks[0].operations)
        if not all(op == inner or is_scalar(op, carried) for op in around):
            return None
    counted = tuple(extent for extent in extents if extent is not None)
    guarded = None if guard is None else insert.block
    return ScatterNest(tuple(loops), counted, loops[0].operands[3], index, guard, guarded, update, combine)


def _perfect_nest(outermost: ir.Operation) -> list[ir.Operation]:
    """Loops inside each other that carry one tensor and hold only scalars besides."""
    loops: list[ir.Operation] = []
    loop: ir.Operation | None = outermost
    while loop is not None:
        if len(loop.results) != 1 or not isinstance(loop.results[0].type, ir.RankedTensorType):
            return []
        loops.append(loop)
        block = loop.regions[0].blocks[0]
        yielded = terminator(block).operands[0]
        inner = defining_op(yielded, "scf.for")
        passes_on = (
            inner is not None
            and len(inner.operands) == 4
            and inner.operands[3] == block.arguments[1]
            and has_one_use(block.arguments[1])
        )
        loop = inner if passes_on else None
    return loops


def _guarded_insert(yielded: ir.Value, carried: ir.Value) -> tuple[ir.Value | None, ir.Operation | None]:
    """The condition and the ``tensor.insert`` of what a loop yields."""
    op = defining_op(yielded, "tensor.insert", "scf.if")
    if op is None or op.name == "tensor.insert":
        return None, op
    if len(op.results) != 1:
        return None, None
    then, otherwise = (terminator(region.blocks[0]).operands[0] for region in op.regions)
    insert = defining_op(then, "tensor.insert") if otherwise == carried else None
    return (None, None) if insert is None else (op.operands[0], insert)


def _loads_of(carried: ir.Value) -> list[ir.Value]:
    """Elements that are read from the carried tensor."""
    return [use.owner.operation.results[0] for use in carried.uses if use.owner.name == "tensor.extract"]


def _combination(value: ir.Value, old: ir.Value | None) -> tuple[ir.Value | None, str]:
    """The value that a new element is made of besides the old one, and the kind of the update; empty if it is none."""
    if old is None:
        return value, "set"
    owner = defining_op(value, *KIND_OF_OP)
    if owner is None or not has_one_use(old):
        return None, ""
    operands = list(owner.operands)
    if old not in operands or operands[0] == operands[1]:
        return None, ""
    return operands[1 - operands.index(old)], KIND_OF_OP[owner.name]


def is_scalar(op: ir.Operation, carried: ir.Value | None) -> bool:
    """True if ``op`` works on scalars only, or loads elements, or is the insertion into ``carried``."""
    if op.name.startswith(("arith.", "math.")):
        return not any(isinstance(result.type, ir.ShapedType) for result in op.results)
    if op.name in ("tensor.extract", "scf.yield"):
        return True
    if op.name == "tensor.insert":
        return op.operands[1] == carried
    if op.name == "scf.for" and (
        trip_count(op) is None or any(isinstance(result.type, ir.ShapedType) for result in op.results)
    ):
        return False
    if op.name in ("scf.for", "scf.if"):
        inside = [inner.operation for region in op.regions for block in region.blocks for inner in block.operations]
        return all(is_scalar(inner, carried) for inner in inside)
    return False


def are_same(first: ir.Value, second: ir.Value) -> bool:
    """True if two scalars are computed in the same way from the same values."""
    if first == second:
        return True
    one, other = defining_op(first), defining_op(second)
    if one is None or other is None:
        return False
    if one.name != other.name or not one.name.startswith(("arith.", "math.", "tensor.extract")) or len(one.regions):
        return False
    if str(one.attributes) != str(other.attributes) or first.type != second.type:
        return False
    pairs = list(zip(one.operands, other.operands, strict=False))
    return len(one.operands) == len(other.operands) and all(are_same(*pair) for pair in pairs)
