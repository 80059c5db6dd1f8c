"""The loop that a pipeline becomes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ipu_mlir.dialects.analysis.outlined_calls import OUTLINED
from ipu_mlir.dialects.analysis.pipelines import PIPELINE, Pipeline
from ipu_mlir.dialects.analysis.shards import SHARD, shard_attribute
from ipu_mlir.dialects.ipu import FifoOp, ToShardOp
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.autodiff.backward import total
from ipu_mlir.passes.pipelining.positions import Position
from ipu_mlir.passes.pipelining.rows import filled, is_float, many, read_row, write_row
from ipu_mlir.passes.support.linalg_builders import constant_index, fill_with, zero

arith, func, scf, tensor = upstream("arith"), upstream("func"), upstream("scf"), upstream("tensor")


class PipelineLoop:
    """The code of a function that runs a pipeline."""

    def __init__(self, pipeline: Pipeline, positions: Sequence[Position], function: ir.Operation) -> None:
        self._pipeline, self._positions, self._function = pipeline, positions, function
        self._schedule, self._count = pipeline.schedule, pipeline.count
        kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
        del function.attributes[PIPELINE]
        self._block = ir.Block.create_at_start(
            function.regions[0], list(kind.inputs), [function.location] * len(kind.inputs)
        )
        given = iter(self._block.arguments)
        self._parameters = [[next(given) for _ in range(count)] for count in pipeline.parameters]
        self._data = [[next(given) for _ in range(count)] for count in pipeline.data]

    def fill(self) -> None:
        """Give the function its code."""
        with ir.InsertionPoint(self._block):
            results, gradients = self._sequential() if self._schedule.name == "sequential" else self._slots()
            func.ReturnOp([*results, *gradients])

    def _empty_results(self) -> list[ir.Value]:
        last = self._positions[len(self._pipeline.stages) - 1]
        return [_zeros(many(kind, self._count)) for kind in last.results]

    def _no_gradients(self) -> list[ir.Value]:
        kinds = {each.stage: each.gradients for each in self._positions if each.backward}
        return [_zeros(kind) for stage in sorted(kinds) for kind in kinds[stage]]

    def _sequential(self) -> tuple[list[ir.Value], list[ir.Value]]:
        """Micro-batch after micro-batch."""
        results, gradients = self._empty_results(), self._no_gradients()
        loop = scf.ForOp(constant_index(0), constant_index(self._count), constant_index(1), [*results, *gradients])
        with ir.InsertionPoint(loop.body):
            carried = list(loop.inner_iter_args)
            done, so_far = carried[: len(results)], carried[len(results) :]
            handed: list[ir.Value] = []
            stored: dict[int, list[ir.Value]] = {}
            for number, position in enumerate(self._positions):
                if position.backward:
                    handed, added = self._back(position, stored[position.stage], handed, so_far)
                    so_far = added
                else:
                    handed, stored[position.stage] = self._there(position, handed, loop.induction_variable)
                if number == len(self._pipeline.stages) - 1:
                    done = [write_row(v, whole, loop.induction_variable) for v, whole in zip(handed, done, strict=True)]
                    handed = self._seeds(handed)
            scf.YieldOp([*done, *so_far])
        found = list(loop.results)
        return found[: len(results)], found[len(results) :]

    def _slots(self) -> tuple[list[ir.Value], list[ir.Value]]:
        """Slot after slot: all positions that have a micro-batch.

        An iteration is as many slots as there are from one micro-batch to the next: each position has its turn once.
        """
        state = Carried(self._empty_results(), self._no_gradients(), {}, {}, {})
        for number, position in enumerate(self._positions):
            if self._is_carried(number):
                device = self._positions[number + 1].device
                state.links[number] = [self._moved(_zeros(kind), device) for kind in self._handed(number)]
            if not position.backward and self._is_stored(number):
                state.waiting[number] = [self._moved(_zeros(kind), position.device) for kind in position.stored]
            depth = self._ring_depth(number)
            if depth:
                kinds = [many(kind, depth) for kind in position.stored]
                state.rings[number] = [self._moved(_zeros(kind), position.device) for kind in kinds]
        last = (len(self._positions) - 1) // self._schedule.stride
        count = constant_index(self._count + last)
        loop = scf.ForOp(constant_index(0), count, constant_index(1), state.values())
        with ir.InsertionPoint(loop.body):
            inner = state.like(list(loop.inner_iter_args))
            self._iteration(loop.induction_variable, inner)
            scf.YieldOp(inner.values())
        found = state.like(list(loop.results))
        return found.results, found.gradients

    def _is_carried(self, number: int) -> bool:
        """True if what a position hands on is for the next iteration."""
        return number < len(self._positions) - 1 and number % self._schedule.stride == self._schedule.stride - 1

    def _backward_number(self, number: int) -> int:
        return 2 * len(self._pipeline.stages) - 1 - number

    def _is_stored(self, number: int) -> bool:
        """True if the backward part of a forward stage comes before it in an iteration, or at the same time."""
        stride = self._schedule.stride
        return bool(self._positions[number].stored) and self._backward_number(number) % stride <= number % stride

    def _ring_depth(self, number: int) -> int:
        position = self._positions[number]
        return self._schedule.stash_depth(position.stage) if position.stored and not position.backward else 0

    def _handed(self, number: int) -> list[ir.Type]:
        """The types of what a position hands on: of the last stage, the cotangents of its results."""
        position = self._positions[number]
        is_last = number == len(self._pipeline.stages) - 1
        return [kind for kind in position.results if not is_last or is_float(kind)]

    def _iteration(self, iteration: ir.Value, state: "Carried") -> None:
        """One iteration, which makes the values of ``state`` those of the next."""
        stride = self._schedule.stride
        stashes: dict[int, list[ir.Value]] = dict(state.waiting)
        handed: dict[int, list[ir.Value]] = dict(state.links)
        for slot in range(stride):
            made: dict[int, list[ir.Value]] = {}
            for number in range(slot, len(self._positions), stride):
                made[number] = self._work(number, iteration, handed.get(number - 1, []), stashes, state)
            for number, values in made.items():  # the IPUs meet where data goes from one to another: after all stages
                if number < len(self._positions) - 1:
                    moved = [self._moved(value, self._positions[number + 1].device) for value in values]
                    (state.links if self._is_carried(number) else handed)[number] = moved
        for number in state.waiting:
            state.waiting[number] = state.stored[number]

    def _work(
        self,
        number: int,
        iteration: ir.Value,
        given: list[ir.Value],
        stashes: dict[int, list[ir.Value]],
        state: "Carried",
    ) -> list[ir.Value]:
        """What a position hands on in an iteration."""
        position, behind = self._positions[number], number // self._schedule.stride
        micro_batch = arith.subi(iteration, constant_index(behind)) if behind else iteration
        active = self._is_active(iteration, behind)
        nothing = [_zeros(kind) for kind in self._handed(number)] if number < len(self._positions) - 1 else []
        if position.backward:
            stash = stashes[self._backward_number(number)]

            def back() -> list[ir.Value]:
                handed, added = self._back(position, stash, given, state.gradients)
                return [*handed[: len(nothing)], *added]

            found = _if(active, back, [*nothing, *state.gradients])
            state.gradients = found[len(nothing) :]
            return found[: len(nothing)]
        is_last = number == len(self._pipeline.stages) - 1
        results = state.results if is_last else []

        def there() -> list[ir.Value]:
            handed, stored = self._there(position, given, micro_batch)
            written = [write_row(v, whole, micro_batch) for v, whole in zip(handed, results, strict=False)]
            return [*(self._seeds(handed) if is_last else handed)[: len(nothing)], *written, *stored]

        found = _if(active, there, [*nothing, *results, *(_zeros(kind) for kind in position.stored)])
        handed, rest = found[: len(nothing)], found[len(nothing) :]
        if is_last:
            state.results = rest[: len(results)]
        stored = self._delayed(number, rest[len(results) :], iteration, state)
        state.stored[number] = stored
        if number not in state.waiting:
            stashes[number] = stored
        return handed

    def _delayed(self, number: int, stored: list[ir.Value], iteration: ir.Value, state: "Carried") -> list[ir.Value]:
        """What a forward stage has stored some iterations ago, in the place of which ``stored`` is kept."""
        depth, device = self._ring_depth(number), self._positions[number].device
        if not depth:
            return stored
        if self._pipeline.offload:
            return [self._fifo(value, depth, device) for value in stored]
        row = arith.remui(iteration, constant_index(depth))
        found = [self._on(device, read_row(ring, row)) for ring in state.rings[number]]
        pairs = zip(stored, state.rings[number], strict=True)
        state.rings[number] = [self._on(device, write_row(value, ring, row)) for value, ring in pairs]
        return found

    def _fifo(self, value: ir.Value, depth: int, device: int) -> ir.Value:
        attribute = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), depth)
        op = FifoOp(depth=attribute, value=value, delayed=value.type)
        op.operation.attributes["offload"] = ir.UnitAttr.get()
        return self._on(device, op.delayed)

    def _moved(self, value: ir.Value, device: int) -> ir.Value:
        return ToShardOp(source=value, shard=shard_attribute(device), moved=value.type).moved

    def _there(
        self, position: Position, given: list[ir.Value], micro_batch: ir.Value
    ) -> tuple[list[ir.Value], list[ir.Value]]:
        """What a forward stage hands on, and what it stores."""
        data = [read_row(whole, micro_batch) for whole in self._data[position.stage]]
        results = self._call(
            position, [*self._parameters[position.stage], *given, *data], [*position.results, *position.stored]
        )
        return results[: len(position.results)], results[len(position.results) :]

    def _back(
        self, position: Position, stored: list[ir.Value], given: list[ir.Value], so_far: list[ir.Value]
    ) -> tuple[list[ir.Value], list[ir.Value]]:
        """The cotangents that a backward stage hands on, and the gradients so far."""
        operands = [*self._parameters[position.stage], *stored, *given]
        results = self._call(position, operands, [*position.gradients, *position.results])
        counts = [
            len(each.gradients) for each in sorted((p for p in self._positions if p.backward), key=lambda p: p.stage)
        ]
        first = sum(counts[: position.stage])
        added = list(so_far)
        for place, gradient in enumerate(results[: len(position.gradients)]):
            added[first + place] = self._on(position.device, total(so_far[first + place], gradient))
        return results[len(position.gradients) :], added

    def _call(self, position: Position, operands: list[ir.Value], types: list[ir.Type]) -> list[ir.Value]:
        call = func.CallOp(types, position.callee, operands).operation
        call.attributes[OUTLINED] = ir.UnitAttr.get()
        call.attributes[SHARD] = shard_attribute(position.device)
        return list(call.results)

    def _on(self, device: int, value: ir.Value) -> ir.Value:
        value.owner.operation.attributes[SHARD] = shard_attribute(device)
        return value

    def _seeds(self, results: list[ir.Value]) -> list[ir.Value]:
        """The cotangents of the results of the last stage: that of the loss is one, or its share of the mean."""
        if not self._pipeline.training:
            return results
        share = 1.0 / self._count if self._pipeline.reduction == "mean" else 1.0
        floats = [each for each in results if is_float(each.type)]
        return [filled(each.type, share if place == 0 else 0.0) for place, each in enumerate(floats)]

    def _is_active(self, iteration: ir.Value, behind: int) -> ir.Value:
        """True if a position, so many iterations ``behind`` the first one, has a micro-batch."""
        is_predicate, last = arith.CmpIPredicate, constant_index(behind + self._count - 1)
        begun = arith.cmpi(is_predicate.sge, iteration, constant_index(behind))
        return arith.andi(begun, arith.cmpi(is_predicate.sle, iteration, last))


@dataclass
class Carried:
    """What the loop over slots carries.

    Attributes:
        results: of all micro-batches so far.
        gradients: their sums so far.
        links: by number of a position, what it has handed on to the next iteration.
        waiting: by number of a forward stage, what its backward part takes in this iteration.
        rings: by number of a forward stage, what waits longer.
        stored: not carried: what ``waiting`` is in the next iteration.
    """

    results: list[ir.Value]
    gradients: list[ir.Value]
    links: dict[int, list[ir.Value]]
    waiting: dict[int, list[ir.Value]]
    rings: dict[int, list[ir.Value]]
    stored: dict[int, list[ir.Value]] = field(default_factory=dict)

    def values(self) -> list[ir.Value]:
        """All of them, in one order."""
        tables = (self.links, self.waiting, self.rings)
        return [*self.results, *self.gradients, *(v for table in tables for key in sorted(table) for v in table[key])]

    def like(self, values: Sequence[ir.Value]) -> "Carried":
        """``values``, in that order, in the place of these."""
        each = iter(values)
        results, gradients = ([next(each) for _ in part] for part in (self.results, self.gradients))
        tables = [
            {key: [next(each) for _ in table[key]] for key in sorted(table)}
            for table in (self.links, self.waiting, self.rings)
        ]
        return Carried(results, gradients, *tables)


def _if(condition: ir.Value, work: Callable[[], list[ir.Value]], otherwise: list[ir.Value]) -> list[ir.Value]:
    """The values that ``work`` makes where ``condition`` holds, else others of their types."""
    made = ir.Operation.create("scf.if", [each.type for each in otherwise], [condition], regions=2)
    for region, values in zip(made.regions, (work, lambda: otherwise), strict=True):
        with ir.InsertionPoint(ir.Block.create_at_start(region, [])):
            scf.YieldOp(values())
    return list(made.results)


def _zeros(kind: ir.Type) -> ir.Value:
    return fill_with(zero(kind.element_type), tensor.EmptyOp(list(kind.shape), kind.element_type).result).results[0]
