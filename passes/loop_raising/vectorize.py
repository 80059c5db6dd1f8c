"""Scalars of a loop nest as tensors: one element per iteration."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ipu_mlir.dialects.bindings import ir, upstream
from ipu_mlir.passes.build_generic import generic, loop_index
from ipu_mlir.passes.clone import Known, clone_slice, operands_from_outside
from ipu_mlir.passes.loop_raising.nests import trip_count

Loops = frozenset[int]
"""Numbers of the loops of a nest that a value depends on."""


@dataclass(frozen=True)
class Column:
    """A scalar for all iterations: a tensor with one dimension per loop, of size 1 where it does not vary."""

    tensor: ir.Value
    loops: Loops


@dataclass
class Vectorizer:
    """Computes scalars of a nest for all iterations at once, as structured ops at the current insertion point.

    Attributes:
        nest: the outermost loop.
        counters: induction variables of the loops.
        extents: their iterations.
        reductions: results of inner loops that were computed already.
    """

    nest: ir.Operation
    counters: tuple[ir.Value, ...]
    extents: tuple[int, ...]
    reductions: dict[ir.Value, Column] = field(default_factory=dict)

    def columns(self, scalars: Sequence[ir.Value]) -> list[Column]:
        """Each of ``scalars`` for all iterations; the last one over all loops, even those it does not depend on."""
        for scalar in scalars:
            self._reduce_inner_loops(scalar)
        loops = [self._loops_of([scalar]) for scalar in scalars]
        loops[-1] = frozenset(range(len(self.extents)))
        return [
            Column(self._computed([scalar], over_loops)[0], over_loops)
            for scalar, over_loops in zip(scalars, loops, strict=True)
        ]

    def _computed(self, scalars: Sequence[ir.Value], loops: Loops) -> list[ir.Value]:
        """``scalars`` over ``loops``, by one element-wise op."""
        rank = len(self.extents)
        needed = self._reductions_for(scalars)
        shape = [extent if loop in loops else 1 for loop, extent in enumerate(self.extents)]

        def body(arguments: list[ir.Value]) -> list[ir.Value]:
            known = self._start(dict(zip(needed, arguments, strict=False)))
            return [clone_slice(scalar, known, self._is_inside) for scalar in scalars]

        outputs = [upstream("tensor").EmptyOp(shape, scalar.type).result for scalar in scalars]
        maps = [over(self.reductions[value].loops, rank) for value in needed] + [over(range(rank), rank)] * len(outputs)
        inputs = [self.reductions[value].tensor for value in needed]
        return list(generic(inputs, outputs, maps, [True] * rank, body).results)

    def _start(self, known: Known) -> Known:
        """``known`` with the counters as loop indices."""
        for loop, counter in enumerate(self.counters):
            known[counter] = loop_index(loop)
        return known

    def _reduce_inner_loops(self, scalar: ir.Value) -> None:
        """Compute the inner loops that ``scalar`` depends on, those that others need first."""
        if isinstance(scalar.owner, ir.Block) or not self._is_inside(scalar) or scalar in self.reductions:
            return
        op = scalar.owner.operation
        for operand in operands_from_outside(op):
            self._reduce_inner_loops(operand)
        if op.name == "scf.for":
            self._reduce(op)

    def _reduce(self, loop: ir.Operation) -> None:
        """The results of a loop over scalars, one element per iteration of the nest, by a reduction."""
        inner = _flattened(loop)
        innermost = inner[-1].regions[0].blocks[0]
        yielded = list(list(innermost.operations)[-1].operands)
        loops = self._loops_of(list(loop.results))
        rank, all_loops = len(self.extents), len(self.extents) + len(inner)
        initial = self._computed(list(loop.operands)[3:], loops)
        needed = self._reductions_for(yielded)
        # The shape of an operand that nobody reads says how far the inner loops run.
        window = upstream("tensor").EmptyOp([trip_count(each) or 0 for each in inner], ir.IntegerType.get_signless(1))

        def body(arguments: list[ir.Value]) -> list[ir.Value]:
            known = self._start(dict(zip(needed, arguments, strict=False)))
            for number, each in enumerate(inner):
                known[each.regions[0].blocks[0].arguments[0]] = loop_index(rank + number)
            known.update(zip(list(innermost.arguments)[1:], arguments[len(needed) + 1 :], strict=True))
            return [clone_slice(value, known, self._is_inside) for value in yielded]

        inputs = [self.reductions[value].tensor for value in needed]
        maps = [over(self.reductions[value].loops, rank, all_loops) for value in needed]
        maps.append(ir.AffineMap.get(all_loops, 0, [ir.AffineExpr.get_dim(d) for d in range(rank, all_loops)]))
        maps += [over(range(rank), rank, all_loops)] * len(initial)
        parallel = [True] * rank + [False] * len(inner)
        op = generic([*inputs, window.result], initial, maps, parallel, body)
        self.reductions.update(
            (result, Column(tensor, loops)) for result, tensor in zip(loop.results, op.results, strict=True)
        )

    def _loops_of(self, scalars: Iterable[ir.Value]) -> Loops:
        """The loops that ``scalars`` depend on."""
        seen = self._slice(scalars)
        return frozenset(number for number, counter in enumerate(self.counters) if counter in seen)

    def _reductions_for(self, scalars: Iterable[ir.Value]) -> list[ir.Value]:
        """The results of inner loops that ``scalars`` are computed from."""
        seen = self._slice(scalars, stop=self.reductions)
        return [value for value in self.reductions if value in seen]

    def _slice(self, scalars: Iterable[ir.Value], stop: Iterable[ir.Value] = ()) -> set[ir.Value]:
        """Everything inside the nest that ``scalars`` are computed from, no further than ``stop``."""
        stops = set(stop)
        seen: set[ir.Value] = set()
        pending = list(scalars)
        while pending:
            value = pending.pop()
            if value in seen:
                continue
            seen.add(value)
            if value not in stops and not isinstance(value.owner, ir.Block) and self._is_inside(value):
                pending.extend(operands_from_outside(value.owner.operation))
        return seen

    def _is_inside(self, value: ir.Value) -> bool:
        """Whether ``value`` is made inside the nest."""
        block = value.owner if isinstance(value.owner, ir.Block) else value.owner.operation.block
        while True:
            owner = block.owner.operation
            if owner == self.nest:
                return True
            if owner.parent is None or owner.name == "func.func":
                return False
            block = owner.block


def over(loops: Iterable[int], rank: int, all_loops: int | None = None) -> ir.AffineMap:
    """The index into a column over ``loops``: its other dimensions have size 1."""
    dims = [ir.AffineExpr.get_dim(d) if d in loops else ir.AffineExpr.get_constant(0) for d in range(rank)]
    return ir.AffineMap.get(rank if all_loops is None else all_loops, 0, dims)


def _flattened(loop: ir.Operation) -> list[ir.Operation]:
    """``loop`` and the loops inside it, as long as each holds only the next and passes everything on."""
    loops = [loop]
    while True:
        block = loops[-1].regions[0].blocks[0]
        operations = [op.operation for op in block.operations]
        if len(operations) != 2 or operations[0].name != "scf.for":
            return loops
        inner, terminator = operations
        if list(inner.operands)[3:] != list(block.arguments)[1:] or list(terminator.operands) != list(inner.results):
            return loops
        loops.append(inner)
