"""A ``linalg.generic`` as it is differentiated: its loops, and further ops over the same loops."""

from collections.abc import Callable, Sequence

from ipu_mlir.dialects.analysis.loop_nest import indexing_maps, loop_nest
from ipu_mlir.dialects.analysis.matchers import defining_op, terminator
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.autodiff.backward import NotDifferentiable
from ipu_mlir.passes.support.clone import Known, clone_slice
from ipu_mlir.passes.support.linalg_builders import generic, with_extents, zero

Operand = tuple[ir.Value, ir.AffineMap]
"""A tensor and the element of it that each point of the loops meets."""

Body = Callable[[Known, list[ir.Value], ir.Value], ir.Value]
"""From the values of the original body, the elements of further operands and that of the result so far, to the next."""


class Structured:
    """A ``linalg.generic`` of static shape.

    Attributes:
        op: the op.
        nest: its loops.
        maps: of its operands.
        block: its body.
        arguments: of the body, those of the inputs first.
        yielded: by the body, one for each result.
        reads: the numbers of the operands that the body may read: of a reduction those that are no results.

    Raises:
        NotDifferentiable: a size is known only at run time.
    """

    def __init__(self, op: ir.Operation) -> None:
        nest, maps = loop_nest(op), indexing_maps(op)
        if nest is None or maps is None:
            raise NotDifferentiable(op, "has sizes that are not all known; compile for fixed sizes")
        self.op, self.nest, self.maps = op, nest, maps
        self.block = op.regions[0].blocks[0]
        self.arguments = list(self.block.arguments)
        self.yielded = list(terminator(self.block).operands)
        self.reads = list(range(len(self.arguments) if all(nest.parallel) else nest.num_inputs))

    @property
    def running(self) -> list[ir.Value]:
        """The elements of the results so far."""
        return self.arguments[self.nest.num_inputs :]

    def copied(self, value: ir.Value, known: Known) -> ir.Value:
        """``value`` of the body, computed again at the current insertion point from what is ``known``."""

        def is_inside(each: ir.Value) -> bool:
            op = defining_op(each)
            return op is not None and op.block == self.block

        return clone_slice(value, known, is_inside)

    def over_same_loops(
        self,
        values: Sequence[ir.Value],
        further: Sequence[Operand],
        start: ir.Value,
        output: ir.AffineMap,
        body: Body,
    ) -> ir.Value:
        """The result of an op over the same loops that reads the same operands, and ``further`` ones.

        Where no loop is reduced, it also reads its results rather than to compute them again. What ``body`` does not
        read is no operand of it. Loops that ``output`` does not name are reductions.

        Args:
            values: of the original body, which ``body`` needs, with all that they are computed from.
        """
        operands = [(self.op.operands[number], self.maps[number]) for number in self.reads] + list(further)
        operands += [(result, each) for result, each in zip(self.op.results, self._results_maps(), strict=False)]
        used = list(range(len(operands)))
        while True:
            made = self._made(
                [operands[place] for place in used], start, output, self._with(used, values, further, body)
            )
            arguments = list(made.regions[0].blocks[0].arguments)
            still = [place for place, argument in zip(used, arguments, strict=False) if list(argument.uses)]
            if still == used:
                return _unless_copied(made)
            made.erase()
            used = still

    def _results_maps(self) -> list[ir.AffineMap]:
        return self.maps[self.nest.num_inputs :] if all(self.nest.parallel) else []

    def _with(
        self, used: Sequence[int], values: Sequence[ir.Value], further: Sequence[Operand], body: Body
    ) -> Callable[[list[ir.Value]], list[ir.Value]]:
        own = len(self.reads)

        def fill(arguments: list[ir.Value]) -> list[ir.Value]:
            by_place = dict(zip(used, arguments, strict=False))
            known: Known = {
                self.arguments[number]: by_place[place] for place, number in enumerate(self.reads) if place in by_place
            }
            for value in values:
                self.copied(value, known)
            for place, value in enumerate(self.yielded if all(self.nest.parallel) else (), start=own + len(further)):
                if place in by_place and not isinstance(value.owner, ir.Block):
                    known[value] = by_place[place]
            elements = [  # what is used by nothing that is used may be anything
                by_place.get(own + place, zero(value.type.element_type)) for place, (value, _) in enumerate(further)
            ]
            return [body(known, elements, arguments[-1])]

        return fill

    def _made(
        self,
        operands: Sequence[Operand],
        start: ir.Value,
        output: ir.AffineMap,
        body: Callable[[list[ir.Value]], list[ir.Value]],
    ) -> ir.Operation:
        named = {each.position for each in output.results if isinstance(each, ir.AffineDimExpr)}
        parallel = [loop in named for loop in range(output.n_dims)]
        inputs, maps = with_extents(
            [value for value, _ in operands], [each for _, each in operands], [output], list(self.nest.extents)
        )
        op = generic(inputs, [start], [*maps, output], parallel, body)
        erase_unused(op.regions[0].blocks[0])
        return op


def erase_unused(block: ir.Block) -> None:
    """Erase the ops of a body whose results nobody uses, but for the terminator."""
    for op in list(block.operations)[-2::-1]:
        if not any(list(result.uses) for result in op.operation.results):
            op.operation.erase()


def _unless_copied(op: ir.Operation) -> ir.Value:
    """The result of ``op``; the operand instead, if ``op`` does no more than to copy it."""
    block, maps = op.regions[0].blocks[0], [each.value for each in op.attributes["indexing_maps"]]
    (value,) = terminator(block).operands
    if isinstance(value.owner, ir.Block) and maps[0] == maps[-1] and len(set(maps[-1].results)) == maps[-1].n_dims:
        source = op.operands[ir.BlockArgument(value).arg_number]
        if len(op.operands) == 2 and source.type == op.results[0].type:
            op.erase()
            return source
    return op.results[0]
