"""The loops of an op that have to run around it, one iteration after another, so that slices show its results."""

from ipu_mlir.dialects.analysis.matchers import has_one_use
from ipu_mlir.dialects.costs.op_loops import accumulator, combination
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.normalize.indices.maps import ResultMaps
from ipu_mlir.passes.support.affine_expressions import loops_in
from ipu_mlir.passes.support.combiners import COMBINERS


def loops_to_peel(op: ir.Operation, maps: ResultMaps) -> tuple[int, ...]:
    """The loops around, the outermost first.

    While they are fixed, all results lie over the same other loops, each element in one place. Sums and the like may
    be added up in any order: the shortest loops run around. What else is done to an element keeps its order.
    """
    results = range(len(maps.maps))
    every = [maps.loops_of(result) for result in results]
    peeled = frozenset().union(*every) - frozenset.intersection(*every)
    while (more := _next(maps, peeled, keeps_order=not _is_reordered(op))) is not None:
        peeled |= {more}
    return tuple(sorted(peeled))


def _next(maps: ResultMaps, peeled: frozenset[int], keeps_order: bool) -> int | None:
    used: set[int] = set()
    for result in range(len(maps.maps)):
        for loops, dimensions in maps.meeting(result, peeled):
            used |= {*loops}
            moving = {*_moving(maps, result, dimensions)} & peeled
            shown = maps.is_sliced(result, dimensions, peeled)
            if not shown and (peeled or not maps.is_one_to_one(result, loops, dimensions)):
                reduced = [loop for loop in loops if not maps.parallel[loop]] or list(loops)
                return reduced[0] if keeps_order else min(reduced, key=lambda loop: maps.extents[loop])
            if keeps_order and moving and loops[0] < max(moving):
                return loops[0]  # where it is follows from the others, which have to change first
    if keeps_order and peeled:
        others = {*range(len(maps.extents))} - used - peeled - maps.single
        if others and min(others) < max(peeled):
            return min(others)
    return None


def _moving(maps: ResultMaps, result: int, dimensions: tuple[int, ...]) -> frozenset[int]:
    return frozenset().union(*(loops_in(maps.maps[result][dimension]) for dimension in dimensions))


def _is_reordered(op: ir.Operation) -> bool:
    """True if the only result is combined with one value per iteration, by an operation that has no order."""
    if len(op.results) != 1:
        return False
    combiner, running = combination(op), accumulator(op)
    if combiner is None or combiner.name not in COMBINERS:
        return False
    return running in list(combiner.operands) and has_one_use(running)
