"""Scalars of a loop nest as tensors: one element per iteration."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from ipu_mlir.dialects.analysis.matchers import defining_op, is_made_inside, terminator
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.raising.loops.nests import loads_inside, trip_count
from ipu_mlir.passes.support.clone import Known, clone_slice, operands_from_outside
from ipu_mlir.passes.support.linalg_builders import constant_index, generic, loop_index, zero
from ipu_mlir.passes.support.rewriting import list_ops

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
        guard: the condition under which ``guarded`` runs, if there is one.
        guarded: ops that may load only where ``guard`` holds.
        reductions: results of inner loops that were computed already.
        starts: first indices of the loops, if they are not all 0.
    """

    nest: ir.Operation
    counters: tuple[ir.Value, ...]
    extents: tuple[int, ...]
    guard: ir.Value | None = None
    guarded: ir.Block | None = None
    reductions: dict[ir.Value, Column] = field(default_factory=dict)
    starts: tuple[int, ...] = ()

    def columns(self, scalars: Sequence[ir.Value]) -> list[Column]:
        """Each of ``scalars`` for all iterations; the last one over all loops, even those it does not depend on."""
        for scalar in (self.guard, *scalars):
            if scalar is not None:
                self._reduce_inner_loops(scalar)
        loops = [self._loops_of(self._with_guard([scalar])) for scalar in scalars]
        loops[-1] = frozenset(range(len(self.extents)))
        return [
            Column(self._computed([scalar], over_loops)[0], over_loops)
            for scalar, over_loops in zip(scalars, loops, strict=True)
        ]

    def _computed(self, scalars: Sequence[ir.Value], loops: Loops) -> list[ir.Value]:
        """``scalars`` over ``loops``, by one element-wise op; 0 where what they load may not be loaded."""
        rank = len(self.extents)
        needed = self._reductions_for(self._with_guard(scalars))
        shape = [extent if loop in loops else 1 for loop, extent in enumerate(self.extents)]

        def body(arguments: list[ir.Value]) -> list[ir.Value]:
            known = self._start(dict(zip(needed, arguments, strict=False)))
            return self._cloned(scalars, known, lambda: [zero(scalar.type) for scalar in scalars])

        outputs = [upstream("tensor").EmptyOp(shape, scalar.type).result for scalar in scalars]
        maps = [over(self.reductions[value].loops, rank) for value in needed] + [over(range(rank), rank)] * len(outputs)
        inputs = [self.reductions[value].tensor for value in needed]
        return list(generic(inputs, outputs, maps, [True] * rank, body).results)

    def _cloned(
        self, scalars: Sequence[ir.Value], known: Known, otherwise: Callable[[], Sequence[ir.Value]]
    ) -> list[ir.Value]:
        """Copies of ``scalars`` at the current insertion point.

        Where a load among them stands under the guard, it stays there, and what ``otherwise`` makes takes the place of
        ``scalars`` where the guard does not hold.
        """
        if self.guard is None or not self._loads_under_guard(scalars):
            return [clone_slice(scalar, known, self._is_inside) for scalar in scalars]
        scf = upstream("scf")
        branch = scf.IfOp(
            clone_slice(self.guard, known, self._is_inside), [scalar.type for scalar in scalars], has_else=True
        )
        with ir.InsertionPoint(branch.then_block):
            inside = dict(known)
            scf.YieldOp([clone_slice(scalar, inside, self._is_inside) for scalar in scalars])
        with ir.InsertionPoint(branch.else_block):
            scf.YieldOp(list(otherwise()))
        return list(branch.results)

    def _with_guard(self, scalars: Sequence[ir.Value]) -> list[ir.Value]:
        """``scalars``, and the guard if one of them loads under it."""
        if self.guard is None or not self._loads_under_guard(scalars):
            return list(scalars)
        return [*scalars, self.guard]

    def _loads_under_guard(self, scalars: Iterable[ir.Value]) -> bool:
        """True if ``scalars`` are computed from elements that are there only where the guard holds."""
        seen = [value for value in self._slice(scalars, self.reductions) if value not in self.reductions]
        owners = [value.owner.operation for value in seen if defining_op(value) and self._is_inside(value)]
        loads = [load for op in owners for load in list_ops(op, "tensor.extract")]
        return any(self._is_guarded(load) and not loads_inside(load) for load in loads)

    def _is_guarded(self, op: ir.Operation) -> bool:
        """True if ``op``, inside the nest, runs only where the guard holds."""
        block = op.block
        while block != self.guarded and block.owner.operation != self.nest:
            block = block.owner.operation.block
        return block == self.guarded

    def _start(self, known: Known) -> Known:
        """``known`` with the counters as loop indices."""
        for loop, counter in enumerate(self.counters):
            known[counter] = loop_index(loop)
            if self.starts and self.starts[loop]:
                start = constant_index(self.starts[loop])
                known[counter] = upstream("arith").AddIOp(known[counter], start).result
        return known

    def _reduce_inner_loops(self, scalar: ir.Value) -> None:
        """Compute the inner loops that ``scalar`` depends on, those that others need first."""
        op = defining_op(scalar)
        if op is None or not self._is_inside(scalar) or scalar in self.reductions:
            return
        for operand in operands_from_outside(op):
            self._reduce_inner_loops(operand)
        if op.name == "scf.for":
            self._reduce(op)

    def _reduce(self, loop: ir.Operation) -> None:
        """The results of a loop over scalars, one element per iteration of the nest, by a reduction."""
        inner = _flattened(loop)
        innermost = inner[-1].regions[0].blocks[0]
        yielded = list(terminator(innermost).operands)
        loops = self._loops_of([*loop.results, *self._with_guard(yielded)])
        rank, all_loops = len(self.extents), len(self.extents) + len(inner)
        initial = self._computed(list(loop.operands)[3:], loops)
        needed = self._reductions_for(self._with_guard(yielded))
        # The shape of an operand that nobody reads says how far the inner loops run.
        window = upstream("tensor").EmptyOp([trip_count(each) or 0 for each in inner], ir.IntegerType.get_signless(1))

        def body(arguments: list[ir.Value]) -> list[ir.Value]:
            known = self._start(dict(zip(needed, arguments, strict=False)))
            for number, each in enumerate(inner):
                known[each.regions[0].blocks[0].arguments[0]] = loop_index(rank + number)
            carried = arguments[len(needed) + 1 :]
            known.update(zip(list(innermost.arguments)[1:], carried, strict=True))
            return self._cloned(yielded, known, lambda: carried)

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
            if value not in stops and defining_op(value) and self._is_inside(value):
                pending.extend(operands_from_outside(value.owner.operation))
        return seen

    def _is_inside(self, value: ir.Value) -> bool:
        """True if ``value`` is made inside the nest."""
        return is_made_inside(value, self.nest)


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
