"""Running values of a nest of loops as a scan of all updates."""

from collections.abc import Callable

from ipu_mlir.dialects.analysis.matchers import defining_op, is_made_inside, terminator
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.dialects.support.element_types import is_narrow_float
from ipu_mlir.passes.raising.loops.counted_whiles import counted_while, loops_of_while
from ipu_mlir.passes.raising.loops.filling_nests import FillingNest, body_of
from ipu_mlir.passes.raising.loops.nests import are_same
from ipu_mlir.passes.raising.loops.running_values import Running, running
from ipu_mlir.passes.raising.loops.vectorize import Column, Vectorizer
from ipu_mlir.passes.raising.scans.blocked_scans import scan_along
from ipu_mlir.passes.raising.scans.prefix_windows import is_exact
from ipu_mlir.passes.support.clone import Known, clone_slice
from ipu_mlir.passes.support.linalg_builders import constant_index, generic, identity_map, rounded, widened
from ipu_mlir.passes.support.rewriting import replace_op


def scan_of_loops(outermost: ir.Operation, longest: Callable[[ir.Type], int]) -> bool:
    """Replace the loops of ``outermost`` by a scan, if that is what they compute.

    Args:
        longest: how many elements of a type one vertex scans at most.
    """
    found = running(outermost)
    if found is None:
        return False
    nest, step = found.nest, found.step
    with ir.InsertionPoint(terminator(body_of(nest.loops[-1]))), outermost.location:
        update = _update(found)
    with ir.InsertionPoint(outermost), outermost.location:
        vectorizer = Vectorizer(outermost, nest.counters, nest.extents, starts=nest.starts)
        values = _whole_tensor(update, nest)
        if values is None:
            values = _in_order(vectorizer.columns([update])[0].tensor, [loop for loop, _ in nest.place])
        if step.begin is None:
            values = _behind(values, outermost.operands[3 + nest.whole], step.along)
        scanned = _scan_along(values, step.combine, step.along, longest)
        for number in nest.inserts:
            if number != nest.whole:
                outermost.results[number].replace_all_uses_with(_last(scanned, step.along))
        if nest.scalar is not None and len(nest.loops) == 1:
            end = constant_index(nest.extents[0] - 1)
            outermost.results[nest.scalar].replace_all_uses_with(upstream("tensor").ExtractOp(scanned, [end]).result)
        if found.exclusive:
            assert step.begin is not None, "what the loop carries begins with something"
            scanned = _shifted(scanned, vectorizer.columns([step.begin, update])[0], found)
        outermost.results[nest.whole].replace_all_uses_with(scanned)
    outermost.erase()
    return True


def _scan_along(values: ir.Value, combine: str, at: int, longest: Callable[[ir.Type], int]) -> ir.Value:
    """The scan of ``values`` along dimension ``at``; floats of 16 and 8 bits in f32, and each result rounded once.

    ``ipu-widen-sums`` has it so for sums.
    """
    element = values.type.element_type
    if is_exact(combine, element) or not is_narrow_float(str(element)):
        return scan_along(values, combine, at, longest(element))
    wide = ir.F32Type.get()
    return rounded(scan_along(widened(values, wide), combine, at, longest(wide)), element)


def scan_of_while(loop: ir.Operation, longest: Callable[[ir.Type], int]) -> bool:
    """Replace an ``scf.while`` that counts by a scan, if every iteration fills in the next running value.

    Such loops come from programs that say themselves what is rounded in each iteration (JAX's ``scan``), and sums of
    1,000 numbers of 16 bits are far from those in f32: they stay loops. Cumulative sums of front ends are ``scf.for``.
    """
    nest = loops_of_while(loop)
    if nest is None:
        return False
    counted = counted_while(loop)
    assert counted is not None, "it has a nest"
    found = running(nest)
    if found is None or not is_exact(found.step.combine, found.step.value.type):
        nest.erase()
        return False
    with ir.InsertionPoint(loop), loop.location:
        element = loop.results[counted.counter].type
        count = ir.DenseElementsAttr.get_splat(element, ir.IntegerAttr.get(element.element_type, counted.end))
        results = list(loop.operands)
        results[counted.counter] = upstream("arith").ConstantOp(element, count).result
        results[counted.filled], results[counted.state] = list(nest.results)[:2]
    replace_op(loop, results)
    return scan_of_loops(nest, longest)


def _update(found: Running) -> ir.Value:
    """The scalar that the value before it is combined with, at the current insertion point in the innermost loop.

    That of the first iteration is the first value itself, for which nothing comes before.
    """
    nest, step = found.nest, found.step
    if step.begin is None or (not step.is_carried and are_same(step.begin, step.update)):
        return _copy(step.update, {}, nest)
    loop = nest.place[step.along][0]
    start = constant_index(nest.starts[loop])
    arith = upstream("arith")
    is_first = arith.CmpIOp(arith.CmpIPredicate.eq, nest.counters[loop], start).result
    branch = upstream("scf").IfOp(is_first, [step.value.type], has_else=True)
    with ir.InsertionPoint(branch.then_block):
        begun = _copy(step.value, {step.previous: step.begin}, nest) if step.is_carried else _copy(step.begin, {}, nest)
        upstream("scf").YieldOp([begun])
    with ir.InsertionPoint(branch.else_block):
        upstream("scf").YieldOp([_copy(step.update, {}, nest)])
    return branch.results[0]


def _copy(value: ir.Value, known: Known, nest: FillingNest) -> ir.Value:
    """``value`` computed once more from what the loops give."""
    return clone_slice(value, known, lambda inside: is_made_inside(inside, nest.loops[0]))


def _whole_tensor(update: ir.Value, nest: FillingNest) -> ir.Value | None:
    """The tensor of which every iteration takes the element at its own place; None for any other ``update``."""
    load = defining_op(update, "tensor.extract")
    if load is None or any(nest.starts):
        return None
    tensor, *at = load.operands
    is_whole = tensor.type == nest.loops[0].results[nest.whole].type and not is_made_inside(tensor, nest.loops[0])
    return tensor if is_whole and at == [nest.counters[loop] for loop, _ in nest.place] else None


def _in_order(values: ir.Value, order: list[int]) -> ir.Value:
    """``values`` with a dimension per loop as a tensor whose dimensions are loops ``order``."""
    if order == sorted(order):
        return values
    rank = len(order)
    shape = [values.type.shape[loop] for loop in order]
    empty = upstream("tensor").EmptyOp(shape, values.type.element_type).result
    given = ir.AffineMap.get(rank, 0, [ir.AffineExpr.get_dim(order.index(loop)) for loop in range(rank)])
    return generic([values], [empty], [given, identity_map(rank)], [True] * rank, lambda x: [x[0]]).results[0]


def _behind(values: ir.Value, initial: ir.Value, along: int) -> ir.Value:
    """``initial`` with ``values`` from the second element along a dimension on."""
    sizes = list(values.type.shape)
    offsets = [int(dimension == along) for dimension in range(len(sizes))]
    return upstream("tensor").insert_slice(values, initial, [], [], [], offsets, sizes, [1] * len(sizes))


def _last(scanned: ir.Value, along: int) -> ir.Value:
    """The last elements along a dimension, without it."""
    sizes = list(scanned.type.shape)
    offsets = [(size - 1) * (dimension == along) for dimension, size in enumerate(sizes)]
    target = ir.RankedTensorType.get(sizes[:along] + sizes[along + 1 :], scanned.type.element_type)
    sizes[along] = 1
    return upstream("tensor").extract_slice(target, scanned, [], [], [], offsets, sizes, [1] * len(sizes))


def _shifted(scanned: ir.Value, begin: Column, found: Running) -> ir.Value:
    """``begin``, and behind it all but the last of ``scanned``."""
    order, along = [loop for loop, _ in found.nest.place], found.step.along
    rank, sizes = len(order), list(scanned.type.shape)
    tensor, element = upstream("tensor"), scanned.type.element_type
    loops = begin.loops - {order[along]}
    zero = ir.AffineExpr.get_constant(0)
    given = [ir.AffineExpr.get_dim(order.index(loop)) if loop in loops else zero for loop in range(rank)]
    room = tensor.EmptyOp([size if dimension != along else 1 for dimension, size in enumerate(sizes)], element).result
    maps = [ir.AffineMap.get(rank, 0, given), identity_map(rank)]
    first = generic([begin.tensor], [room], maps, [True] * rank, lambda x: [x[0]]).results[0]
    ones, zeros = [1] * rank, [0] * rank
    whole = tensor.EmptyOp(sizes, element).result
    whole = tensor.insert_slice(first, whole, [], [], [], zeros, list(first.type.shape), ones)
    if sizes[along] == 1:
        return whole
    sizes[along] -= 1
    target = ir.RankedTensorType.get(sizes, element)
    return _behind(tensor.extract_slice(target, scanned, [], [], [], zeros, sizes, ones), whole, along)
