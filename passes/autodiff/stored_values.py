"""Values of the iterations of a forward loop, stored for its backward loop: stashes.

The backward loop computes again what it needs of an iteration. It cannot do so with what the iteration takes from the
one before, nor with what an op gives that has an effect; and it does not with sums, products and the like, which cost
more than their results take up, unless the loop says ``ipu.recompute = "inputs"``. Those are stored, one element of a
tensor for each iteration.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ipu_mlir.dialects.analysis.control_flow import control_op
from ipu_mlir.dialects.analysis.effects import effects_of
from ipu_mlir.dialects.analysis.loop_nest import loop_nest
from ipu_mlir.dialects.analysis.matchers import defining_op, module_around, symbol_of, terminator
from ipu_mlir.dialects.analysis.outlined_calls import callee_of
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.autodiff.backward import NotDifferentiable
from ipu_mlir.passes.autodiff.extremes import EXTREMES
from ipu_mlir.passes.support.clone import Known, clone_into

arith, tensor = upstream("arith"), upstream("tensor")

RECOMPUTE = "ipu.recompute"
"""Of a loop: ``"inputs"`` where its gradient computes all of an iteration again, from what that takes from the one
before; ``"elementwise"``, as without it, where it computes element-wise ops again and reads sums and products."""

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


NumberOf = Callable[[list[ir.Value]], ir.Value]
"""From the arguments of the body of a loop to the number of the iteration, from 0 on."""


def store_for(
    forward: ir.Operation,
    backward: ir.Operation,
    last: ir.Value,
    count: int | None,
    known: Known,
    number_of: NumberOf,
) -> Known:
    """Let ``forward`` store what ``backward`` needs of its iterations.

    Gives the new results for those of ``forward``, which is erased then; nothing if it stays.

    Args:
        last: the number of the last iteration.
        count: iterations at most; None if that is known only at run time.
        known: for values of the forward loop's body, what they are in the copy of it in the backward loop.

    Raises:
        NotDifferentiable: something has to be stored, and the number of iterations is known only at run time; or the
            loop names no way to compute again.
    """
    block = backward.regions[0].blocks[0]
    effects = erase_unused(block)
    body = body_of(forward)
    carried = list(body.arguments)[len(body.arguments) - len(forward.results) :]
    stored = [_Stored(value, value) for value in carried if _uses_in(value, backward)]
    again = _computes_again(forward)
    of_copy = {copy: value for value, copy in known.items()}
    for op in reversed([each.operation for each in block.operations]):
        if op in effects or (not again and _costs_more(op)):
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
            "them; let it count between constants, or to the lesser of its end and a constant",
        )
    results, tensors = with_stores(forward, [each.value for each in stored], count, number_of)
    with ir.InsertionPoint.at_block_begin(block), backward.location:
        iteration = arith.subi(last, block.arguments[0])
        read = [_read(whole, iteration, each.value.type) for each, whole in zip(stored, tensors, strict=True)]
    for each, value in zip(stored, read, strict=True):
        for user, operand in _uses_in(each.stand_in, backward):
            user.operands[operand] = value
    erase_unused(block)
    return dict(zip(forward.results, results, strict=True))


def _computes_again(forward: ir.Operation) -> bool:
    """True for a loop whose gradient computes sums and products again as well."""
    said = str(forward.attributes[RECOMPUTE]) if RECOMPUTE in forward.attributes else '"elementwise"'
    if said not in ('"elementwise"', '"inputs"'):
        raise NotDifferentiable(forward, f'has {RECOMPUTE} = {said}; it is "elementwise" or "inputs"')
    return said == '"inputs"'


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
    """True if computing ``op`` again costs more than reading its results: a reduction or a library call.

    Extremes are found again. Which elements equal them decides where their cotangents go, and elements that are
    computed again may differ from those before in the last bit.
    """
    if op.name != "linalg.generic":
        return False
    nest = loop_nest(op)
    if any(defining_op(value, *EXTREMES) for value in terminator(op.regions[0].blocks[0]).operands):
        return False
    return "library_call" in op.attributes or (nest is not None and not all(nest.parallel))


def body_of(loop: ir.Operation) -> ir.Block:
    """The block that an iteration of ``scf.for`` or ``scf.while`` runs."""
    return loop.regions[len(loop.regions) - 1].blocks[0]


def with_stores(
    forward: ir.Operation, values: list[ir.Value], count: int, number_of: NumberOf
) -> tuple[list[ir.Value], list[ir.Value]]:
    """The results of a loop that takes the place of ``forward``, and the tensors of ``values`` of all iterations."""
    with ir.InsertionPoint(forward), forward.location:
        empty = [tensor.EmptyOp([count, *_shape(value.type)], _element(value.type)).result for value in values]
        loop = ir.Operation.create(
            forward.name,
            results=[value.type for value in (*forward.results, *empty)],
            operands=[*forward.operands, *empty],
            attributes={name: forward.attributes[name] for name in forward.attributes},
            regions=len(forward.regions),
        )
        for region, new in zip(forward.regions, loop.regions, strict=True):
            old = region.blocks[0]
            block = ir.Block.create_at_start(new, [value.type for value in (*old.arguments, *empty)])
            arguments = list(block.arguments)
            wholes = arguments[len(old.arguments) :]
            known: Known = dict(zip(old.arguments, arguments, strict=False))
            *ops, end = [each.operation for each in old.operations]
            with ir.InsertionPoint(block):
                for op in ops:
                    clone_into(op, known)
                if old == body_of(forward):
                    number = number_of(arguments)
                    pairs = zip(values, wholes, strict=True)
                    wholes = [_write(known.get(value, value), whole, number) for value, whole in pairs]
                ir.Operation.create(end.name, operands=[*(known.get(v, v) for v in end.operands), *wholes])
    results = list(loop.results)
    for old, new in zip(forward.results, results, strict=False):
        old.replace_all_uses_with(new)
    return results[: len(forward.results)], results[len(forward.results) :]


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
