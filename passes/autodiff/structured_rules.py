"""The rule of ``linalg.generic``: its adjoint with respect to each operand is again structured.

With y[O(i)] += f(x[A(i)], ...) for all points i of the loops, x[A(i)] has the cotangent of y[O(i)] times the derivative
of f, added up over the loops that A does not name: the same loops, with the map of x for the result.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ipu_mlir.dialects.analysis.index import Index
from ipu_mlir.dialects.analysis.loop_nest import indexing_maps
from ipu_mlir.dialects.analysis.matchers import constant_of, defining_op, terminator
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.autodiff import extremes
from ipu_mlir.passes.autodiff.backward import Backward, NotDifferentiable, Rule, elementwise, zeros
from ipu_mlir.passes.autodiff.codelet_rules import add_to_operands_of_call
from ipu_mlir.passes.autodiff.scalar_backward import depends_on, scalar_cotangents
from ipu_mlir.passes.autodiff.scatters import add_at_points
from ipu_mlir.passes.autodiff.sequential import loops_of_reduction
from ipu_mlir.passes.autodiff.structured import Structured
from ipu_mlir.passes.autodiff.window_extremes import gather_from_windows
from ipu_mlir.passes.autodiff.windows import folded, is_window
from ipu_mlir.passes.support.clone import Known
from ipu_mlir.passes.support.linalg_builders import zero

arith, tensor = upstream("arith"), upstream("tensor")


@dataclass(frozen=True)
class Term:
    """What an op adds to a result at each point of its loops.

    Attributes:
        value: of the body, what is added.
        output: the element of the result.
        cotangent: of the result.
        goal: of an extreme, the points that the cotangent goes to; None of a sum.
    """

    value: ir.Value
    output: ir.AffineMap
    cotangent: ir.Value
    goal: extremes.Goal | None = None


def _generic(op: ir.Operation, back: Backward) -> None:
    if "library_call" in op.attributes:
        add_to_operands_of_call(op, back)
        return
    if (argument := _of_logistic(op)) is not None:
        slope_and_value = [back.of_or_zeros(op.results[0]), op.results[0]]
        back.add(argument, elementwise(slope_and_value, op.results[0].type, _slope_of_logistic))
        return
    nest = Structured(op)
    wanted = [number for number, result in enumerate(op.results) if back.of(result) is not None]
    if not any(_is_sequential(nest, number, back) for number in wanted):
        _add_to_operands(nest, [term for number in wanted for term in _terms(nest, number, back)], back)
        return
    results, made = loops_of_reduction(nest)
    back.enter(made)
    for result, new in zip(op.results, results, strict=True):
        back.active.add(new)
        cotangent = back.of(result)
        if cotangent is not None:
            back.replace(new, cotangent)
    back.run(made)


def _of_logistic(op: ir.Operation) -> ir.Value | None:
    """The tensor ``x`` if ``op`` ends ``1 / (1 + exp(-x))``, in one body or several; else None.

    Its derivative is one of its value: what is between, of which others read nothing, need not be kept.
    """
    quotient = _scalar("arith.divf", terminator(op.regions[0].blocks[0]).operands[0])
    if len(op.results) != 1 or quotient is None or not _is_one(quotient.operands[0]):
        return None
    total = _scalar("arith.addf", quotient.operands[1])
    ones = [] if total is None else [_is_one(each) for each in total.operands]
    if total is None or not any(ones):
        return None
    exponential = _scalar("math.exp", total.operands[1 if ones[0] else 0])
    negative = None if exponential is None else _scalar("arith.negf", exponential.operands[0])
    return None if negative is None else _elementwise_operand(negative.operands[0])


def _scalar(name: str, value: ir.Value) -> ir.Operation | None:
    """The op ``name`` that makes an element, in the body that ``value`` is of or in the one before."""
    made = defining_op(value)
    tensor_of = None if made is not None else _elementwise_operand(value)
    outer = None if tensor_of is None else defining_op(tensor_of, "linalg.generic")
    if outer is not None and len(outer.results) == 1 and _is_elementwise(outer):
        made = defining_op(terminator(outer.regions[0].blocks[0]).operands[0])
    return made if made is not None and made.name == name else None


def _is_one(value: ir.Value) -> bool:
    held = _elementwise_operand(value)
    constant = constant_of(value if held is None else held)
    if isinstance(constant, ir.DenseElementsAttr) and constant.is_splat:
        constant = constant.get_splat_value()
    return isinstance(constant, ir.FloatAttr) and constant.value == 1


def _elementwise_operand(value: ir.Value) -> ir.Value | None:
    """The tensor whose element at each point ``value`` is, an argument of the body of an element-wise op."""
    if not isinstance(value.owner, ir.Block):
        return None
    argument, op = ir.BlockArgument(value), value.owner.owner
    return op.operands[argument.arg_number] if op.name == "linalg.generic" and _is_elementwise(op) else None


def _is_elementwise(op: ir.Operation) -> bool:
    """True of an op that computes each element from those at the same place."""
    maps = indexing_maps(op)
    return maps is not None and all(each == ir.AffineMap.get_identity(each.n_dims) for each in maps)


def _slope_of_logistic(slope_and_value: list[ir.Value]) -> ir.Value:
    slope, value = slope_and_value
    one = arith.constant(value.type, ir.FloatAttr.get(value.type, 1))
    return arith.mulf(slope, arith.mulf(value, arith.subf(one, value)))


def _is_sequential(nest: Structured, number: int, back: Backward) -> bool:
    """True if a result is no sum, no extreme, and computed from what it was before."""
    running, value = nest.running[number], nest.yielded[number]
    if all(nest.nest.parallel) or value == running or not depends_on(value, nest.running, nest.block):
        return False
    added = _combined(nest, number)
    if added is None or depends_on(added, nest.running, nest.block):
        return True
    step = defining_op(value)
    assert step is not None, "what is combined has been found"
    if step.name in extremes.EXTREMES:
        return back.wants(nest.op.operands[nest.nest.num_inputs + number])
    return step.name != "arith.addf" and not (step.name == "arith.subf" and step.operands[0] == running)


def _combined(nest: Structured, number: int) -> ir.Value | None:
    """The value that one op combines with what a result was before; None if there is no such op."""
    step = defining_op(nest.yielded[number])
    others = [] if step is None else [each for each in step.operands if each != nest.running[number]]
    return others[0] if step is not None and len(others) == 1 and len(step.operands) == 2 else None


def _terms(nest: Structured, number: int, back: Backward) -> list[Term]:
    operand, result = nest.op.operands[nest.nest.num_inputs + number], nest.op.results[number]
    value, output, cotangent = nest.yielded[number], nest.maps[nest.nest.num_inputs + number], back.of(result)
    assert cotangent is not None
    if value == nest.running[number]:
        back.add(operand, cotangent)
        return []
    if all(nest.nest.parallel):  # what the result was before is one more operand
        return [Term(value, output, cotangent)]
    added = _combined(nest, number)
    if added is None or not depends_on(value, nest.running, nest.block):
        if any(extent > 1 for extent, kept in zip(nest.nest.extents, nest.nest.parallel, strict=True) if not kept):
            raise NotDifferentiable(nest.op, "keeps the last one of several values for a result")
        return [Term(value, output, cotangent)]
    step = defining_op(value)
    assert step is not None
    if step.name in extremes.EXTREMES:
        windows = any(is_window(index) for indices in nest.nest.indices[: nest.nest.num_inputs] for index in indices)
        goal = (extremes.first if windows else extremes.shared)(nest, added, output, result, cotangent)
        return [Term(added, output, goal.cotangent, goal)]
    back.add(operand, cotangent)
    if step.name == "arith.subf":
        cotangent = elementwise([cotangent], cotangent.type, lambda values: arith.negf(values[0]))
    return [Term(added, output, cotangent)]


def _add_to_operands(nest: Structured, terms: Sequence[Term], back: Backward) -> None:
    def is_reached(value: ir.Value) -> bool:
        return any(depends_on(term.value, [value], nest.block) for term in terms)

    for number in nest.reads:
        operand = nest.op.operands[number]
        if back.wants(operand) and is_reached(nest.arguments[number]):
            back.add(operand, _cotangent_of(nest, number, terms))
    for load in [each.operation for each in nest.block.operations if each.operation.name == "tensor.extract"]:
        if back.wants(load.operands[0]) and is_reached(load.results[0]):
            every = ir.AffineMap.get_identity(len(nest.nest.extents))
            each = _summed(nest, load.results[0], every, list(nest.nest.extents), terms)
            start = back.of_or_zeros(load.operands[0])
            back.replace(load.operands[0], add_at_points(nest, list(load.operands)[1:], each, start))


def _cotangent_of(nest: Structured, number: int, terms: Sequence[Term]) -> ir.Value:
    """The cotangent of an operand, as far as it comes from ``terms``."""
    operand, indices, own = nest.op.operands[number], nest.nest.indices[number], nest.maps[number]
    argument, loops = nest.arguments[number], len(nest.nest.extents)
    if not isinstance(operand.type, ir.RankedTensorType):
        return tensor.ExtractOp(_summed(nest, argument, ir.AffineMap.get(loops, 0, []), [], terms), []).result
    shape = list(operand.type.shape)
    kept = [axis for axis, index in enumerate(indices) if index.plain_loop is not None]
    named = {indices[axis].plain_loop for axis in kept}
    if len(named) == len(kept) and all(
        axis in kept or (shape[axis] == 1 and index.linear and not any(index.coefficients))
        for axis, index in enumerate(indices)
    ):
        output = ir.AffineMap.get(loops, 0, [own.results[axis] for axis in kept])
        found = _summed(nest, argument, output, [shape[axis] for axis in kept], terms)
        return _with_unit_dimensions(found, shape, kept)
    if not all(index.linear for index in indices):
        raise NotDifferentiable(nest.op, f"reads operand {number} at an index that is no sum of loops")
    if len(terms) == 1 and terms[0].goal is not None and terms[0].value == argument:
        gathered = gather_from_windows(nest, indices, shape, terms[0].output, terms[0].goal)
        if gathered is not None:
            return gathered
    over = sorted({loop for index in indices for loop, factor in enumerate(index.coefficients) if factor})
    output = ir.AffineMap.get(loops, 0, [ir.AffineExpr.get_dim(loop) for loop in over])
    each = _summed(nest, argument, output, [nest.nest.extents[loop] for loop in over], terms)
    narrow = [Index(tuple(index.coefficients[loop] for loop in over), index.constant) for index in indices]
    return folded(each, narrow, shape)


def _summed(
    nest: Structured, value: ir.Value, output: ir.AffineMap, shape: Sequence[int], terms: Sequence[Term]
) -> ir.Value:
    """The cotangents of ``value`` of the body at all points, added up by ``output``, as a tensor of ``shape``."""
    further = [
        each
        for term in terms
        for each in ((term.cotangent, term.output), *(() if term.goal is None else term.goal.marks))
    ]

    def body(known: Known, elements: list[ir.Value], so_far: ir.Value) -> ir.Value:
        given, seeds = iter(elements), dict[ir.Value, ir.Value]()
        for term in terms:
            cotangent = next(given)
            if term.goal is not None:
                marks = [next(given) for _ in term.goal.marks]
                cotangent = extremes.at_goal(term.goal, known.get(term.value, term.value), cotangent, marks)
            old = seeds.get(term.value)
            seeds[term.value] = cotangent if old is None else arith.addf(old, cotangent)
        found = scalar_cotangents(nest.block, known, seeds).get(value)
        found = zero(value.type) if found is None else found
        return found if is_whole else arith.addf(so_far, found)

    kind = ir.RankedTensorType.get(list(shape), value.type)
    is_whole = len(set(output.results)) == output.n_dims
    start = tensor.EmptyOp(list(shape), value.type).result if is_whole else zeros(kind)
    return nest.over_same_loops([term.value for term in terms], further, start, output, body)


def _with_unit_dimensions(value: ir.Value, shape: Sequence[int], kept: Sequence[int]) -> ir.Value:
    """``value`` in ``shape``, which has dimensions of one element besides the ``kept`` ones."""
    if len(kept) == len(shape):
        return value
    kind = ir.RankedTensorType.get(list(shape), value.type.element_type)
    groups: list[list[int]] = [[] for _ in kept]
    for axis in range(len(shape) if kept else 0):
        groups[max(0, sum(each <= axis for each in kept) - 1)].append(axis)
    return tensor.ExpandShapeOp(kind, value, groups, [], list(shape)).result


STRUCTURED_RULES: dict[str, Rule] = {"linalg.generic": _generic}
"""By the name of the op; named ops are generic ones before they are differentiated."""
