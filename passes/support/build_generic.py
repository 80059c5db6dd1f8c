"""Build ``linalg.generic`` ops."""

from collections.abc import Callable, Sequence

from ipu_mlir.dialects.support.bindings import ir, upstream


def identity_map(loops: int) -> ir.AffineMap:
    """``(d0, d1, ...) -> (d0, d1, ...)``."""
    return ir.AffineMap.get_identity(loops)


def scalar_map(loops: int) -> ir.AffineMap:
    """``(d0, d1, ...) -> ()``: one value for all iterations."""
    return ir.AffineMap.get(loops, 0, [])


def generic(
    inputs: Sequence[ir.Value],
    outputs: Sequence[ir.Value],
    maps: Sequence[ir.AffineMap],
    parallel: Sequence[bool],
    body: Callable[[list[ir.Value]], Sequence[ir.Value]],
    attributes: dict[str, ir.Attribute] | None = None,
) -> ir.Operation:
    """A ``linalg.generic`` on tensors at the current insertion point.

    Args:
        inputs, outputs: tensors (or scalars, as inputs).
        maps: one per operand.
        parallel: per loop; False is a reduction.
        body: block arguments, one per operand, to the yielded values.
        attributes: any further attributes.
    """
    op = bodiless_generic(inputs, outputs, maps, parallel, attributes)
    types = [getattr(value.type, "element_type", value.type) for value in (*inputs, *outputs)]
    block = ir.Block.create_at_start(op.regions[0], types, [op.location] * len(types))
    with ir.InsertionPoint(block):
        upstream("linalg").YieldOp(list(body(list(block.arguments))))
    return op


def elementwise(source: ir.Value, element: ir.Type, function: Callable[[ir.Value], ir.Value]) -> ir.Operation:
    """``function`` of every element of ``source``, as a tensor of elements of type ``element``."""
    shape = list(source.type.shape)
    empty = upstream("tensor").EmptyOp(shape, element).result
    maps = [identity_map(len(shape))] * 2
    return generic([source], [empty], maps, [True] * len(shape), lambda arguments: [function(arguments[0])])


def bodiless_generic(
    inputs: Sequence[ir.Value],
    outputs: Sequence[ir.Value],
    maps: Sequence[ir.AffineMap],
    parallel: Sequence[bool],
    attributes: dict[str, ir.Attribute] | None = None,
) -> ir.Operation:
    """As ``generic``, with an empty region that the body of another op is still to be moved into.

    On buffers it has no results.
    """
    return ir.Operation.create(
        "linalg.generic",
        results=[value.type for value in outputs if isinstance(value.type, ir.RankedTensorType)],
        operands=[*inputs, *outputs],
        attributes={
            "indexing_maps": ir.ArrayAttr.get([ir.AffineMapAttr.get(affine_map) for affine_map in maps]),
            "iterator_types": iterator_types(parallel),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(inputs), len(outputs)]),
            **(attributes or {}),
        },
        regions=1,
    )


def iterator_types(parallel: Sequence[bool]) -> ir.ArrayAttr:
    """The attribute that says which loops are parallel; the others are reductions."""
    kinds = ("reduction", "parallel")
    return ir.ArrayAttr.get([ir.Attribute.parse(f"#linalg.iterator_type<{kinds[each]}>") for each in parallel])


def loop_index(loop: int) -> ir.Value:
    """``linalg.index loop`` at the current insertion point, inside a body."""
    return upstream("linalg").IndexOp(ir.IntegerAttr.get(ir.IntegerType.get_signless(64), loop)).result


def zero(element_type: ir.Type) -> ir.Value:
    """The constant 0 of ``element_type`` at the current insertion point."""
    if isinstance(element_type, ir.IntegerType | ir.IndexType):
        attribute: ir.Attribute = ir.IntegerAttr.get(element_type, 0)
    else:
        attribute = ir.FloatAttr.get(element_type, 0.0)
    return upstream("arith").ConstantOp(element_type, attribute).result
