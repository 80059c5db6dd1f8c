"""Nests of loops that fill tensors element by element, each iteration one element of the largest."""

from dataclasses import dataclass
from itertools import pairwise

from ipu_mlir.dialects.analysis.matchers import defining_op, has_one_use, integer_of, is_used, terminator
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.raising.loops.nests import counted

Place = tuple[tuple[int, int], ...]
"""Per dimension the loop that its index is, and what is added to that."""


@dataclass(frozen=True)
class FillingNest:
    """``for i, j, ...: whole[i, j, ...] = value; last[i, ...] = value``, in loops inside each other and nothing else.

    Attributes:
        loops: the ``scf.for`` ops, the outermost first, in steps of 1.
        starts, extents: per loop, its first index and its iterations.
        inserts: the ``tensor.insert`` into each tensor that the loops carry, by the result of the outermost loop.
        whole: which of them has an element for each iteration.
        place: where that is.
        scalar: what the innermost loop carries besides tensors: its number there, or None.
    """

    loops: tuple[ir.Operation, ...]
    starts: tuple[int, ...]
    extents: tuple[int, ...]
    inserts: dict[int, ir.Operation]
    whole: int
    place: Place
    scalar: int | None

    @property
    def counters(self) -> tuple[ir.Value, ...]:
        """The induction variable of each loop."""
        return tuple(body_of(loop).arguments[0] for loop in self.loops)

    def place_in(self, number: int) -> Place | None:
        """Where an iteration puts its value in tensor ``number``; None where no sums of counters and numbers say."""
        return place_of(list(self.inserts[number].operands)[2:], self.counters)


def filling_nest(outermost: ir.Operation) -> FillingNest | None:
    """The nest that ``outermost`` begins, if it is one."""
    loops = _nest(outermost)
    bounds = [counted(loop) for loop in loops]
    numbers = _numbers_inside(loops)
    block = body_of(loops[-1])
    carried, yielded = list(block.arguments)[1:], list(terminator(block).operands)
    scalars = [number for number, value in enumerate(carried) if not isinstance(value.type, ir.RankedTensorType)]
    inserts = {number: _insert(yielded[inside], carried[inside]) for number, inside in numbers.items()}
    found = {number: insert for number, insert in inserts.items() if insert is not None}
    if None in bounds or len(scalars) > 1 or len(found) + len(scalars) < len(carried):
        return None
    starts, extents = zip(*(each for each in bounds if each is not None), strict=True)
    for whole, insert in found.items():
        place = place_of(list(insert.operands)[2:], [body_of(loop).arguments[0] for loop in loops])
        if place is not None and len(place) == len(loops):
            return FillingNest(tuple(loops), starts, extents, found, whole, place, scalars[0] if scalars else None)
    return None


def body_of(loop: ir.Operation) -> ir.Block:
    """The block of an ``scf.for``; its first argument is the counter."""
    return loop.regions[0].blocks[0]


def place_of(indices: list[ir.Value], counters: tuple[ir.Value, ...] | list[ir.Value]) -> Place | None:
    """``indices`` as different counters plus numbers; None if one is anything else."""
    found = []
    for index in indices:
        value, added = index, 0
        op = defining_op(value, "arith.addi", "arith.subi")
        if op is not None:
            constant = integer_of(op.operands[1])
            if constant is None:
                return None
            value, added = op.operands[0], constant if op.name == "arith.addi" else -constant
        if value not in counters:
            return None
        found.append((list(counters).index(value), added))
    return tuple(found) if len({loop for loop, _ in found}) == len(found) else None


def _nest(outermost: ir.Operation) -> list[ir.Operation]:
    """Loops inside each other of which each yields all that it carries; the innermost may carry more."""
    loops = [outermost]
    while True:
        block = body_of(loops[-1])
        inner = [op.operation for op in block.operations if op.operation.name == "scf.for"]
        if len(inner) != 1:
            return loops
        (loop,) = inner
        handed, yielded = list(loop.operands)[3:], list(terminator(block).operands)
        for argument, given in zip(list(block.arguments)[1:], yielded, strict=True):
            is_handed = argument in handed and given == loop.results[handed.index(argument)]
            if not is_handed or not has_one_use(argument):
                return loops
        if not all(value in yielded or not is_used(value) for value in loop.results):
            return loops
        loops.append(loop)


def _numbers_inside(loops: list[ir.Operation]) -> dict[int, int]:
    """For every tensor among the results of the outermost loop, its number among those that the innermost carries."""
    found = {}
    for number, result in enumerate(loops[0].results):
        if isinstance(result.type, ir.RankedTensorType):
            inside = number
            for outer, inner in pairwise(loops):
                inside = list(inner.operands)[3:].index(body_of(outer).arguments[1 + inside])
            found[number] = inside
    return found


def _insert(yielded: ir.Value, carried: ir.Value) -> ir.Operation | None:
    op = defining_op(yielded, "tensor.insert")
    return op if op is not None and op.operands[1] == carried and has_one_use(yielded) else None
