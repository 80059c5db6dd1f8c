"""``ipu-split-scatters``: many updates of few elements, as of a histogram, by parts."""

from math import isqrt, prod

from ipu_mlir.dialects.analysis.buffers import element_bytes
from ipu_mlir.dialects.analysis.loop_nest import LoopNest, indexing_maps, loop_nest
from ipu_mlir.dialects.analysis.matchers import terminator
from ipu_mlir.dialects.attributes.attributes import module_target
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.combiners import OPS_OF_KIND, neutral
from ipu_mlir.passes.support.linalg_builders import (
    combined,
    constant_index,
    elementwise,
    fill_with,
    generic,
    identity_map,
    loop_index,
    zero,
)
from ipu_mlir.passes.support.rewriting import list_ops, replace_op

_FEWEST_UPDATES = 256  # that a tile looks at sooner than partial results are combined
_FEWEST_PARTS = 4
_LOOKS_PER_ELEMENT = 12  # updates of elsewhere that a tile looks at in the time in which it combines an element
_ROOM = 8  # of a tile's memory, one part in so many that partial results may take
_ROUNDS_ALL = 32  # bits from which a sum is rounded after each addition
_PREFIX = "scatter_"
_FEWEST_PUT = 1024  # updates among which the last one for each element is looked for, before it is put there


class SplitScatters(Pass):
    """Let parts of the updates of a scatter go to partial results, which are then combined.

    Every tile that has elements looks at all updates, since any may be its own; with partial results it looks at a part
    of them. Which of many updates an element keeps is found as the largest of their numbers, and gathered. What is left
    when the parts are equal goes first, and to the result itself. Sums of floats are put together in another order.

    Needs:  calls of the codelets ``scatter_add``, ``scatter_mul``, ``scatter_max``, ``scatter_min``
            (``ipu-raise-loops``), and the target.
    Leaves: none with so many updates that tiles look at them for longer than they combine partial results.
    """

    name = "ipu-split-scatters"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            target = module_target(module)
            for op in list_ops(module, "linalg.generic"):
                call = op.attributes.get("library_call", None)
                if call is not None and call == ir.StringAttr.get(f"{_PREFIX}set"):
                    _find_last(op, target)
            for op in list_ops(module, "linalg.generic"):
                if "library_call" in op.attributes:
                    _split_one(op, target)


def _find_last(op: ir.Operation, target: Target) -> None:
    """Let ``op`` find the number of the last update for each element, and gather the updates, if parts are worth it.

    Where each element takes updates at its own place along a dimension, as the columns of rows, all have one number.
    """
    nest, result, number = loop_nest(op), op.results[0].type, ir.IntegerType.get_signless(32)
    rank = result.rank
    if nest is None or nest.parallel.count(False) != 1 or nest.num_inputs != 2 * rank + 2:
        return
    loop, kept = nest.parallel.index(False), [index.plain_loop for index in nest.outputs[0]]
    updates, places = nest.extents[loop], [index.plain_loop for index in nest.indices[rank + 1]]
    if updates < _FEWEST_PUT or places.count(loop) != 1:
        return
    alike = [each for d, each in enumerate(kept) if _is_own_place(op, nest, d, each)]
    asked = {i for each in nest.indices[: rank + 1] for index in each for i, c in enumerate(index.coefficients) if c}
    sizes = {each: 1 if each in alike else size for each, size in zip(kept, result.shape, strict=True)}
    columns = prod(size for each, size in sizes.items() if each in asked)
    tiles = target.num_compute_tiles
    if parts_of_updates(updates, prod(sizes.values()) // columns, columns, tiles, _room(target, number)) == 1:
        return
    maps = indexing_maps(op)
    assert maps is not None, "an op with a loop nest has indexing maps"
    *inputs, start = op.operands
    tensor, arith = upstream("tensor"), upstream("arith")
    with ir.InsertionPoint(op), op.location:
        for operand, indices in enumerate(nest.indices[: nest.num_inputs]):
            for dimension, index in enumerate(indices):
                if index.plain_loop in alike and operand != rank + 1:
                    inputs[operand] = _slice(inputs[operand], dimension, 0, 1)
        update, at = inputs[rank + 1], places.index(loop)
        counter = _counting([updates if d == at else 1 for d in range(len(places))], at)
        inputs[rank + 1] = elementwise(counter, number, lambda x: arith.IndexCastOp(number, x).result).results[0]
        along = [ir.AffineExpr.get_dim(loop) if d == at else ir.AffineExpr.get_constant(0) for d in range(len(places))]
        maps[rank + 1] = ir.AffineMap.get(len(nest.extents), 0, along)
        none = fill_with(
            arith.ConstantOp(number, -1).result, tensor.EmptyOp(list(sizes.values()), number).result
        ).results[0]
        call = {"library_call": ir.StringAttr.get(f"{_PREFIX}max")}
        last = generic(inputs, [none], maps, nest.parallel, _last, call).results[0]

        def body(arguments: list[ir.Value]) -> list[ir.Value]:
            which, old, _ = arguments
            chosen = arith.IndexCastOp(ir.IndexType.get(), arith.MaxSIOp(which, zero(number)).result).result
            here = {None: constant_index(0), loop: chosen, **{each: loop_index(d) for d, each in enumerate(kept)}}
            new = tensor.ExtractOp(update, [here[each] for each in places]).result
            return [arith.SelectOp(arith.CmpIOp(arith.CmpIPredicate.sge, which, zero(number)).result, new, old).result]

        own = [ir.AffineExpr.get_constant(0) if x in alike else ir.AffineExpr.get_dim(d) for d, x in enumerate(kept)]
        whole = identity_map(rank)
        empty = tensor.EmptyOp(list(result.shape), result.element_type).result
        of_last = ir.AffineMap.get(rank, 0, own)
        replace_op(op, list(generic([last, start], [empty], [of_last, whole, whole], [True] * rank, body).results))


def _is_own_place(op: ir.Operation, nest: LoopNest, dimension: int, loop: int | None) -> bool:
    """True if the index of ``op`` in ``dimension`` counts along ``loop``, which no other index and no guard knows."""
    rank = op.results[0].type.rank
    made = op.operands[dimension].owner
    along = [d for d, index in enumerate(nest.indices[dimension]) if index.plain_loop == loop]
    if loop is None or isinstance(made, ir.Block) or made.name != "linalg.generic" or len(along) != 1:
        return False
    found = terminator(made.regions[0].blocks[0]).operands[0].owner
    counts = not isinstance(found, ir.Block) and found.name == "linalg.index"
    others = [each for number, each in enumerate(nest.indices[: rank + 1]) if number != dimension]
    is_alone = not any(index.coefficients[loop] for each in others for index in each)
    return counts and ir.IntegerAttr(found.operation.attributes["dim"]).value == along[0] and is_alone


def _split_one(op: ir.Operation, target: Target) -> None:
    kind = ir.StringAttr(op.attributes["library_call"]).value.removeprefix(_PREFIX)
    nest = loop_nest(op)
    if kind not in OPS_OF_KIND or nest is None or nest.parallel.count(False) != 1:
        return
    element = op.results[0].type.element_type
    if isinstance(element, ir.FloatType) and element.width < _ROUNDS_ALL:
        return  # the sum of a vertex is rounded once
    combiner = OPS_OF_KIND[kind][not isinstance(element, ir.FloatType)]
    loop, rank = nest.parallel.index(False), len(op.results[0].type.shape)
    if op.attributes["library_call"] != ir.StringAttr.get(_PREFIX + kind) or neutral(combiner, element) is None:
        return
    at = _updates_at(nest, loop, rank)
    tiles = target.num_compute_tiles
    if at is None:
        return
    parts = parts_of_updates(nest.extents[loop], *_sizes(nest, rank), tiles, _room(target, element))
    if parts > 1:
        with ir.InsertionPoint(op), op.location:
            replace_op(op, [_in_parts(op, nest, loop, at, parts, combiner)])


def _room(target: Target, element: ir.Type) -> int:
    """The partial results of type ``element`` that all tiles have room for."""
    return target.num_compute_tiles * (target.bytes_per_tile // _ROOM) // element_bytes(element)


def _updates_at(nest: LoopNest, loop: int, rank: int) -> int | None:
    """The dimension of the updates that ``loop`` goes along; None where other operands have other dimensions."""
    update = nest.indices[rank + 1]
    along = [dimension for dimension, index in enumerate(update) if index.plain_loop == loop]
    is_alike = all(len(each) in (0, len(update)) for each in nest.indices[: rank + 2])
    elsewhere = any(
        index.coefficients[loop]
        for each in nest.indices[: rank + 2]
        for dimension, index in enumerate(each)
        if dimension not in along
    )
    return along[0] if len(along) == 1 and is_alike and not elsewhere else None


def _sizes(nest: LoopNest, rank: int) -> tuple[int, int]:
    """The elements in a column of the result, any of which an update may go to, and the columns, which are told."""
    shared = {index.plain_loop for index in nest.indices[rank + 1]}
    kept = [index.plain_loop for index in nest.outputs[0]]
    sizes = {loop: nest.extents[loop] for loop in kept if loop is not None}
    columns = prod(size for loop, size in sizes.items() if loop in shared)
    return prod(sizes.values()) // max(columns, 1), columns


def parts_of_updates(updates: int, rows: int, columns: int, num_tiles: int, room: int) -> int:
    """Into how many equal parts ``updates`` are cut, each with ``rows`` x ``columns`` partial results; 1 for none.

    A tile looks at the updates of one part, and combines its share of the partial results; of about as many parts as
    make the sum of both least, the number that leaves least to do one after the other.

    Args:
        room: the partial results that all tiles have room for.

    >>> parts_of_updates(100_000, 50, 1, 1472, 1 << 25), parts_of_updates(10_000, 2000, 64, 1472, 1 << 25)
    (1250, 37)
    >>> parts_of_updates(50_000, 300_000, 1, 1472, 1 << 25), parts_of_updates(50_000, 300_000, 1, 1472, 1 << 20)
    (53, 1)
    >>> parts_of_updates(500, 1_000_000, 1, 1472, 1 << 25), parts_of_updates(100_000, 50, 100_000, 1472, 1 << 25)
    (1, 1)
    """
    elements = max(1, rows * columns)
    best = isqrt(_LOOKS_PER_ELEMENT * updates * num_tiles // elements)
    most = min(num_tiles, updates, room // elements, best)
    if updates < _FEWEST_UPDATES or most < _FEWEST_PARTS or columns > num_tiles:
        return 1
    return min(range(most // 2 + 1, most + 1), key=lambda parts: (updates // parts + updates % parts, -parts))


def _in_parts(op: ir.Operation, nest: LoopNest, loop: int, at: int, parts: int, combiner: str) -> ir.Value:
    """The result of ``op``: in a new first loop over ``parts``, which is a new first dimension of partial results."""
    maps, result, loops = indexing_maps(op), op.results[0].type, len(nest.extents)
    assert maps is not None, "an op with a loop nest has indexing maps"
    *inputs, start = op.operands
    rank = len(result.shape)
    given, positions = inputs[: rank + 2], inputs[rank + 2 :]  # an index per dimension, the guard, the updates
    goes_along = [bool(each) and each[at].plain_loop == loop for each in nest.indices[: rank + 2]]
    left = nest.extents[loop] % parts
    call = {"library_call": op.attributes["library_call"]}
    if left:
        rest = [_slice(each, at, 0, left) if is_cut else each for each, is_cut in zip(given, goes_along, strict=True)]
        start = generic([*rest, *positions], [start], maps, nest.parallel, _last, call).results[0]
    part, nothing = ir.AffineExpr.get_dim(0), ir.AffineExpr.get_constant(0)
    behind = ir.AffineMap.get(loops + 1, 0, [ir.AffineExpr.get_dim(number + 1) for number in range(loops)])
    places = [[each.compose(behind) for each in affine_map.results] for affine_map in maps]
    for number, is_cut in enumerate(goes_along):
        if places[number]:
            given[number] = _in_blocks(given[number], at, left, parts if is_cut else 1)
            places[number].insert(at, part if is_cut else nothing)
    length = len(nest.indices[rank + 1]) + 1
    block = _counting([parts if dimension == at else 1 for dimension in range(length)], at)
    places = [
        [part if dimension == at else nothing for dimension in range(length)],
        *places[: rank + 2],
        [part],
        *places[rank + 2 : -1],
        [part, *places[-1]],
    ]
    nought = upstream("arith").ConstantOp(result.element_type, neutral(combiner, result.element_type)).result
    partials = fill_with(nought, upstream("tensor").EmptyOp([parts, *result.shape], result.element_type).result)
    made = generic(
        [block, *given, _counting([parts], 0), *positions],
        [partials.results[0]],
        [ir.AffineMap.get(loops + 1, 0, each) for each in places],
        [True, *nest.parallel],
        _last,
        call,
    )
    return combined(made.results[0], start, 1, combiner).results[0]


def _last(arguments: list[ir.Value]) -> list[ir.Value]:
    return arguments[-1:]


def _slice(value: ir.Value, at: int, start: int, size: int) -> ir.Value:
    shape = [size if dimension == at else each for dimension, each in enumerate(value.type.shape)]
    if shape == list(value.type.shape):
        return value
    offsets = [start if dimension == at else 0 for dimension in range(len(shape))]
    kind = ir.RankedTensorType.get(shape, value.type.element_type)
    return upstream("tensor").ExtractSliceOp(kind, value, [], [], [], offsets, shape, [1] * len(shape)).result


def _in_blocks(value: ir.Value, at: int, left: int, parts: int) -> ir.Value:
    """``value`` without the first ``left`` along ``at``, which becomes two dimensions: blocks, and what is in them."""
    if parts > 1:
        value = _slice(value, at, left, value.type.shape[at] - left)
    shape = list(value.type.shape)
    shape[at : at + 1] = [parts, shape[at] // parts]
    groups = [*([d] for d in range(at)), [at, at + 1], *([d] for d in range(at + 2, len(shape)))]
    kind = ir.RankedTensorType.get(shape, value.type.element_type)
    return upstream("tensor").ExpandShapeOp(kind, value, groups, [], shape).result


def _counting(shape: list[int], at: int) -> ir.Value:
    """The place of each element along dimension ``at``."""
    empty = upstream("tensor").EmptyOp(shape, ir.IndexType.get()).result
    whole = identity_map(len(shape))
    return generic([], [empty], [whole], [True] * len(shape), lambda _: [loop_index(at)]).results[0]
