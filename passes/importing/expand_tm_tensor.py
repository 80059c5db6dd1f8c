"""``ipu-expand-tm-tensor``: scatters, scans and sorts of torch-mlir as loops over elements."""

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.importing.stablehlo.scalar_regions import (
    Values,
    both,
    compare,
    extract,
    for_each,
    index,
    insert,
)
from ipu_mlir.passes.importing.stablehlo.sorts.expand_sorts import sorted_by
from ipu_mlir.passes.support.clone import Known, clone_into
from ipu_mlir.passes.support.rewriting import list_ops, replace_op


class ExpandTmTensor(Pass):
    """Write tm_tensor.scatter, scan and sort, which torch-mlir makes, as loops over elements.

    Needs:  linalg on tensors, with ops of tm_tensor of static shapes.
    Leaves: none of the three; ``scf.for`` in their places. An update outside of the tensor is left out.
    """

    name = "ipu-expand-tm-tensor"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for op in list_ops(module, *_EXPAND):
                if all(value.type.has_static_shape for value in op.operands):
                    with ir.InsertionPoint(op), op.location:
                        replace_op(op, _EXPAND[op.name](op))


def _apply(op: ir.Operation, scalars: Values) -> Values:
    """The scalars that the region of ``op`` gives for these."""
    block = op.regions[0].blocks[0]
    known: Known = dict(zip(block.arguments, scalars, strict=True))
    *body, terminator = (inner.operation for inner in block.operations)
    for inner in body:
        clone_into(inner, known)
    return [known.get(value, value) for value in terminator.operands]


def _scatter(op: ir.Operation) -> Values:
    updates, indices, original = op.operands
    sizes, extents = list(original.type.shape), list(updates.type.shape)
    depth = indices.type.shape[1]
    mapped = list(range(depth))
    if "dimension_map" in op.attributes:
        mapped = list(ir.DenseI64ArrayAttr(op.attributes["dimension_map"]))
    arith = upstream("arith")

    def body(counters: Values, carried: Values) -> Values:
        own, *window = counters
        # The window lies in the last dimensions; an index moves it where both are in one dimension.
        place: dict[int, ir.Value] = dict(zip(range(len(sizes) - len(window), len(sizes)), window, strict=True))
        inside: ir.Value | None = None
        for number, dimension in enumerate(mapped):
            start = extract(indices, [own, index(number)])
            if not isinstance(start.type, ir.IndexType):
                start = arith.IndexCastOp(ir.IndexType.get(), start).result
            if dimension in place:
                start = arith.AddIOp(start, place[dimension]).result
            inside = both(inside, compare("ult", start, index(sizes[dimension])))
            place[dimension] = start
        where = [place[dimension] for dimension in range(len(sizes))]
        scf = upstream("scf")
        assert inside is not None, "a scatter has indices"
        branch = scf.IfOp(inside, [each.type for each in carried], has_else=True)
        with ir.InsertionPoint(branch.then_block):
            (new,) = _apply(op, [extract(updates, counters), extract(carried[0], where)])
            scf.YieldOp([insert(new, carried[0], where)])
        with ir.InsertionPoint(branch.else_block):
            scf.YieldOp(carried)
        return list(branch.results)

    return [original] if 0 in extents else for_each(extents, [original], body)


def _scan(op: ir.Operation) -> Values:
    values, out, start = op.operands
    along = ir.IntegerAttr(op.attributes["dimension"]).value
    inclusive = ir.BoolAttr(op.attributes["inclusive"]).value
    extents = list(values.type.shape)
    others = [*extents[:along], *extents[along + 1 :]]

    def row(counters: Values, carried: Values) -> Values:
        def step(place: Values, state: Values) -> Values:
            here = [*counters[:along], *place, *counters[along:]]
            tensor, running = state
            (combined,) = _apply(op, [running, extract(values, here)])
            return [insert(combined if inclusive else running, tensor, here), combined]

        filled, last = for_each([extents[along]], [carried[0], extract(carried[1], counters)], step)
        return [filled, insert(last, carried[1], counters)]

    return [out, start] if 0 in extents else for_each(others, [out, start], row)


def _sort(op: ir.Operation) -> Values:
    return sorted_by(
        list(op.operands), ir.IntegerAttr(op.attributes["dimension"]).value, lambda scalars: _apply(op, scalars)[0]
    )


_EXPAND = {"tm_tensor.scatter": _scatter, "tm_tensor.scan": _scan, "tm_tensor.sort": _sort}
