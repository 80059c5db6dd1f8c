"""``ipu-batch-iterations``: a loop whose iterations do not wait for each other is a few ops on all of them."""

from ipu_mlir.dialects.analysis.buffers import strides_and_offset
from ipu_mlir.dialects.analysis.loop_nest import indexing_maps, is_structured
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.host.iterations.independent_iterations import (
    Combination,
    Iterations,
    Progression,
    Update,
    independent_iterations,
    outside_buffers,
)
from ipu_mlir.passes.host.memory_writes import MemoryWrites
from ipu_mlir.passes.host.replicas.axis import allocated, computed, copied, view
from ipu_mlir.passes.host.replicas.batch_codelets import scatter_in_order
from ipu_mlir.passes.host.replicas.batch_replicas import Batch
from ipu_mlir.passes.host.replicas.batch_structured import batch_structured, generalize
from ipu_mlir.passes.support.linalg_builders import bodiless_generic, constant_index, generic, loop_index
from ipu_mlir.passes.support.rewriting import has_uses, list_ops


class BatchIterations(Pass):
    """Do all iterations of an ``scf.for`` at once where none waits for another: what they compute has an axis for them.

    What an iteration leaves may be a slice of a buffer at a place of its own, any number of updates of a scatter, which
    keeps their order, or what it adds to a running sum, product or extreme, which becomes a reduction.

    Needs:  linalg on buffers without mappings (``ipu-drop-placement``), copies forwarded (``ipu-forward-copies``).
    Leaves: ``scf.for`` only where an iteration reads what another has left, runs loops or branches, has effects,
            or computes thousands of numbers, so that it costs little to begin.
    """

    name = "ipu-batch-iterations"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for function in list_ops(module, "func.func"):
                for loop in list_ops(function, "scf.for"):
                    iterations = independent_iterations(loop)
                    if iterations is not None and _are_apart(iterations, MemoryWrites(function)):
                        with ir.InsertionPoint(loop), loop.location:
                            _write(iterations)


def _are_apart(iterations: Iterations, writes: MemoryWrites) -> bool:
    """True if the buffers that a loop updates are neither each other nor read in it."""
    changed = [update.initial for update in iterations.updates]
    both = [(one, other) for number, one in enumerate(changed) for other in changed[:number]]
    both += [(one, other) for one in changed for other in outside_buffers(iterations)]
    return not any(writes.is_one(one, other) for one, other in both)


class _Varying(set[ir.Value]):
    """The values that differ between iterations, as ``Batch`` asks for them; no remote buffer is among them."""

    buffers: frozenset[str] = frozenset()

    def forget(self, value: ir.Value) -> None:
        self.discard(value)


def _write(iterations: Iterations) -> None:
    """Put the ops for all iterations before the loop, and erase that."""
    loop, count = iterations.loop, len(iterations.numbers)
    counter = loop.regions[0].blocks[0].arguments[0]
    numbers = allocated([count], ir.IndexType.get())
    computed([], numbers, [0], lambda _: [_number(iterations.numbers)])
    batch = Batch(_Varying(iterations.varying), count, {})
    batch.replace_uses(counter, numbers)
    own = [generalize(op) if is_structured(op) else op for op in iterations.own]
    for op in own:
        op.move_before(loop)
    allocations = [op for op in own if op.name == "memref.alloc"]
    batch.ops(own)
    results = [_updated(update, batch.batched, count) for update in iterations.updates]
    for result, value in zip(loop.results, results, strict=False):
        result.replace_all_uses_with(value)
    loop.erase()
    for op in allocations:
        if not has_uses(op):
            op.erase()


def _number(numbers: range) -> ir.Value:
    """The counter in the iteration that ``linalg.index`` says, inside a body."""
    arith = upstream("arith")
    scaled = arith.MulIOp(loop_index(0), constant_index(numbers.step)).result if numbers.step > 1 else loop_index(0)
    return arith.AddIOp(scaled, constant_index(numbers.start)).result if numbers.start else scaled


def _updated(update: Update, batched: set[ir.Value], count: int) -> ir.Value:
    """The buffer with what all iterations leave in it."""
    op, dest = update.op, update.initial
    assert op is not None, "the loop was decided on"
    if not update.is_in_place:
        dest = allocated(list(dest.type.shape), dest.type.element_type)
        copied(update.initial, dest)
    if update.places is not None:
        _put(op.operands[len(op.operands) - 2], dest, update.places, batched, count)
    elif "library_call" in op.attributes:
        scatter_in_order(op, dest, batched)
    elif update.combination is not None:
        _combine(op, update.combination, dest, batched, count)
    return dest


def _put(small: ir.Value, big: ir.Value, places: tuple[Progression, ...], batched: set[ir.Value], count: int) -> None:
    """Copy the slice of each iteration to its place, the lowest address first."""
    rank, is_batched = len(places), small in batched
    shape = list(small.type.shape)[is_batched:] if isinstance(small.type, ir.MemRefType) else []
    sizes = shape if len(shape) == rank else [1] * rank
    strides, offset = strides_and_offset(big.type)
    step = sum(place.step * stride for place, stride in zip(places, strides, strict=True))
    offset += sum(place.first * stride for place, stride in zip(places, strides, strict=True))
    dims = [ir.AffineExpr.get_dim(d) for d in range(rank + 1)]
    iteration = dims[0]
    if step < 0:
        offset, step, iteration = offset + step * (count - 1), -step, count - 1 - dims[0]
    own = dims[1:] if len(shape) == rank else [ir.AffineExpr.get_constant(0)] * len(shape)
    maps = [
        ir.AffineMap.get(rank + 1, 0, [*([iteration] if is_batched else []), *own]),
        ir.AffineMap.get_identity(rank + 1),
    ]
    target = view(big, [count, *sizes], [step, *strides], offset)
    generic([small], [target], maps, [True] * (rank + 1), lambda elements: [elements[0]])


def _combine(op: ir.Operation, how: Combination, dest: ir.Value, batched: set[ir.Value], count: int) -> None:
    """Combine ``dest`` with what ``op`` combines the old value with, of all iterations."""
    maps, out, block = indexing_maps(op), len(op.operands) - 1, op.regions[0].blocks[0]
    assert maps is not None, "the loop was decided on"
    inputs = [number for number in range(out) if number != how.operand]
    used = [op.operands[number] for number in inputs]
    new = bodiless_generic(used, [dest], [*(maps[number] for number in inputs), maps[out]], how.parallel)
    if how.operand != out:
        block.arguments[how.operand].replace_all_uses_with(block.arguments[out])
        block.erase_argument(how.operand)
    block.append_to(new.regions[0])
    batch_structured(new, batched, count, parallel=False)
    new.erase()
