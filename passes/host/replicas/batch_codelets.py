"""Library codelets on all replicas at once.

Most have vertices along their first dimension, of which replicas are more. Scatters and slices get one more index, the
number of the replica. What is neither runs for one replica after the other.
"""

from collections.abc import Sequence

from ipu_mlir.dialects.analysis.buffers import strides_and_offset
from ipu_mlir.dialects.analysis.loop_nest import indexing_maps
from ipu_mlir.dialects.codelets.scatter import SCATTERS
from ipu_mlir.dialects.codelets.update_slice import UPDATE_SLICE
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.host.replicas.axis import allocated, broadcast, computed, row_of, view
from ipu_mlir.passes.support.linalg_builders import bodiless_generic, constant_index, fill_with, generic, loop_index

_SCATTERS = frozenset(codelet.name for codelet in SCATTERS)
_SET = next(name for name in _SCATTERS if name.endswith("_set"))


def batch_codelet(op: ir.Operation, batched: set[ir.Value], replicas: int) -> None:
    """A call of a library codelet where the operands in ``batched`` have an axis for replicas."""
    name = ir.StringAttr(op.attributes["library_call"]).value
    operands = list(op.operands)
    if name in _SCATTERS:
        _scatter(op, operands, batched, replicas)
    elif name == UPDATE_SLICE.name:
        _update_slice(op, operands, batched, replicas)
    else:
        whole = [value if value in batched else broadcast(value, replicas) for value in operands]
        if is_first_of_vertices(op) and all(map(_is_one_after_the_other, whole)):
            _call(op, [_joined(value) for value in whole])
        else:
            for replica in range(replicas):
                _call(op, [row_of(value, replica) for value in whole])


def _call(op: ir.Operation, operands: Sequence[ir.Value]) -> None:
    """The same call with other operands."""
    call = op.clone()
    for number, value in enumerate(operands):
        call.operands[number] = value


def is_first_of_vertices(op: ir.Operation) -> bool:
    """True if the first dimension of every operand is one loop, and that is one of vertices alone."""
    maps = indexing_maps(op)
    assert maps is not None, "a call of a codelet is a linalg.generic"
    firsts = {str(each.results[0]) for each in maps if len(each.results)}
    if len(firsts) != 1 or not all(len(each.results) for each in maps):
        return False
    first = maps[0].results[0]
    return isinstance(first, ir.AffineDimExpr) and "parallel" in str(op.attributes["iterator_types"][first.position])


def _is_one_after_the_other(value: ir.Value) -> bool:
    """True if the replicas' parts follow each other as the first dimension of a part goes on."""
    (step, first, *_), _ = strides_and_offset(value.type)
    return step == first * value.type.shape[1]


def _joined(value: ir.Value) -> ir.Value:
    """A buffer with the axis and the dimension after it as one."""
    (_, *strides), offset = strides_and_offset(value.type)
    replicas, first, *shape = value.type.shape
    return view(value, [replicas * first, *shape], strides, offset)


def _widened(value: ir.Value, batched: set[ir.Value]) -> ir.Value:
    """A buffer with the axis: of 1 where all replicas have the same."""
    if value in batched:
        return value
    strides, offset = strides_and_offset(value.type)
    return view(value, [1, *value.type.shape], [1, *strides], offset)


def _scatter(op: ir.Operation, operands: list[ir.Value], batched: set[ir.Value], replicas: int) -> None:
    """One more index in front of the others, which is the replica's own number."""
    maps = indexing_maps(op)
    assert maps is not None, "a call of a codelet is a linalg.generic"
    rank = len(op.operands[len(operands) - 1].type.shape) - 1
    given, positions, elements = operands[: rank + 2], operands[rank + 2 : -1], operands[-1]
    loops = maps[0].n_dims + 1
    later = ir.AffineMap.get(loops, 0, [ir.AffineExpr.get_dim(d) for d in range(1, loops)])
    zero, axis = ir.AffineExpr.get_constant(0), ir.AffineExpr.get_dim(0)

    def shifted(number: int, first: Sequence[ir.AffineExpr]) -> ir.AffineMap:
        return ir.AffineMap.get(loops, 0, [*first, *(each.compose(later) for each in maps[number].results)])

    dims = len(given[-1].type.shape) - (given[-1] in batched)
    number, place = _numbers([replicas, *[1] * dims], 0), _numbers([replicas], 0)
    new_maps = [
        ir.AffineMap.get(loops, 0, [axis, *[zero] * dims]),
        *(shifted(n, [axis if value in batched else zero]) for n, value in enumerate(given)),
        ir.AffineMap.get(loops, 0, [axis]),
        *(shifted(rank + 2 + n, []) for n in range(len(positions))),
        shifted(len(operands) - 1, [axis]),
    ]
    own = [number, *(_widened(value, batched) for value in given), place, *positions]
    kinds = [True, *("parallel" in str(kind) for kind in op.attributes["iterator_types"])]
    call = bodiless_generic(own, [elements], new_maps, kinds, {"library_call": op.attributes["library_call"]})
    types = [each.type.element_type for each in (*own, elements)]
    old = op.regions[0].blocks[0]
    block = ir.Block.create_at_start(call.regions[0], types, [op.location] * len(types))
    for n, argument in enumerate(old.arguments):  # one operand is new in front, another before the positions
        argument.replace_all_uses_with(block.arguments[n + (1 if n < rank + 2 else 2)])
    for inner in list(old.operations):
        block.append(inner)


def scatter_in_order(op: ir.Operation, elements: ir.Value, batched: set[ir.Value]) -> None:
    """The scatter ``op`` into one buffer, ``elements``, for each number of the axis, one after the other."""
    maps = indexing_maps(op)
    assert maps is not None, "a call of a codelet is a linalg.generic"
    given = list(op.operands)[: len(elements.type.shape) + 2]
    loops = maps[0].n_dims + 1
    later = ir.AffineMap.get(loops, 0, [ir.AffineExpr.get_dim(d) for d in range(1, loops)])
    zero, axis = ir.AffineExpr.get_constant(0), ir.AffineExpr.get_dim(0)
    new_maps = []
    for number, (value, each) in enumerate(zip(op.operands, maps, strict=True)):
        first = [axis if value in batched else zero] if number < len(given) else []
        new_maps.append(ir.AffineMap.get(loops, 0, [*first, *(result.compose(later) for result in each.results)]))
    own = [*(_widened(value, batched) for value in given), *list(op.operands)[len(given) : -1]]
    kinds = [False, *("parallel" in str(kind) for kind in op.attributes["iterator_types"])]
    call = bodiless_generic(own, [elements], new_maps, kinds, {"library_call": op.attributes["library_call"]})
    op.regions[0].blocks[0].append_to(call.regions[0])


def _numbers(shape: Sequence[int], dimension: int) -> ir.Value:
    """A buffer of the numbers along a dimension."""
    found = allocated(shape, ir.IndexType.get())
    computed([], found, range(len(shape)), lambda x: [loop_index(dimension)])
    return found


def _update_slice(op: ir.Operation, operands: list[ir.Value], batched: set[ir.Value], replicas: int) -> None:
    *offsets, small, big = operands
    rank = len(offsets)
    if small not in batched:
        small = broadcast(small, replicas)
    if len(small.type.shape) == 1:  # a number for each replica
        (step,), offset = strides_and_offset(small.type)
        small = view(small, [replicas, *[1] * rank], [step, *[1] * rank], offset)
    sizes = list(small.type.shape)[1:]
    if any(value in batched for value in offsets):
        _scatter_slice(offsets, small, big, sizes, batched)
        return
    parts = [d for d, size in enumerate(sizes) if size > 1]
    loops = rank + 1 + len(parts)
    dims = [ir.AffineExpr.get_dim(loop) for loop in range(loops)]
    at = [dims[rank + 1 + parts.index(d)] if d in parts else ir.AffineExpr.get_constant(0) for d in range(rank)]
    nothing = ir.AffineMap.get(loops, 0, [])
    maps = [
        *[nothing] * (rank + 1),
        ir.AffineMap.get(loops, 0, [dims[0], *at]),
        ir.AffineMap.get(loops, 0, dims[: rank + 1]),
    ]
    kinds = [True] * (rank + 1) + [False] * len(parts)
    call = {"library_call": op.attributes["library_call"]}
    generic([constant_index(0), *offsets, small], [big], maps, kinds, lambda elements: [elements[-1]], call)


def _scatter_slice(
    offsets: Sequence[ir.Value], small: ir.Value, big: ir.Value, sizes: Sequence[int], batched: set[ir.Value]
) -> None:
    """A slice that lies elsewhere on each replica is a scatter of its elements."""
    arith = upstream("arith")
    replicas, rank = big.type.shape[0], len(sizes)
    bit = ir.IntegerType.get_signless(1)
    guard = allocated([1] * (rank + 1), bit)
    fill_with(arith.ConstantOp(bit, ir.IntegerAttr.get(bit, -1)).result, guard)
    index = [_numbers([replicas, *[1] * rank], 0)]
    for d, offset in enumerate(offsets):
        shape = [replicas, *(size if d == other else 1 for other, size in enumerate(sizes))]
        own = allocated(shape, ir.IndexType.get())
        loop = [0] if offset in batched else []
        computed(
            [(offset, loop)],
            own,
            range(rank + 1),
            lambda x, d=d: [arith.AddIOp(x[0], loop_index(d + 1)).result],
        )
        index.append(own)
    positions = [_numbers([extent], 0) for extent in big.type.shape]
    parts = [d for d in range(1, rank + 1) if small.type.shape[d] > 1]
    loops = rank + 1 + len(parts)
    dims = [ir.AffineExpr.get_dim(loop) for loop in range(loops)]

    def over(shape: Sequence[int]) -> ir.AffineMap:
        """The loops of the slice come after those of the elements, but for replicas, which are both."""
        none = ir.AffineExpr.get_constant(0)
        own = [dims[0], *(dims[rank + 1 + parts.index(d)] if d in parts else none for d in range(1, rank + 1))]
        return ir.AffineMap.get(loops, 0, [each if size > 1 else none for each, size in zip(own, shape, strict=True)])

    given = [*index, guard, small]
    maps = [
        *(over(each.type.shape) for each in given),
        *(ir.AffineMap.get(loops, 0, [dims[d]]) for d in range(rank + 1)),
        ir.AffineMap.get(loops, 0, dims[: rank + 1]),
    ]
    kinds = [True] * (rank + 1) + [False] * len(parts)
    call = {"library_call": ir.StringAttr.get(_SET)}
    generic([*given, *positions], [big], maps, kinds, lambda elements: [elements[-1]], call)
