"""``ipu-expand-scatters``: scatters of StableHLO as loops that put one element after the other into a tensor."""

from collections.abc import Callable
from math import prod

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.dialects.support.stablehlo import bindings
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.importing.stablehlo.builders import stablehlo_op, transposed
from ipu_mlir.passes.importing.stablehlo.scalar_regions import (
    Values,
    apply_region,
    both,
    compare,
    extract,
    for_each,
    index,
    insert,
    select,
    truth,
)
from ipu_mlir.passes.importing.stablehlo.scatters.known_places import update_of_box
from ipu_mlir.passes.importing.stablehlo.scatters.pooling_gradients import pooling_gradient
from ipu_mlir.passes.support.linalg_builders import generic, identity_map
from ipu_mlir.passes.support.rewriting import list_ops, replace_op
from ipu_mlir.passes.support.tensor_views import DYNAMIC


class ExpandScatters(Pass):
    """Write stablehlo.scatter and select_and_scatter as loops that put elements into a tensor.

    The gradient of a pooling is a call of a function that ``ipu-autodiff`` writes; of all other such loops,
    ``ipu-raise-loops`` makes one scatter. Where the program says itself where updates go, and that is a box of the
    tensor, it is an update of that slice; so is a single window anywhere outside of loops. As in XLA, an update is
    left out if its window is not wholly inside of the tensor.

    Needs:  StableHLO of static shapes.
    Leaves: neither op; in their places calls of declared gradients of poolings, or ``scf.for`` and ``scf.if`` on
            elements, whose regions are still StableHLO.
    """

    name = "ipu-expand-scatters"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for op in list_ops(module, "stablehlo.scatter", "stablehlo.select_and_scatter"):
                with ir.InsertionPoint(op), op.location:
                    if op.name == "stablehlo.scatter":
                        replace_op(op, update_of_box(op) or _scatter(op))
                    else:
                        replace_op(op, pooling_gradient(op) or _select_and_scatter(op))


def _scatter(op: ir.Operation) -> Values:
    count = len(op.results)
    initial, indices, updates = list(op.operands[:count]), op.operands[count], list(op.operands[count + 1 :])
    numbers = bindings().ScatterDimensionNumbers(op.attributes["scatter_dimension_numbers"])
    window = list(numbers.update_window_dims)
    sizes, extents = list(initial[0].type.shape), list(updates[0].type.shape)
    if 0 in extents:
        return initial
    in_updates = [d for d in range(len(extents)) if d not in window]
    order = [*in_updates, *window]
    arith = upstream("arith")
    spanned = [d for d in range(len(sizes)) if d not in (*numbers.inserted_window_dims, *numbers.input_batching_dims)]
    of_window = dict(zip(spanned, window, strict=True))
    starts = list(numbers.scattered_dims_to_operand_dims)
    is_one = count == 1 and all(extents[d] == 1 for d in in_updates) and not numbers.input_batching_dims
    if is_one and prod(extents) > 1 and op.parent.name == "func.func":  # loops become one scatter
        return [_slice_updated(op, starts, of_window, numbers.index_vector_dim)]

    def body(counters: dict[int, ir.Value], carried: Values) -> Values:
        place: list[ir.Value | None] = [None] * len(sizes)
        row = [counters[d] for d in in_updates]
        for dimension, source in zip(numbers.input_batching_dims, numbers.scatter_indices_batching_dims, strict=True):
            place[dimension] = row[source - (source > numbers.index_vector_dim)]
        inside = None
        for number, dimension in enumerate(starts):
            start = _signed_index(extract(indices, _with(row, numbers.index_vector_dim, number, indices)))
            most = sizes[dimension] - (extents[of_window[dimension]] if dimension in of_window else 1)
            inside = both(inside, compare("ult", start, index(most + 1)))
            place[dimension] = start
        for dimension, own in of_window.items():
            here = place[dimension]
            place[dimension] = counters[own] if here is None else arith.AddIOp(here, counters[own]).result
        where = [each for each in place if each is not None]
        if inside is not None and not any(
            extents[d] > 1 for d in order
        ):  # without a loop, nothing makes a scatter of it
            safe = [select(inside, each, index(0)) for each in where]
            return _put(op, carried, safe, [extract(u, _ordered(counters)) for u in updates], inside)
        return _guarded(
            inside, carried, lambda: _put(op, carried, where, [extract(u, _ordered(counters)) for u in updates])
        )

    return for_each(
        [extents[d] for d in order],
        initial,
        lambda counters, carried: body(dict(zip(order, counters, strict=True)), carried),
    )


def _slice_updated(op: ir.Operation, starts: list[int], of_window: dict[int, int], vector_dimension: int) -> ir.Value:
    """What one window of several elements makes of a tensor; nothing, where it is not wholly inside."""
    initial, indices, updates = op.operands
    tensor, element, sizes = upstream("tensor"), initial.type.element_type, list(initial.type.shape)
    box = [updates.type.shape[of_window[d]] if d in of_window else 1 for d in range(len(sizes))]
    row = [index(0)] * (len(indices.type.shape) - (vector_dimension < len(indices.type.shape)))
    places: dict[int, ir.Value] = {}
    inside = None
    for number, dimension in enumerate(starts):
        places[dimension] = _signed_index(extract(indices, _with(row, vector_dimension, number, indices)))
        inside = both(inside, compare("ult", places[dimension], index(sizes[dimension] - box[dimension] + 1)))
    offsets = [DYNAMIC if d in places else 0 for d in range(len(sizes))]
    safe = [places[d] if inside is None else select(inside, places[d], index(0)) for d in sorted(places)]
    kind = ir.RankedTensorType.get(box, element)
    others = [d for d in range(len(updates.type.shape)) if d not in of_window.values()]
    new = stablehlo_op("stablehlo.reshape", kind, [transposed(updates, [*others, *of_window.values()])])
    at = [safe, [], [], offsets, box, [1] * len(box)]
    old = tensor.ExtractSliceOp(kind, initial, *at).result

    def chosen(values: Values) -> Values:
        update, before = values
        (after,) = apply_region(op.regions[0], [before, update])
        return [after if inside is None else select(inside, after, before)]

    maps = [identity_map(len(box))] * 2
    made = generic([new], [old], maps, [True] * len(box), chosen).results[0]
    return tensor.InsertSliceOp(made, initial, *at).result


def _ordered(counters: dict[int, ir.Value]) -> Values:
    return [counters[d] for d in sorted(counters)]


def _with(row: Values, at: int, number: int, indices: ir.Value) -> Values:
    """The place in ``indices`` of component ``number`` of the index vector for ``row``."""
    if at == len(indices.type.shape):
        return row
    return [*row[:at], index(number), *row[at:]]


def _signed_index(value: ir.Value) -> ir.Value:
    """An integer of any type as index; one that is too large for it is negative, and so inside of nothing."""
    arith, kind = upstream("arith"), value.type
    if kind.is_unsigned:
        signless = ir.IntegerType.get_signless(kind.width)
        value = upstream("builtin").UnrealizedConversionCastOp([signless], [value]).results[0]
        return arith.IndexCastUIOp(ir.IndexType.get(), value).result
    return arith.IndexCastOp(ir.IndexType.get(), value).result


def _guarded(condition: ir.Value | None, carried: Values, then: Callable[[], Values]) -> Values:
    """The result of ``then`` on ``carried`` where the condition holds."""
    scf = upstream("scf")
    if condition is None:
        return then()
    branch = scf.IfOp(condition, [each.type for each in carried], has_else=True)
    with ir.InsertionPoint(branch.then_block):
        scf.YieldOp(then())
    with ir.InsertionPoint(branch.else_block):
        scf.YieldOp(carried)
    return list(branch.results)


def _put(
    op: ir.Operation, carried: Values, where: Values, updates: Values, condition: ir.Value | None = None
) -> Values:
    """``carried`` with what the region of ``op`` makes of elements there and updates, if ``condition`` holds."""
    old = [extract(tensor, where) for tensor in carried]
    new = apply_region(op.regions[0], [*old, *updates])
    if condition is not None:
        new = [select(condition, *each) for each in zip(new, old, strict=True)]
    return [insert(value, tensor, where) for value, tensor in zip(new, carried, strict=True)]


def _select_and_scatter(op: ir.Operation) -> Values:
    operand, source, start = op.operands
    sizes, rank = list(operand.type.shape), len(operand.type.shape)
    window = _numbers(op, "window_dimensions", [1] * rank)
    strides = _numbers(op, "window_strides", [1] * rank)
    padding = [0] * rank
    if "padding" in op.attributes:
        padding = [int(low) for low in list(ir.DenseIntElementsAttr(op.attributes["padding"]))[::2]]
    select_region, scatter_region = op.regions
    arith = upstream("arith")
    initial = upstream("tensor").SplatOp(operand.type, extract(start), []).result

    def shifted(counter: ir.Value, stride: int, low: int) -> ir.Value:
        value = counter if stride == 1 else arith.MulIOp(counter, index(stride)).result
        return value if low == 0 else arith.SubIOp(value, index(low)).result

    extents = list(source.type.shape)
    wide = [d for d in range(rank) if window[d] != 1]
    may_miss = [
        d for d in range(rank) if padding[d] or (extents[d] - 1) * strides[d] - padding[d] + window[d] > sizes[d]
    ]

    def body(counters: Values, carried: Values) -> Values:
        corner = [shifted(*each) for each in zip(counters, strides, padding, strict=True)]

        def look(steps: Values, found: Values) -> Values:
            """The first of the best elements: where it lies, its value, and whether there is one yet."""
            here = list(corner)
            for dimension, step in zip(wide, steps, strict=True):
                here[dimension] = arith.AddIOp(corner[dimension], step).result

            def better() -> Values:
                candidate = extract(operand, here)
                (stays,) = apply_region(select_region, [found[rank], candidate])
                is_there = found[rank + 1 :]
                stays = both(is_there[0], stays) if is_there else stays
                chosen = [select(stays, *each) for each in zip(found[: rank + 1], [*here, candidate], strict=True)]
                return [*chosen, *(truth(True) for _ in is_there)]

            inside = None
            for dimension in may_miss:
                inside = both(inside, compare("ult", here[dimension], index(sizes[dimension])))
            return _guarded(inside, found, better)

        none = [*[index(0)] * rank, extract(start), truth(False)]
        begin = none if may_miss else [*corner, extract(operand, corner)]
        *where, _ = for_each([window[d] for d in wide], begin, look)[: rank + 1]
        value = apply_region(scatter_region, [extract(carried[0], where), extract(source, counters)])
        return [insert(value[0], carried[0], where)]

    return for_each(extents, [initial], body)


def _numbers(op: ir.Operation, name: str, default: list[int]) -> list[int]:
    return list(ir.DenseI64ArrayAttr(op.attributes[name])) if name in op.attributes else default
