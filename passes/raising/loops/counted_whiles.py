"""Loops that count, and take a slice of one tensor to make one of another, as loops over elements."""

from dataclasses import dataclass

from ipu_mlir.dialects.analysis.matchers import defining_op, integer_of, predicate_of, terminator
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.raising.loops.filling_nests import body_of
from ipu_mlir.passes.raising.loops.slice_elements import Points
from ipu_mlir.passes.support.clone import Known
from ipu_mlir.passes.support.linalg_builders import constant_index
from ipu_mlir.passes.support.wrapped_scalars import scalar_op, splat_integer


@dataclass(frozen=True)
class CountedWhile:
    """An ``scf.while`` whose condition is that a counter is less than a constant.

    Attributes:
        op: the loop.
        counter: the number of the counter among what it carries, a tensor without dimensions.
        first, end: the counter before the first iteration and after the last.
        state: the number of what is carried from iteration to iteration.
        filled: the number of the tensor that every iteration inserts a slice into.
        kept: those that no iteration changes.
    """

    op: ir.Operation
    counter: int
    first: int
    end: int
    state: int
    filled: int
    kept: tuple[int, ...]


def loops_of_while(loop: ir.Operation) -> ir.Operation | None:
    """A nest of ``scf.for`` before ``loop`` that computes the same: it gives the filled tensor and the last state.

    None, and nothing is left behind, for any other loop than one that carries a counter, one state and one tensor, and
    works element by element on them and on slices at the counter.
    """
    counted = counted_while(loop)
    if counted is None:
        return None
    with ir.InsertionPoint(loop), loop.location:
        return _nest(counted)


def counted_while(loop: ir.Operation) -> CountedWhile | None:
    """The counter of ``loop`` and what it carries, if that is all there is."""
    before, body = (region.blocks[0] for region in loop.regions)
    condition, yielded = terminator(before), list(terminator(body).operands)
    carried = list(body.arguments)
    if list(condition.operands)[1:] != list(before.arguments) or len(carried) != len(loop.operands):
        return None
    limit = scalar_op(condition.operands[0])
    if limit is None or limit[0].name != "arith.cmpi" or limit[1][0] not in before.arguments:
        return None
    counter = list(before.arguments).index(limit[1][0])
    end, first = integer_of(limit[1][1]), splat_integer(loop.operands[counter])
    step = scalar_op(yielded[counter])
    if predicate_of(limit[0]) != "slt" or end is None or first is None or step is None:
        return None
    if step[0].name != "arith.addi" or step[1][0] != carried[counter] or integer_of(step[1][1]) != 1:
        return None
    kept = tuple(number for number, value in enumerate(yielded) if value == carried[number])
    others = [number for number in range(len(carried)) if number != counter and number not in kept]
    filled = [number for number in others if _inserts(yielded[number], carried[number])]
    if len(others) != 2 or len(filled) != 1 or not 0 <= first < end:
        return None
    (state,) = set(others) - set(filled)
    if not isinstance(carried[state].type, ir.RankedTensorType):
        return None
    return CountedWhile(loop, counter, first, end, state, filled[0], kept)


def _inserts(yielded: ir.Value, carried: ir.Value) -> bool:
    op = defining_op(yielded, "tensor.insert_slice")
    return op is not None and op.operands[1] == carried


def _nest(counted: CountedWhile) -> ir.Operation | None:
    """Loops over the elements of the state, and inside them one over the iterations, which carries the element."""
    loop = counted.op
    scf, tensor = upstream("scf"), upstream("tensor")
    state, filled = loop.operands[counted.state], loop.operands[counted.filled]
    shape = list(state.type.shape)
    bounds = [constant_index(number) for number in (0, 1, counted.first, counted.end)]
    carried: list[ir.Value] = [filled, tensor.EmptyOp(shape, state.type.element_type).result]
    loops: list[ir.Operation] = []
    at: list[ir.Value] = []
    places = [ir.InsertionPoint.current]
    for size in shape:
        with places[-1]:
            made = scf.ForOp(bounds[0], constant_index(size), bounds[1], carried)
        loops.append(made.operation)
        at.append(made.induction_variable)
        carried = list(made.inner_iter_args)
        places.append(ir.InsertionPoint(made.body))
    with places[-1]:
        begin = tensor.ExtractOp(state, at).result
        made = scf.ForOp(bounds[2], bounds[3], bounds[1], [*carried, begin])
    loops.append(made.operation)
    arguments = list(loop.regions[1].blocks[0].arguments)
    known: Known = {arguments[number]: loop.operands[number] for number in counted.kept}
    known[arguments[counted.filled]] = made.inner_iter_args[0]
    points = Points(loop, tuple(at), tuple(shape), made.induction_variable, counted.first, counted.end, known)
    points.scalars.update((value, given) for value, given in known.items() if not isinstance(value.type, ir.ShapedType))
    with ir.InsertionPoint(made.body):
        points.scalars[arguments[counted.counter]] = points.counter_as(arguments[counted.counter].type.element_type)
        points.scalars[arguments[counted.state]] = made.inner_iter_args[2]
        *body, terminator = (op.operation for op in loop.regions[1].blocks[0].operations)
        done = all(points.translate(op) for op in body)
        value = points.scalars.get(terminator.operands[counted.state])
        if done and value is not None:
            last = tensor.InsertOp(value, made.inner_iter_args[1], at).result
            scf.YieldOp([points.known[terminator.operands[counted.filled]], last, value])
    if not done or value is None:
        loops[0].erase()
        return None
    for outer, inner in zip(reversed(loops[:-1]), reversed(loops[1:]), strict=True):
        with ir.InsertionPoint(body_of(outer)):
            scf.YieldOp(list(inner.results)[:2])
    return loops[0]
