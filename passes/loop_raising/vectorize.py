"""Scalars of a loop nest as tensors: one element per iteration."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ipu_mlir.dialects.bindings import ir, upstream
from ipu_mlir.passes.build_generic import generic, identity_map, loop_index
from ipu_mlir.passes.clone import Known, clone_slice, operands_from_outside
from ipu_mlir.passes.loop_raising.nests import trip_count


@dataclass
class Vectorizer:
    """Computes scalars of a nest for all iterations at once, as structured ops before the nest.

    Attributes:
        nest: the outermost loop.
        counters: induction variables of the loops.
        extents: their iterations.
        reductions: results of inner loops that were computed already, as tensors over ``extents``.
    """

    nest: ir.Operation
    counters: tuple[ir.Value, ...]
    extents: tuple[int, ...]
    reductions: dict[ir.Value, ir.Value] = field(default_factory=dict)

    def tensors(self, scalars: Sequence[ir.Value]) -> list[ir.Value]:
        """``scalars`` as tensors of shape ``extents``."""
        for scalar in scalars:
            self._reduce_inner_loops(scalar)
        outputs = [self._empty(scalar.type) for scalar in scalars]
        return self._generic(outputs, scalars)

    def loops_of(self, scalar: ir.Value) -> tuple[int, ...]:
        """The loops that ``scalar`` depends on."""
        seen: set[ir.Value] = set()
        pending = [scalar]
        while pending:
            value = pending.pop()
            if value in seen:
                continue
            seen.add(value)
            if not isinstance(value.owner, ir.Block) and self._is_inside(value):
                pending.extend(operands_from_outside(value.owner.operation))
        return tuple(number for number, counter in enumerate(self.counters) if counter in seen)

    def _generic(self, outputs: list[ir.Value], scalars: Sequence[ir.Value]) -> list[ir.Value]:
        rank = len(self.extents)
        reduced = list(self.reductions)

        def body(arguments: list[ir.Value]) -> list[ir.Value]:
            known = self._start(dict(zip(reduced, arguments, strict=False)))
            return [clone_slice(scalar, known, self._is_inside) for scalar in scalars]

        inputs = [self.reductions[value] for value in reduced]
        maps = [identity_map(rank)] * (len(inputs) + len(outputs))
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
        extents = [trip_count(each) for each in inner]
        assert None not in extents, "a nest with loops of unknown length is not raised"
        rank, all_loops = len(self.extents), len(self.extents) + len(inner)
        initial = self.tensors(list(loop.operands)[3:])
        parallel = ir.AffineMap.get(all_loops, 0, [ir.AffineExpr.get_dim(d) for d in range(rank)])
        reduced = list(self.reductions)
        innermost = inner[-1].regions[0].blocks[0]

        def body(arguments: list[ir.Value]) -> list[ir.Value]:
            known = self._start(dict(zip(reduced, arguments, strict=False)))
            for number, each in enumerate(inner):
                known[each.regions[0].blocks[0].arguments[0]] = loop_index(rank + number)
            carried = arguments[len(reduced) : len(reduced) + len(initial)]
            known.update(zip(list(innermost.arguments)[1:], carried, strict=True))
            yielded = list(innermost.operations)[-1].operands
            return [clone_slice(value, known, self._is_inside) for value in yielded]

        # The shape of an operand nobody reads tells how far the inner loops run.
        window = upstream("tensor").EmptyOp(extents, ir.IntegerType.get_signless(1)).result
        over_inner = ir.AffineMap.get(all_loops, 0, [ir.AffineExpr.get_dim(d) for d in range(rank, all_loops)])
        inputs = [self.reductions[value] for value in reduced]
        maps = [*[parallel] * len(inputs), over_inner, *[parallel] * len(initial)]
        carried_after = len(inputs)

        def with_window(arguments: list[ir.Value]) -> list[ir.Value]:
            return body(arguments[:carried_after] + arguments[carried_after + 1 :])

        op = generic([*inputs, window], initial, maps, [True] * rank + [False] * len(inner), with_window)
        self.reductions.update(zip(loop.results, op.results, strict=True))

    def _empty(self, element_type: ir.Type) -> ir.Value:
        return upstream("tensor").EmptyOp(list(self.extents), element_type).result

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
