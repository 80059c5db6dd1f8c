"""``ipu-fuse-elementwise-ops``: what one vertex can do with an element without leaving it is one op."""

from collections.abc import Iterable, Iterator, Mapping
from math import prod

from ipu_mlir.dialects.analysis.control_flow import is_loop
from ipu_mlir.dialects.analysis.loop_nest import LoopNest, loop_nest
from ipu_mlir.dialects.analysis.matchers import defining_op
from ipu_mlir.dialects.attributes.attributes import module_target
from ipu_mlir.dialects.costs.elementwise import elementwise_cycles
from ipu_mlir.dialects.costs.scalar_ops import body_ops, scalar_ops
from ipu_mlir.dialects.costs.sums_of_products import contraction
from ipu_mlir.dialects.machine.machine import machine_of
from ipu_mlir.dialects.machine.size_arithmetic import ceil_div
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.core.pipeline_steps import MODULE, UpstreamStep, upstream_manager
from ipu_mlir.passes.support.rewriting import has_uses, list_ops, list_outside_bodies

_FUSED = ("linalg.generic", "tensor.expand_shape", "tensor.collapse_shape")
_Nests = Mapping[ir.Operation, LoopNest]

_SECOND_USE = "ipu.second_use"
"""Upstream fuses a producer that has one use. This op is another one, and no pass leaves it."""

_SMALL, _GROWTH = 16, 16
_SUPERSTEP = 500
"""Cycles that one superstep more is taken to cost: a sync, the start of a vertex, and bringing its result."""


class FuseElementwiseOps(Pass):
    """Fuse element-wise ops and reshapes with the op that alone reads them, but into no loop.

    Upstream's ``linalg-fuse-elementwise-ops`` fuses. It would move an op into a loop that reads its result, where
    the op runs in every iteration, and one of several operands, or that takes long, into a sum of products, which
    could not run on AMP units then and would compute every factor as often as it is read; and a function of a few
    elements into the op that repeats its results, which would compute each of them as often. And it copies what it has
    fused so far with every op that it adds: a chain of n ops takes n * n / 2 copies. Here it fuses small groups of
    neighbours first, and then groups of such groups. What only repeats elements fuses with each of its readers.

    Needs:  linalg on tensors; ``ipu-generalize-ops``, ``ipu-raise-splats``.
    Leaves: no element-wise ``linalg.generic`` whose only reader is a ``linalg.generic`` outside of further loops, but
            factors of sums of products that are computed of several tensors or by functions, and what is read so often
            that computing it once is faster, with a superstep more.
    """

    name = "ipu-fuse-elementwise-ops"

    def run(self, module: ir.Operation) -> None:
        with module.context, module.location:
            fusion = upstream_manager(UpstreamStep("linalg-fuse-elementwise-ops"), MODULE)
            target, most = module_target(module), _SMALL
            while True:
                _give_each_reader_its_own(module)
                ops = [op for op in list_outside_bodies(module) if op.name in _FUSED]
                between = _between_groups(ops, most)
                nests = {op: nest for op in ops if (nest := _nest(op)) is not None}
                for value in (*_into_loops(ops), *_into_products(nests), *_into_copies(nests, target), *between):
                    _use_again(value)
                fusion.run(module)
                for use in list_ops(module, _SECOND_USE):
                    _drop(use)
                if not between:
                    return
                most *= _GROWTH


def _give_each_reader_its_own(module: ir.Operation) -> None:
    """Copy what only repeats elements for each op that reads it, so that it fuses with all of them."""
    for op in list_outside_bodies(module):
        if op.name != "linalg.generic" or len(op.regions[0].blocks[0].operations) > 1:
            continue
        readers = [use.owner.operation for use in op.results[0].uses]
        if len(readers) < 2 or not _is_elementwise(op) or any(_nest(reader) is None for reader in readers):
            continue
        nest = loop_nest(op)
        if nest is None or not any(_repeated(op, nest)):
            continue
        for reader in dict.fromkeys(readers[1:]):
            own = op.clone(ir.InsertionPoint(reader))
            for number, operand in enumerate(reader.operands):
                if operand == op.results[0]:
                    reader.operands[number] = own.results[0]


def _into_loops(ops: Iterable[ir.Operation]) -> Iterator[ir.Value]:
    """The results of ``ops`` that are read in a loop which their op is not in."""
    for op in ops:
        for result in op.results:
            if any(_is_in_further_loop(use.owner.operation, op.block) for use in result.uses):
                yield result


def _is_in_further_loop(reader: ir.Operation, block: ir.Block) -> bool:
    """True if a loop is around ``reader`` but not around all of ``block``, which dominates it."""
    while reader.block != block:
        reader = reader.parent.operation
        if is_loop(reader):
            return True
    return False


def _into_products(nests: _Nests) -> Iterator[ir.Value]:
    """The factors of sums of products that are read several times, and take more to compute than a cast or a choice."""
    for op, nest in nests.items():
        if all(nest.parallel) or contraction(op, nest) is None:
            continue
        for value, _ in _repeated(op, nest):
            producers, tensors = _computed_of(value, nests)
            if len(tensors) > 1 or any(map(_takes_long, producers)):
                yield value


def _into_copies(nests: _Nests, target: Target) -> Iterator[ir.Value]:
    """What is read several times, and takes a tile longer to compute for every time than a superstep of its own."""
    machine = machine_of(target)
    for op, nest in nests.items():
        for value, times in _repeated(op, nest):
            body = [inner for producer in _computed_of(value, nests)[0] for inner in body_ops(producer)]
            if not body:
                continue
            once, every = (
                elementwise_cycles(scalar_ops(body), ceil_div(elements, target.num_compute_tiles), machine)
                for elements in (prod(value.type.shape), times * prod(value.type.shape))
            )
            if every - once > _SUPERSTEP:
                yield value


def _is_elementwise(op: ir.Operation) -> bool:
    nest = _nest(op)
    return nest is not None and all(nest.parallel)


def _nest(op: ir.Operation) -> LoopNest | None:
    return loop_nest(op) if op.name == "linalg.generic" else None


def _repeated(op: ir.Operation, nest: LoopNest) -> Iterator[tuple[ir.Value, int]]:
    """The operands of ``op`` of which it reads every element several times, and how often."""
    for value, indices in zip(op.operands, nest.indices[: nest.num_inputs], strict=False):
        own = {loop for index in indices for loop, step in enumerate(index.coefficients) if step}
        times = prod(extent for loop, extent in enumerate(nest.extents) if loop not in own)
        if times > 1:
            yield value, times


def _computed_of(value: ir.Value, nests: _Nests) -> tuple[list[ir.Operation], set[ir.Value]]:
    """The element-wise ops that would be fused into one that makes ``value``, and the tensors that it would read."""
    ops: list[ir.Operation] = []
    tensors: set[ir.Value] = set()
    pending = [value]
    while pending:
        value = pending.pop()
        op = _only_read_here(value)
        if op is None or op.name not in _FUSED:
            tensors.add(value)
        elif op.name != "linalg.generic":
            pending.append(op.operands[0])
        elif (nest := nests.get(op)) is None or not all(nest.parallel):
            tensors.add(value)
        else:
            ops.append(op)
            pending += dict.fromkeys(list(op.operands)[: nest.num_inputs])
    return ops, tensors


def _takes_long(op: ir.Operation) -> bool:
    """True of a function or a quotient of elements."""
    return any(inner.name.startswith("math.") or inner.name == "arith.divf" for inner in op.regions[0].blocks[0])


def _between_groups(ops: Iterable[ir.Operation], most: int) -> list[ir.Value]:
    """The results of ``ops``, each before its readers, to be kept apart so that no more than ``most`` scalar ops fuse.

    Ops that one op reads are the edges of trees. Each op takes the groups of its producers into its own, the smallest
    first, until that is full.
    """
    group: dict[ir.Operation, int] = {}
    cut: list[ir.Value] = []
    for op in ops:
        size = sum(1 for _ in op.regions[0].blocks[0]) if len(op.regions) else 1
        producers = [
            (group[owner], value) for value in dict.fromkeys(op.operands) if (owner := _only_read_here(value)) in group
        ]
        for others, value in sorted(producers, key=lambda each: each[0]):
            if size + others <= most:
                size += others
            else:
                cut.append(value)
        group[op] = size
    return cut


def _only_read_here(value: ir.Value) -> ir.Operation | None:
    """The op that makes ``value``, if one op reads it; as several operands, as it is when the op overwrites it, too."""
    readers = (use.owner for use in value.uses)
    first = next(readers)
    return defining_op(value) if all(reader == first for reader in readers) else None


def _use_again(value: ir.Value) -> None:
    ir.Operation.create(_SECOND_USE, operands=[value], ip=ir.InsertionPoint.after(value.owner))


def _drop(use: ir.Operation) -> None:
    """Remove a second use, and what only that kept alive: upstream has fused its reader with a view of it."""
    made = defining_op(use.operands[0])
    use.erase()
    if made is not None and not has_uses(made):
        made.erase()
