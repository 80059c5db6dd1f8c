"""``ipu-raise-loops``: loops that scatter single elements become one scatter."""

from dataclasses import dataclass

from ipu_mlir.dialects.bindings import ir, upstream
from ipu_mlir.passes.base import Pass
from ipu_mlir.passes.build_generic import generic, identity_map, loop_index
from ipu_mlir.passes.loop_raising.nests import ScatterNest, scatter_nest
from ipu_mlir.passes.loop_raising.slices import write_by_elements
from ipu_mlir.passes.loop_raising.vectorize import Vectorizer, over
from ipu_mlir.passes.rewriting import list_ops


@dataclass(frozen=True)
class RaiseLoops(Pass):
    """Write loops that put elements into a tensor as structured ops and one scatter.

    What goes where is computed for all iterations at once; inner loops over scalars become reductions. The scatter is
    the library codelet of that name; it keeps the order of the iterations.

    Needs:  linalg on tensors; scalars that are not wrapped in tensors (``ipu-inline-scalar-ops``, ``canonicalize``).
    Leaves: ``scf.for`` only where a loop is no scatter.
    """

    name = "ipu-raise-loops"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for insert in list_ops(module, "tensor.insert_slice"):
                if insert.parent.name == "scf.for":
                    write_by_elements(insert)
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
    guard = nest.guard or upstream("arith").ConstantOp(ir.IntegerType.get_signless(1), 1).result
    vectorizer = Vectorizer(nest.loops[0], nest.counters, nest.extents, nest.guard, nest.guarded)
    columns = vectorizer.columns([*nest.index, guard, nest.update])
    shape = list(nest.initial.type.shape)
    updates, rank = len(nest.extents), len(nest.extents) + len(shape)
    dims = [ir.AffineExpr.get_dim(d) for d in range(updates, rank)]
    maps = [over(column.loops, updates, rank) for column in columns]
    maps += [ir.AffineMap.get(rank, 0, [dim]) for dim in dims]
    maps.append(ir.AffineMap.get(rank, 0, dims))
    op = generic(
        [*(column.tensor for column in columns), *(_positions(size) for size in shape)],
        [nest.initial],
        maps,
        [False] * updates + [True] * len(shape),
        lambda arguments: [arguments[-1]],
        {"library_call": ir.StringAttr.get(f"scatter_{nest.combine}")},
    )
    return op.results[0]


def _positions(size: int) -> ir.Value:
    """0, 1, 2, ...: every vertex learns from it which elements of the tensor are its own."""
    empty = upstream("tensor").EmptyOp([size], ir.IndexType.get()).result
    return generic([], [empty], [identity_map(1)], [True], lambda _: [loop_index(0)]).results[0]
