"""The loop of a sequential pipeline: over micro-batches."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.autodiff.backward import total
from ipu_mlir.passes.pipelining.positions import Part, Position
from ipu_mlir.passes.pipelining.rows import many, read_row, write_row, zeros
from ipu_mlir.passes.pipelining.stage_calls import StageCalls
from ipu_mlir.passes.support.linalg_builders import constant_index

arith, scf = upstream("arith"), upstream("scf")

Kept = tuple[list[ir.Value], list[ir.Value]]
"""What there is so far of the results, and of the gradients."""


@dataclass
class SequentialLoop:
    """The code of a pipeline whose stages run one after the other.

    Attributes:
        calls: the calls of its stages.
        positions: its positions.
        stages: how many of these are forward stages.
        serialized: micro-batches that each stage works on before the next one begins: an iteration.
    """

    calls: StageCalls
    positions: Sequence[Position]
    stages: int
    serialized: int
    _stored: dict[int, list[ir.Value]] = field(default_factory=dict)

    def emit(self) -> Kept:
        """The results and the gradients of all micro-batches."""
        iterations = self.calls.count
        if self.serialized > 1:
            iterations = arith.divsi(iterations, constant_index(self.serialized))
        first = self.calls.results, self.calls.gradients.begin

        def iteration(number: ir.Value, carried: list[ir.Value]) -> list[ir.Value]:
            kept = carried[: len(first[0])], carried[len(first[0]) :]
            results, gradients = self._iteration(number, kept)
            return [*results, *gradients]

        found = _loop(iterations, [*first[0], *first[1]], iteration)
        return found[: len(first[0])], found[len(first[0]) :]

    def _iteration(self, number: ir.Value, kept: Kept) -> Kept:
        if self.serialized > 1:
            number = arith.muli(number, constant_index(self.serialized))
        handed: list[ir.Value] = []
        for place, position in enumerate(self.positions):
            made = []
            for part in position.parts:
                found, kept = self._part(part, place, number, handed[part.taken], kept)
                made.append(found)
            handed = [each for own in made for each in own]
            if position.backward:
                handed = made[0]
                for own in made[1:]:
                    handed = [total(*pair) for pair in zip(handed, own, strict=True)]
        return kept

    def _part(
        self, part: Part, place: int, first: ir.Value, given: list[ir.Value], kept: Kept
    ) -> tuple[list[ir.Value], Kept]:
        """What a part yields for the micro-batches from ``first`` on: rows, if there are several."""
        stored = self._stored.get(part.number, []) if self.positions[place].backward else []
        if self.serialized == 1:
            handed, self._stored[part.number], kept = self._once(part, place, first, given, stored, kept)
            return handed, kept
        types = [*(part.results if place != self.stages - 1 else ()), *([] if stored else part.stored)]
        rows = [zeros(many(each, self.serialized), part.device) for each in types]
        results = len(kept[0])
        handing = len(types) - (0 if stored else len(part.stored))

        def one(number: ir.Value, carried: list[ir.Value]) -> list[ir.Value]:
            wholes, own = carried[: len(rows)], carried[len(rows) :]
            values, waiting = ([read_row(each, number) for each in group] for group in (given, stored))
            micro_batch = arith.addi(first, number)
            handed, made, after = self._once(part, place, micro_batch, values, waiting, (own[:results], own[results:]))
            pairs = zip([*handed, *([] if stored else made)], wholes, strict=True)
            return [*(write_row(value, whole, number) for value, whole in pairs), *after[0], *after[1]]

        found = _loop(constant_index(self.serialized), [*rows, *kept[0], *kept[1]], one)
        if not self.positions[place].backward:
            self._stored[part.number] = found[handing : len(rows)]
        own = found[len(rows) :]
        return found[:handing], (own[:results], own[results:])

    def _once(
        self, part: Part, place: int, micro_batch: ir.Value, given: list[ir.Value], stored: list[ir.Value], kept: Kept
    ) -> tuple[list[ir.Value], list[ir.Value], Kept]:
        """What a part yields for one micro-batch, what it stores, and what is kept."""
        results, gradients = kept
        if self.positions[place].backward:
            given = self.calls.seeds(part) if place == self.stages else given
            handed, gradients = self.calls.backward(part, stored, given, gradients, micro_batch)
            return handed, [], (results, gradients)
        found = self.calls.forward(part, given, micro_batch)
        handed, made = found[: len(part.results)], found[len(part.results) :]
        if place == self.stages - 1:
            results, handed = self.calls.keep(part, handed, results, micro_batch), []
        return handed, made, (results, gradients)


def _loop(
    count: ir.Value, first: list[ir.Value], body: Callable[[ir.Value, list[ir.Value]], list[ir.Value]]
) -> list[ir.Value]:
    """The results of a loop that counts to ``count`` and carries values, ``first`` at its begin."""
    loop = scf.ForOp(constant_index(0), count, constant_index(1), first)
    with ir.InsertionPoint(loop.body):
        scf.YieldOp(body(loop.induction_variable, list(loop.inner_iter_args)))
    return list(loop.results)
