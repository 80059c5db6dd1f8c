"""Values of the iterations of a forward loop, stored for its backward loop: stashes.

The backward loop computes again what it needs of an iteration. It cannot do so with what the iteration takes from the
one before, nor with what an op gives that has an effect; and it does not with sums, products and the like, which cost
more than their results take up. Those are stored, one element of a tensor for each iteration.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from ipu_mlir.dialects.analysis.control_flow import control_op
from ipu_mlir.dialects.analysis.effects import effects_of
from ipu_mlir.dialects.analysis.loop_nest import loop_nest
from ipu_mlir.dialects.analysis.matchers import module_around, symbol_of, terminator
from ipu_mlir.dialects.analysis.outlined_calls import callee_of
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.autodiff.backward import NotDifferentiable
from ipu_mlir.passes.support.clone import Known, clone_into

arith, scf, tensor = upstream("arith"), upstream("scf"), upstream("tensor")

_PURE = ("arith.", "math.", "tensor.", "linalg.", "complex.")


def is_pure(op: ir.Operation) -> bool:
    """True if ``op`` has no effect besides its results, and gives the same each time for the same operands."""
    if control_op(op) is not None:
        return all(is_pure(inner) for inner in _inside(op))
    if op.name.startswith(_PURE):
        return True
    if op.name == "func.call":
        return all(is_pure(inner) for function in _callee(op) for inner in _inside(function))
    effects = effects_of(op) if op.name.startswith("ipu.") else None
    return effects is not None and effects.is_free_to_move and not any(effects.touches(op))


def _inside(op: ir.Operation) -> Iterator[ir.Operation]:
    """The ops of the blocks of ``op``, but for their terminators."""
    for region in op.regions:
        for block in region.blocks:
            yield from (inner.operation for inner in list(block.operations)[:-1])


def _callee(call: ir.Operation) -> list[ir.Operation]:
    functions = module_around(call).regions[0].blocks[0].operations
    return [op.operation for op in functions if op.operation.name == "func.func" and symbol_of(op) == callee_of(call)]


def erase_unused(block: ir.Block) -> list[ir.Operation]:
    """Erase the copies of forward code in ``block`` that nothing uses, those that have effects as well.

    Returns the ops with effects whose results are used.
    """
    left = []
    for each in list(block.operations)[-2::-1]:
        op = each.operation
        if not any(list(result.uses) for result in op.results):
            op.erase()
        elif not is_pure(op):
            left.append(op)
    return left


@dataclass(frozen=True)
class _Stored:
    """A value of the forward loop's body, and the value in the backward loop that stands for it."""

    value: ir.Value
    stand_in: ir.Value


def store_for(forward: ir.Operation, backward: ir.Operation, last: ir.Value, count: int | None, known: Known) -> Known:
    """Let ``forward`` store what ``backward`` needs of its iterations.

    Gives the new results for those of ``forward``, which is erased then; nothing if it stays.

    Args:
        last: the number of the last iteration.
        count: iterations; None if that is known only at run time.
        known: for values of the forward loop's body, what they are in the copy of it in the backward loop.

    Raises:
        NotDifferentiable: something has to be stored, and the number of iterations is known only at run time.
    """
    block = backward.regions[0].blocks[0]
    effects = erase_unused(block)
    _, *carried = forward.regions[0].blocks[0].arguments
    stored = [_Stored(value, value) for value in carried if _uses_in(value, backward)]
    of_copy = {copy: value for value, copy in known.items()}
    for op in reversed([each.operation for each in block.operations]):
        if op in effects or _costs_more(op):
            own = [result for result in op.results if list(result.uses) and result in of_copy]
            stored += [_Stored(of_copy[result], result) for result in own if _can_be_stored(result)]
            if op in effects and any(list(result.uses) and not _can_be_stored(result) for result in op.results):
                raise NotDifferentiable(op, "gives a loop what its derivative needs, and that cannot be stored")
    if not stored:
        return {}
    if count is None:
        raise NotDifferentiable(
            forward,
            "runs a number of iterations that is known only at run time, and its derivative needs values of each of "
            "them; let it count between constants",
        )
    results, tensors = _with_stores(forward, [each.value for each in stored], count)
    with ir.InsertionPoint.at_block_begin(block), backward.location:
        iteration = arith.subi(last, block.arguments[0])
        read = [_read(whole, iteration, each.value.type) for each, whole in zip(stored, tensors, strict=True)]
    for each, value in zip(stored, read, strict=True):
        for user, operand in _uses_in(each.stand_in, backward):
            user.operands[operand] = value
    erase_unused(block)
    return dict(zip(forward.results, results, strict=True))


def _uses_in(value: ir.Value, op: ir.Operation) -> list[tuple[ir.Operation, int]]:
    """The uses of ``value`` by the ops inside ``op``."""
    found = []
    for use in value.uses:
        user = use.owner.operation
        around = user
        while around is not None and around != op:
            around = around.parent and around.parent.operation
        if around is not None:
            found.append((user, use.operand_number))
    return found


def _can_be_stored(value: ir.Value) -> bool:
    kind = value.type
    return not isinstance(kind, ir.ShapedType) or (isinstance(kind, ir.RankedTensorType) and kind.has_static_shape)


def _costs_more(op: ir.Operation) -> bool:
    """True if computing ``op`` again costs more than reading its results: a reduction or a library call."""
    if op.name != "linalg.generic":
        return False
    nest = loop_nest(op)
    return "library_call" in op.attributes or (nest is not None and not all(nest.parallel))


def _with_stores(forward: ir.Operation, values: list[ir.Value], count: int) -> tuple[list[ir.Value], list[ir.Value]]:
    """The results of a loop that takes the place of ``forward``, and the tensors of ``values`` of all iterations."""
    body = forward.regions[0].blocks[0]
    low, high, step, *first = forward.operands
    with ir.InsertionPoint(forward), forward.location:
        empty = [tensor.EmptyOp([count, *_shape(value.type)], _element(value.type)).result for value in values]
        loop = scf.ForOp(low, high, step, [*first, *empty])
        for name in forward.attributes:
            loop.operation.attributes[name] = forward.attributes[name]
        arguments = list(loop.body.arguments)
        known: Known = dict(zip(body.arguments, arguments, strict=False))
        with ir.InsertionPoint(loop.body):
            for op in list(body.operations)[:-1]:
                clone_into(op.operation, known)
            index = ir.IndexType.get()
            at, start, distance = (
                each if each.type == index else arith.index_cast(index, each) for each in (arguments[0], low, step)
            )
            number = arith.divsi(arith.subi(at, start), distance)
            wholes = arguments[1 + len(first) :]
            written = [_write(known.get(v, v), whole, number) for v, whole in zip(values, wholes, strict=True)]
            scf.YieldOp([*(known.get(v, v) for v in terminator(body).operands), *written])
    results = list(loop.results)
    for old, new in zip(forward.results, results, strict=False):
        old.replace_all_uses_with(new)
    return results[: len(first)], results[len(first) :]


def _shape(kind: ir.Type) -> list[int]:
    return list(kind.shape) if isinstance(kind, ir.RankedTensorType) else []


def _element(kind: ir.Type) -> ir.Type:
    element = kind.element_type if isinstance(kind, ir.RankedTensorType) else kind
    return ir.IntegerType.get_signless(64) if isinstance(element, ir.IndexType) else element


def _write(value: ir.Value, whole: ir.Value, number: ir.Value) -> ir.Value:
    if not isinstance(value.type, ir.RankedTensorType):
        held = arith.index_cast(_element(value.type), value) if isinstance(value.type, ir.IndexType) else value
        return tensor.InsertOp(held, whole, [number]).result
    dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
    shape = list(value.type.shape)
    offsets = [dynamic, *(0 for _ in shape)]
    return tensor.InsertSliceOp(value, whole, [number], [], [], offsets, [1, *shape], [1] * len(offsets)).result


def _read(whole: ir.Value, number: ir.Value, kind: ir.Type) -> ir.Value:
    if not isinstance(kind, ir.RankedTensorType):
        found = tensor.ExtractOp(whole, [number]).result
        return arith.index_cast(kind, found) if isinstance(kind, ir.IndexType) else found
    dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
    shape = list(kind.shape)
    offsets = [dynamic, *(0 for _ in shape)]
    return tensor.ExtractSliceOp(kind, whole, [number], [], [], offsets, [1, *shape], [1] * len(offsets)).result
