"""An op on what slices show of its operands, and the loops around it."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from ipu_mlir.dialects.analysis.loop_nest import indexing_maps
from ipu_mlir.dialects.analysis.matchers import is_used
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.normalize.indices.maps import Expressions, ResultMaps
from ipu_mlir.passes.normalize.indices.result_places import Loops, Place, Slice, place_of
from ipu_mlir.passes.support.affine_expressions import applied, as_it_is, loops_in, without
from ipu_mlir.passes.support.clone import Known, clone_into
from ipu_mlir.passes.support.linalg_builders import constant_index, generic, loop_index, with_extents
from ipu_mlir.passes.support.rewriting import replace_op

_OWN_ATTRIBUTES = ("indexing_maps", "iterator_types", "operandSegmentSizes")


def rebuild(op: ir.Operation, maps: ResultMaps, peeled: Sequence[int]) -> None:
    """Replace ``op`` by loops over ``peeled`` around an op whose results are dimension by dimension loops."""
    first = len(op.operands) - len(op.results)
    places = [place_of(maps, result, frozenset(peeled)) for result in range(len(op.results))]
    with ir.InsertionPoint(op), op.location:
        run = partial(_one, op, maps, places)
        made = _around(list(peeled), maps, [None] * len(maps.extents), list(op.operands)[first:], run)
    replace_op(op, made)


def _around(peeled: list[int], maps: ResultMaps, loops: list[Any], tensors: list[ir.Value], run: Any) -> list[ir.Value]:
    """``run`` inside loops over ``peeled``, which carry ``tensors``."""
    if not peeled:
        return run(loops, tensors)
    scf = upstream("scf")
    outermost, *others = peeled
    bounds = [constant_index(number) for number in (0, maps.extents[outermost], 1)]
    loop = scf.ForOp(*bounds, tensors)
    with ir.InsertionPoint(loop.body):
        here = [*loops[:outermost], loop.induction_variable, *loops[outermost + 1 :]]
        scf.YieldOp(_around(others, maps, here, list(loop.inner_iter_args), run))
    return list(loop.results)


def _one(
    op: ir.Operation, maps: ResultMaps, places: Sequence[Place], loops: Loops, tensors: Sequence[ir.Value]
) -> list[ir.Value]:
    """The results of ``op`` on ``tensors`` while those ``loops`` that have a value are fixed."""
    indexing = indexing_maps(op)
    assert indexing is not None, "asked before"
    block = op.regions[0].blocks[0]
    arguments = list(block.arguments)
    first = len(arguments) - len(tensors)
    inside = [loop for loop, value in enumerate(loops) if value is None]
    parallel = [all(loop in _plain_loops(place.expressions) for place in places) for loop in inside]
    inputs: list[ir.Value] = []
    expressions: list[Expressions] = []
    loaded: list[int] = []
    for number, (value, affine_map) in enumerate(zip(list(op.operands)[:first], indexing, strict=False)):
        shown = _shown(value, tuple(affine_map.results), maps, loops)
        if shown is None:
            loaded.append(number)
        else:
            inputs.append(shown[0])
            expressions.append(shown[1])
    begun = [
        place.begin(tensor, is_used(argument), loops)
        for place, tensor, argument in zip(places, tensors, arguments[first:], strict=True)
    ]
    renumbered = [
        ir.AffineExpr.get_constant(0) if loop not in inside else ir.AffineExpr.get_dim(inside.index(loop))
        for loop in range(len(loops))
    ]
    numbers = ir.AffineMap.get(len(inside), 0, renumbered)
    input_maps, output_maps = (
        [ir.AffineMap.get(len(inside), 0, [expression.compose(numbers) for expression in each]) for each in group]
        for group in (expressions, [place.expressions for place in places])
    )
    extents = [maps.extents[loop] for loop in inside]
    inputs, input_maps = with_extents(inputs, input_maps, output_maps, extents)

    def body(scalars: list[ir.Value]) -> list[ir.Value]:
        read = [argument for number, argument in enumerate(arguments[:first]) if number not in loaded]
        known: Known = dict(zip(read, scalars, strict=False))
        known.update(zip(arguments[first:], scalars[len(inputs) :], strict=True))
        here = [value or loop_index(inside.index(loop)) for loop, value in enumerate(loops)]
        for number in loaded:
            index = [applied(expression, here) for expression in indexing[number].results]
            known[arguments[number]] = upstream("tensor").ExtractOp(op.operands[number], index).result
        *before, terminator = (each.operation for each in block.operations)
        for each in before:
            if each.name == "linalg.index":
                known[each.results[0]] = here[ir.IntegerAttr(each.attributes["dim"]).value]
            else:
                clone_into(each, known)
        return [known.get(value, value) for value in terminator.operands]

    attributes = {name: op.attributes[name] for name in op.attributes if name not in _OWN_ATTRIBUTES}
    new = generic(inputs, begun, [*input_maps, *output_maps], parallel, body, attributes)
    pairs = zip(places, new.results, tensors, strict=True)
    return [place.end(made, tensor, loops) for place, made, tensor in pairs]


def _shown(
    value: ir.Value, expressions: Expressions, maps: ResultMaps, loops: Loops
) -> tuple[ir.Value, Expressions] | None:
    """The slice of ``value`` that is read while some loops are fixed, and its indices; None if it is no slice."""
    fixed = frozenset(loop for loop, value in enumerate(loops) if value is not None)
    terms = [found for expression in expressions if (found := without(expression, fixed)) is not None]
    if len(terms) < len(expressions):
        return None
    if not any(loops_in(expression) & fixed for expression in expressions):
        return value, expressions
    offsets, sizes, dropped, inner = [], [], [], []
    for expression, size, (factors, offset) in zip(expressions, value.type.shape, terms, strict=True):
        if factors and not loops_in(offset) & fixed:
            offset, reach, first = ir.AffineExpr.get_constant(0), size - 1, 0
            inner.append(expression)
        elif factors:
            steps = [(factor, factor * (maps.extents[loop] - 1)) for loop, factor in factors.items()]
            first, last = sum(min(0, step) for _, step in steps), sum(max(0, step) for _, step in steps)
            reach = last - first
            terms_inside = [ir.AffineExpr.get_dim(loop) * factor for loop, factor in factors.items()]
            inner.append(as_it_is(sum(terms_inside[1:], terms_inside[0]) - first))
        else:
            reach, first = 0, 0
            dropped.append(True)
            offsets.append(offset)
            sizes.append(1)
            continue
        dropped.append(False)
        offsets.append(as_it_is(offset + first))
        sizes.append(reach + 1)
    taken = Slice(tuple(offsets), tuple(sizes), (1,) * len(sizes), tuple(dropped))
    return taken.taken(value, loops), tuple(inner)


def _plain_loops(expressions: Expressions) -> list[int]:
    return [each.position for each in expressions if isinstance(each, ir.AffineDimExpr)]
