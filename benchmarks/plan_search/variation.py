"""Plans that differ from the planner's in some ops: in cuts, in first tiles, in IPUs, in the order of ops."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from random import Random

from ipu_mlir.dialects.analysis.loop_nest import is_structured
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.mapping.parts import Parts
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.placement.partition.partition import Partition
from ipu_mlir.passes.placement.planner.balanced import result_grains
from ipu_mlir.passes.placement.planner.candidates import candidates_of, rank
from ipu_mlir.passes.placement.planner.fastest import Fastest, question_of
from ipu_mlir.passes.placement.planner.grids import coarse_grids, parts_of_grid
from ipu_mlir.passes.placement.planner.on_ipus import numbers_of_ipus
from ipu_mlir.passes.placement.planner.operation import InSteps, Operation
from ipu_mlir.passes.support.rewriting import list_ops

Key = tuple[str, tuple[int, ...], str]
"""An op: where it stands in the source, its loops, and what its vertices run."""

_BEST = 64  # grids among which most other cuts are drawn


@dataclass(frozen=True)
class Varied(Fastest):
    """The planner, but some ops are cut in other ways, each drawn with the number that ``changes`` has for it.

    Attributes:
        asked: gets all ops that the planner was asked about.
    """

    changes: dict[Key, int] = field(default_factory=dict, compare=False)
    asked: dict[Key, None] = field(default_factory=dict, compare=False)

    def __call__(self, operation: Operation, target: Target) -> Parts | InSteps:
        key = (operation.location, operation.extents, operation.codelet)
        if operation.work is not None and 0 not in operation.extents:
            self.asked.setdefault(key)
        seed = self.changes.get(key)
        found = None if seed is None else _another(operation, target, Random(seed), self)
        return super().__call__(operation, target) if found is None else found


@dataclass(frozen=True)
class VariedPartition(Partition):
    """``ipu-partition`` after some ops have moved, each drawn with one of ``moves``."""

    moves: tuple[int, ...] = ()

    def run(self, module: ir.Operation) -> None:
        for seed in self.moves:
            _move_an_op(module, Random(seed))
        super().run(module)


def _another(operation: Operation, target: Target, random: Random, planner: Fastest) -> Parts | InSteps | None:
    """Another decision for ``operation``; None for the planner's."""
    if operation.step_loops and random.random() < 0.1:
        loop = random.choice(operation.step_loops)
        return InSteps(loop, max(1, operation.extents[loop] >> random.randint(1, 4)))
    count, first = _some_ipus(operation, target, random)
    part = replace(target, ipus=count)
    found = list(_grids(operation, part, random, planner))
    if not found:
        return None
    parts = random.choice(found)
    room = target.tiles_per_ipu * count - target.io_tiles - parts.num_parts
    if random.random() < 0.3 and room > 0:
        first += random.choice((room, room // 2, random.randint(0, room)))
    return replace(parts, first_tile=first)


def _some_ipus(operation: Operation, target: Target, random: Random) -> tuple[int, int]:
    """How many IPUs, and the tile that the first of them begins with."""
    most = max(operation.ipus or (target.ipus,))
    if most == 1 or random.random() < 0.5:
        return most, 0
    count = random.choice(numbers_of_ipus(1, most))
    return count, random.randint(0, most - count) * target.tiles_per_ipu


def _grids(operation: Operation, part: Target, random: Random, planner: Fastest) -> Iterator[Parts]:
    """Some cuts on ``part`` of the IPUs that fit a tile: good ones mostly."""
    question = question_of(operation, part, planner.grain_bytes, planner.most_partials)
    ones = (1,) * len(operation.extents)
    grains = result_grains(operation, planner.grain_bytes)
    grids = coarse_grids(question.extents, question.cuttable, grains, ones, question.num_tiles).tolist()
    some = random.sample(grids, min(len(grids), 2000))
    loops = [*question.cuttable, None]
    origins = {parts_of_grid(grid, operation.extents, random.choice(loops)): "drawn" for grid in some}
    ranked = sorted(candidates_of(operation, question, origins), key=rank)
    fitting = [each.parts for each in ranked if each.fits] or [each.parts for each in ranked[:1]]
    yield from fitting if random.random() < 0.1 else fitting[:_BEST]


def _move_an_op(module: ir.Operation, random: Random) -> None:
    """Move one op to another place between those that it reads and those that read it."""
    ops = [op for op in list_ops(module) if is_structured(op)]
    op = random.choice(ops)
    block = [each.operation for each in op.block.operations]
    place = {each: number for number, each in enumerate(block)}
    at = place[op]
    first = max((place[value.owner] for value in op.operands if value.owner in place), default=-1) + 1
    last = min(place[_in_block(use.owner.operation, place)] for result in op.results for use in result.uses) - 1
    inside = [value for each in list_ops(op) for value in each.operands if value.owner in place]
    first = max([first, *(place[value.owner] + 1 for value in inside if value.owner is not op)])
    to = random.randint(first, max(first, last))
    if to < at:
        op.move_before(block[to])
    elif to > at:
        op.move_after(block[to])


def _in_block(op: ir.Operation, place: dict[ir.Operation, int]) -> ir.Operation:
    """The op of the block of ``place`` that has ``op`` in it, or is it."""
    while op not in place:
        op = op.parent.operation
    return op
