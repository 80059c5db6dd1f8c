"""``ipu-raise-loops``: loops that scatter single elements become one scatter, running sums one scan."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from ipu_mlir.dialects.analysis.matchers import defining_op, integer_of, predicate_of
from ipu_mlir.dialects.attributes.attributes import module_target
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.raising.loops.filling_nests import place_of
from ipu_mlir.passes.raising.loops.fission import split_branches, split_by_tensor
from ipu_mlir.passes.raising.loops.nests import ScatterNest, scatter_nest
from ipu_mlir.passes.raising.loops.scan_of_loops import scan_of_loops, scan_of_while
from ipu_mlir.passes.raising.loops.slices import write_by_elements
from ipu_mlir.passes.raising.loops.vectorize import Column, Loops, Vectorizer
from ipu_mlir.passes.raising.scans.blocked_scans import longest_scan
from ipu_mlir.passes.support.combiners import OPS_OF_KIND
from ipu_mlir.passes.support.linalg_builders import generic, identity_map, loop_index, reshaped
from ipu_mlir.passes.support.rewriting import list_ops


class RaiseLoops(Pass):
    """Write loops that put elements into a tensor as structured ops and one scatter or scan.

    What goes where is computed for all iterations at once; inner loops over scalars become reductions. The scatter
    is the library codelet of that name; it keeps the order of the iterations. Where each iteration has a place of
    its own in a box of the tensor, no scatter is needed, but an element-wise op on a slice. A loop that puts
    elements into several tensors becomes a scatter into each. Where every element is combined with the one before
    it, all are one scan (``scan_add`` and so on, as ``ipu-raise-scans`` makes them): whether a branch takes the
    first one, the tensor has it from the start or the innermost loop carries the running value. Running sums and
    products of floats of 16 and 8 bits are f32 then, and each is rounded once. An ``scf.while`` that counts, and
    fills a tensor with running values slice by slice, is such a loop as well.

    Needs:  linalg on tensors; scalars that are not wrapped in tensors (``ipu-inline-scalar-ops``, ``canonicalize``).
    Leaves: ``scf.for`` only where a loop is no scatter and no running sum, product or extreme; no such ``scf.while``.
    """

    name = "ipu-raise-loops"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            tile_bytes = module_target(module).bytes_per_tile
            longest = partial(longest_scan, tile_bytes)
            for loop in list_ops(module, "scf.while"):
                scan_of_while(loop, longest)
            for outermost in _loops_of(module):
                _scan(outermost, longest)
            for insert in list_ops(module, "tensor.insert_slice"):
                if insert.parent.name == "scf.for":
                    write_by_elements(insert)
            for branch in list_ops(module, "scf.if"):
                split_branches(branch)
            for loop in list_ops(module, "scf.for"):
                split_by_tensor(loop)
            for outermost in _loops_of(module):
                _raise(outermost)


@dataclass
class _Loop:
    """A loop and the loops right inside it; those are gone when it is erased."""

    op: ir.Operation
    inside: list["_Loop"]


def _loops_of(op: ir.Operation) -> list[_Loop]:
    """The outermost ``scf.for`` ops below ``op``."""
    found: list[_Loop] = []
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                below = _loops_of(inner.operation)
                found += [_Loop(inner.operation, below)] if inner.operation.name == "scf.for" else below
    return found


def _scan(loop: _Loop, longest: Callable[[ir.Type], int]) -> None:
    """Write ``loop``, or loops inside it, as scans."""
    if not scan_of_loops(loop.op, longest):
        for inner in loop.inside:
            _scan(inner, longest)


def _raise(loop: _Loop) -> None:
    nest = scatter_nest(loop.op)
    if nest is None:
        for inner in loop.inside:
            _raise(inner)
        return
    with ir.InsertionPoint(loop.op), loop.op.location:
        loop.op.results[0].replace_all_uses_with(_scatter(nest))
    loop.op.erase()


def _scatter(nest: ScatterNest) -> ir.Value:
    shape = list(nest.initial.type.shape)
    places = _slice_of(nest, shape)
    vectorizer = Vectorizer(nest.loops[0], nest.counters, nest.extents, nest.guard, nest.guarded)
    if places is not None:
        always = nest.guard is None or _says_inside(nest.guard, dict(zip(nest.index, shape, strict=True)))
        columns = vectorizer.columns([nest.update] if always else [nest.guard, nest.update])
        return _in_place(nest, columns, places)
    guard = nest.guard or upstream("arith").ConstantOp(ir.IntegerType.get_signless(1), 1).result
    columns = vectorizer.columns([*nest.index, guard, nest.update])
    shared = _shared_loops(nest, shape)
    if len(shared) == len(nest.extents):  # the order of the iterations is that of a loop that is reduced
        unit = frozenset({len(nest.extents)})
        columns = [Column(reshaped(x.tensor, [*x.tensor.type.shape, 1]), x.loops | unit) for x in columns]
    own = [loop for loop in range(columns[-1].tensor.type.rank) if loop not in shared]
    rank = len(own) + len(shape)
    dims = [ir.AffineExpr.get_dim(d) for d in range(len(own), rank)]
    update_dims = [
        dims[shared[loop]] if loop in shared else ir.AffineExpr.get_dim(own.index(loop))
        for loop in range(columns[-1].tensor.type.rank)
    ]
    maps = [_over(column.loops, update_dims, rank) for column in columns]
    maps += [ir.AffineMap.get(rank, 0, [dim]) for dim in dims]
    maps.append(ir.AffineMap.get(rank, 0, dims))
    op = generic(
        [*(column.tensor for column in columns), *(_positions(size) for size in shape)],
        [nest.initial],
        maps,
        [False] * len(own) + [True] * len(shape),
        lambda arguments: [arguments[-1]],
        {"library_call": ir.StringAttr.get(f"scatter_{nest.combine}")},
    )
    return op.results[0]


_Places = list[tuple[int | None, int]]
"""Per dimension of a tensor the loop that its index is, and what is added to that; or no loop, and the index."""


def _slice_of(nest: ScatterNest, shape: list[int]) -> _Places | None:
    """Where the elements go, if they fill a slice, each from an iteration of its own."""
    found: _Places = []
    for index, size in zip(nest.index, shape, strict=True):
        number, place = integer_of(index), place_of([index], nest.counters)
        loop, first = (None, number) if number is not None else place[0] if place else (None, -1)
        if not 0 <= first <= size - (1 if loop is None else nest.extents[loop]):
            return None
        found.append((loop, first))
    loops = sorted(loop for loop, _ in found if loop is not None)
    return found if loops == list(range(len(nest.extents))) else None


def _says_inside(guard: ir.Value, sizes: dict[ir.Value, int]) -> bool:
    """True if ``guard`` asks for no more than that each index is below the size of its dimension, or a greater one."""
    op = defining_op(guard, "arith.andi", "arith.cmpi")
    if op is None:
        return False
    left, right = op.operands
    if op.name == "arith.andi":
        return _says_inside(left, sizes) and _says_inside(right, sizes)
    most = integer_of(right)
    return predicate_of(op) == "ult" and left in sizes and most is not None and sizes[left] <= most


def _in_place(nest: ScatterNest, columns: list[Column], places: _Places) -> ir.Value:
    """Every element comes from its own iteration: an element-wise op on a slice of the tensor and no scatter.

    ``columns`` are the guard, if it may not hold, and the update.
    """
    rank, tensor = len(places), upstream("tensor")
    loops = [loop for loop, _ in places]
    dims = [ir.AffineExpr.get_dim(loops.index(loop)) for loop in range(len(nest.extents))]
    maps = [*(_over(column.loops, dims, rank) for column in columns), identity_map(rank)]

    def body(arguments: list[ir.Value]) -> list[ir.Value]:
        *goes, new, old = arguments
        if nest.combine != "set":
            kind = int(isinstance(old.type, ir.IntegerType | ir.IndexType))
            joined = ir.Operation.create(OPS_OF_KIND[nest.combine][kind], results=[old.type], operands=[old, new])
            new = joined.results[0]
        return [upstream("arith").SelectOp(*goes, new, old).result if goes else new]

    sizes = [1 if loop is None else nest.extents[loop] for loop in loops]
    part_type = ir.RankedTensorType.get(sizes, nest.initial.type.element_type)
    box = ([], [], [], [first for _, first in places], sizes, [1] * rank)
    is_whole = sizes == list(nest.initial.type.shape)
    if nest.combine == "set" and len(columns) == 1:  # what was there does not matter
        part = tensor.EmptyOp(sizes, part_type.element_type).result
    else:
        part = nest.initial if is_whole else tensor.extract_slice(part_type, nest.initial, *box)
    new = generic([column.tensor for column in columns], [part], maps, [True] * rank, body).results[0]
    return new if is_whole else tensor.insert_slice(new, nest.initial, *box)


def _shared_loops(nest: ScatterNest, shape: list[int]) -> dict[int, int]:
    """Loops that are the index of a dimension themselves, as the images and channels of a pooling, and which one.

    What lies at ``n`` in that dimension comes from iteration ``n`` alone: parts that cut the one cut the other with it.
    """
    found: dict[int, int] = {}
    for dimension, index in enumerate(nest.index):
        if index in nest.counters:
            loop = nest.counters.index(index)
            if loop not in found and nest.extents[loop] == shape[dimension]:
                found[loop] = dimension
    return found


def _over(loops: Loops, dims: list[ir.AffineExpr], rank: int) -> ir.AffineMap:
    """The index into a column over ``loops``, each of which is one of ``dims``; its other dimensions have size 1."""
    constant = ir.AffineExpr.get_constant(0)
    return ir.AffineMap.get(rank, 0, [dim if loop in loops else constant for loop, dim in enumerate(dims)])


def _positions(size: int) -> ir.Value:
    """0, 1, 2, ...: every vertex learns from it which elements of the tensor are its own."""
    empty = upstream("tensor").EmptyOp([size], ir.IndexType.get()).result
    return generic([], [empty], [identity_map(1)], [True], lambda _: [loop_index(0)]).results[0]
