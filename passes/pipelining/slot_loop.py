"""The loop of a pipeline whose stages run at the same time: over time slots."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce

from ipu_mlir.dialects.analysis.pipelines import Pipeline
from ipu_mlir.dialects.ipu import FifoOp
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.autodiff.backward import total
from ipu_mlir.passes.pipelining.positions import Part, Position
from ipu_mlir.passes.pipelining.rows import many, moved, on, read_row, write_row, zeros
from ipu_mlir.passes.pipelining.stage_calls import StageCalls
from ipu_mlir.passes.support.linalg_builders import constant_index

arith, scf = upstream("arith"), upstream("scf")


class SlotLoop:
    """The code of a pipeline in which all positions run that have a micro-batch.

    An iteration is as many slots as there are from one micro-batch to the next: each position has its turn once.
    """

    def __init__(self, pipeline: Pipeline, positions: Sequence[Position], calls: StageCalls) -> None:
        self._pipeline, self._positions, self._calls = pipeline, positions, calls
        self._schedule, self._stages = pipeline.schedule, pipeline.schedule.stages

    def emit(self) -> tuple[list[ir.Value], list[ir.Value]]:
        """The results and the gradients of all micro-batches."""
        state = Carried(self._calls.results, self._calls.gradients.begin, {}, {}, {})
        for place, position in enumerate(self._positions):
            if self._is_carried(place):
                for number, part in enumerate(self._positions[place + 1].parts):
                    kinds = self._handed(place)[part.taken]
                    state.links[place, number] = [zeros(kind, part.device) for kind in kinds]
            for part in () if position.backward else position.parts:
                rows = self._rows(place)
                if part.stored and rows and not self._is_offloaded(place):
                    state.rings[part.number] = [zeros(many(kind, rows), part.device) for kind in part.stored]
                elif part.stored and self._is_waiting(place):
                    state.waiting[part.number] = [zeros(kind, part.device) for kind in part.stored]
        last = (len(self._positions) - 1) // self._schedule.stride
        end = arith.addi(self._calls.count, constant_index(last))
        loop = scf.ForOp(constant_index(0), end, constant_index(1), state.values())
        with ir.InsertionPoint(loop.body):
            inner = state.like(list(loop.inner_iter_args))
            self._iteration(loop.induction_variable, inner)
            scf.YieldOp(inner.values())
        found = state.like(list(loop.results))
        return found.results, found.gradients

    def _is_carried(self, place: int) -> bool:
        """True if what a position yields is for the next iteration."""
        is_link = place < len(self._positions) - 1 and place != self._stages - 1
        return is_link and place % self._schedule.stride == self._schedule.stride - 1

    def _is_offloaded(self, place: int) -> bool:
        """True if what a forward stage stores waits in remote memory."""
        return "stored" in self._pipeline.offload and self._schedule.stash_depth(place) > 0

    def _rows(self, place: int) -> int:
        """Rows of the rings of a forward stage; none if its backward part takes what it stores in the same iteration.

        Each row is written once in so many iterations, and read once, by the backward part. If that comes first in an
        iteration, it reads the row that is written then.
        """
        depth = self._schedule.stash_depth(place)
        return depth + 1 if self._pipeline.training and (depth or self._is_waiting(place)) else 0

    def _is_waiting(self, place: int) -> bool:
        """True if the backward part of a forward stage comes before it in an iteration, or at the same time."""
        stride = self._schedule.stride
        return self._pipeline.training and (2 * self._stages - 1 - place) % stride <= place % stride

    def _handed(self, place: int) -> list[ir.Type]:
        """The types of what a position yields; nothing from the last stage, whose results are kept."""
        position = self._positions[place]
        if place in (self._stages - 1, len(self._positions) - 1):
            return []
        parts = position.parts[:1] if position.backward else position.parts
        return [each for part in parts for each in part.results]

    def _iteration(self, iteration: ir.Value, state: "Carried") -> None:
        """One iteration, which makes the values of ``state`` those of the next."""
        stride = self._schedule.stride
        stashes: dict[int, list[ir.Value]] = dict(state.waiting)
        handed: dict[tuple[int, int], list[ir.Value]] = dict(state.links)
        for slot in range(stride):
            made = {}
            for place in reversed(range(slot, len(self._positions), stride)):  # who reads a ring before who writes it
                made[place] = self._work(place, iteration, handed, stashes, state)
            for place, values in made.items():  # the IPUs meet where data goes from one to another: after all stages
                if self._handed(place):
                    for number, part in enumerate(self._positions[place + 1].parts):
                        arrived = self._arrived(self._positions[place].backward, values, part)
                        (state.links if self._is_carried(place) else handed)[place, number] = arrived
        for number in state.waiting:
            state.waiting[number] = state.stored[number]

    @staticmethod
    def _arrived(is_backward: bool, made: list[list[ir.Value]], part: Part) -> list[ir.Value]:
        """What a part is given of what the parts before it have ``made``."""
        if not is_backward:
            return [moved(value, part.device) for value in [each for own in made for each in own][part.taken]]
        arrived = [[moved(value, part.device) for value in own[part.taken]] for own in made]
        return [reduce(lambda a, b: on(part.device, total(a, b)), each) for each in zip(*arrived, strict=True)]

    def _work(
        self,
        place: int,
        iteration: ir.Value,
        handed: dict[tuple[int, int], list[ir.Value]],
        stashes: dict[int, list[ir.Value]],
        state: "Carried",
    ) -> list[list[ir.Value]]:
        """What each part of a position yields in an iteration."""
        position, behind = self._positions[place], place // self._schedule.stride
        micro_batch = arith.subi(iteration, constant_index(behind)) if behind else iteration
        active = self._is_active(iteration, behind)
        is_last, made = place == self._stages - 1, []
        for number, part in enumerate(position.parts):
            given = handed.get((place - 1, number), [])
            nothing = [zeros(kind, part.device) for kind in part.results] if self._handed(place) else []
            if position.backward:
                stash = stashes.get(part.number, [])

                def back(part: Part = part, given: list[ir.Value] = given, stash: list[ir.Value] = stash):
                    taken = self._calls.seeds(part) if place == self._stages else given
                    stored = self._read(part, iteration, state) if part.number in state.rings else stash
                    results, added = self._calls.backward(part, stored, taken, state.gradients, micro_batch)
                    return [*results[: len(self._handed(place))], *added]

                found = _if(active, back, [*nothing, *state.gradients])
                state.gradients = found[len(nothing) :]
            else:
                kept, rings = state.results if is_last else [], state.rings.get(part.number, [])

                def there(
                    part: Part = part,
                    given: list[ir.Value] = given,
                    kept: list[ir.Value] = kept,
                    rings: list[ir.Value] = rings,
                ):
                    found = self._calls.forward(part, given, micro_batch)
                    results, stored = found[: len(part.results)], found[len(part.results) :]
                    if is_last:
                        results = self._calls.keep(part, results, kept, micro_batch)
                    return [*results, *(self._written(part, stored, rings, iteration) if rings else stored)]

                waits = rings or [zeros(kind, part.device) for kind in part.stored]
                found = _if(active, there, [*nothing, *kept, *waits])
                if is_last:
                    state.results = found[: len(kept)]
                waits = found[len(nothing) + len(kept) :]
                if rings:
                    state.rings[part.number] = waits
                    made.append(found[: len(nothing)])
                    continue
                if self._is_offloaded(place):
                    depth = self._schedule.stash_depth(place)
                    waits = [_fifo(value, depth, part.device) for value in waits]
                state.stored[part.number] = waits
                if part.number not in state.waiting:
                    stashes[part.number] = waits
            made.append(found[: len(nothing)])
        return made

    def _written(
        self, part: Part, stored: list[ir.Value], rings: list[ir.Value], iteration: ir.Value
    ) -> list[ir.Value]:
        """The rings with what a forward stage stores in an iteration."""
        row = arith.remui(iteration, constant_index(_size(rings)))
        pairs = zip(stored, rings, strict=True)
        return [on(part.device, write_row(value, ring, row)) for value, ring in pairs]

    def _read(self, part: Part, iteration: ir.Value, state: "Carried") -> list[ir.Value]:
        """What the backward part of a stage takes in an iteration: of the rows that its rings have, the oldest."""
        rings, stage = state.rings[part.number], self._pipeline.groups[part.number]
        oldest = iteration if self._is_waiting(stage) else arith.addi(iteration, constant_index(1))
        row = arith.remui(oldest, constant_index(_size(rings)))
        return [on(part.device, read_row(ring, row)) for ring in rings]

    def _is_active(self, iteration: ir.Value, behind: int) -> ir.Value:
        """True if a position, so many iterations ``behind`` the first one, has a micro-batch."""
        is_predicate, end = arith.CmpIPredicate, arith.addi(self._calls.count, constant_index(behind))
        begun = arith.cmpi(is_predicate.sge, iteration, constant_index(behind))
        return arith.andi(begun, arith.cmpi(is_predicate.slt, iteration, end))


Links = dict[tuple[int, int], list[ir.Value]]
"""By the number of a position, and of a part of the next one, what goes from the one to the other."""


@dataclass
class Carried:
    """What the loop over slots carries.

    Attributes:
        results: what is kept of those of all micro-batches so far.
        gradients: their sums so far.
        links: what positions have yielded to the next iteration.
        waiting: by number of a function, what its backward part takes in this iteration, out of remote memory.
        rings: by number of a function, what waits on the chip.
        stored: not carried: what ``waiting`` is in the next iteration.
    """

    results: list[ir.Value]
    gradients: list[ir.Value]
    links: Links
    waiting: dict[int, list[ir.Value]]
    rings: dict[int, list[ir.Value]]
    stored: dict[int, list[ir.Value]] = field(default_factory=dict)

    def values(self) -> list[ir.Value]:
        """All of them, in one order."""
        rest = [own for table in (self.links, self.waiting, self.rings) for _, own in sorted(table.items())]
        return [*self.results, *self.gradients, *(value for own in rest for value in own)]

    def like(self, values: Sequence[ir.Value]) -> "Carried":
        """``values``, in that order, in the place of these."""
        each = iter(values)
        results, gradients = ([next(each) for _ in part] for part in (self.results, self.gradients))
        links = {key: [next(each) for _ in self.links[key]] for key in sorted(self.links)}
        waiting, rings = (
            {key: [next(each) for _ in table[key]] for key in sorted(table)} for table in (self.waiting, self.rings)
        )
        return Carried(results, gradients, links, waiting, rings)


def _size(rings: list[ir.Value]) -> int:
    return rings[0].type.shape[0]


def _fifo(value: ir.Value, depth: int, device: int) -> ir.Value:
    attribute = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), depth)
    op = FifoOp(depth=attribute, value=value, delayed=value.type)
    op.operation.attributes["offload"] = ir.UnitAttr.get()
    return on(device, op.delayed)


def _if(condition: ir.Value, work: Callable[[], list[ir.Value]], otherwise: list[ir.Value]) -> list[ir.Value]:
    """The values that ``work`` makes where ``condition`` holds, else others of their types."""
    made = ir.Operation.create("scf.if", [each.type for each in otherwise], [condition], regions=2)
    for region, values in zip(made.regions, (work, lambda: otherwise), strict=True):
        with ir.InsertionPoint(ir.Block.create_at_start(region, [])):
            scf.YieldOp(values())
    return list(made.results)
