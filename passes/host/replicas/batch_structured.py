"""linalg on all replicas at once: one more loop, in front of the others."""

from ipu_mlir.dialects.analysis.control_flow import blocks_of
from ipu_mlir.dialects.analysis.loop_nest import indexing_maps, loads_in, loop_nest, num_outputs
from ipu_mlir.dialects.support.bindings import ADVANCE, ir, upstream
from ipu_mlir.passes.host.replicas.axis import broadcast, computed, copied
from ipu_mlir.passes.support.linalg_builders import bodiless_generic, fill_with, loop_index
from ipu_mlir.passes.support.rewriting import replace_op


def generalize(op: ir.Operation) -> ir.Operation:
    """Write a named op as ``linalg.generic``, but for fills and copies; gives the op that stands there now."""
    maps, nest = indexing_maps(op), loop_nest(op)
    if op.name in ("linalg.generic", "linalg.fill", "linalg.copy") or maps is None or nest is None:
        return op
    operands = list(op.operands)
    with ir.InsertionPoint(op), op.location:
        new = bodiless_generic(operands[: nest.num_inputs], operands[nest.num_inputs :], maps, nest.parallel)
    op.regions[0].blocks[0].append_to(new.regions[0])
    op.erase()
    return new


def batch_structured(op: ir.Operation, batched: set[ir.Value], replicas: int, *, parallel: bool = True) -> bool:
    """Write what ``op``, generalized, does where the values in ``batched`` have the axis; False if it uses none.

    Args:
        parallel: whether results have the axis; else the body combines along it.
    """
    captured = [value for value in captured_scalars(op) if value in batched]
    loads = [load for load in loads_in(op) if load.operands[0] in batched]
    operands = list(op.operands)
    if not captured and not loads and not any(value in batched for value in operands):
        return False
    if op.name == "linalg.fill":
        _fill(operands[0], operands[1], batched)
    elif op.name == "linalg.copy":
        batch_copy(operands[0], operands[1], batched, replicas)
    else:
        _generic(op, captured, batched, parallel)
    return True


def _fill(value: ir.Value, out: ir.Value, batched: set[ir.Value]) -> None:
    if value in batched:
        computed([(value, [0])], out, range(len(out.type.shape)), lambda x: [x[0]])
    else:
        fill_with(value, out)


def batch_copy(source: ir.Value, out: ir.Value, batched: set[ir.Value], replicas: int) -> None:
    """Copy into a buffer with the axis."""
    if source in batched:
        copied(source, out)
    else:
        broadcast(source, replicas, out)


def _generic(op: ir.Operation, captured: list[ir.Value], batched: set[ir.Value], parallel: bool) -> None:
    operands = list(op.operands)
    count = len(operands) - num_outputs(op)
    maps = [each.value for each in op.attributes["indexing_maps"]]
    loops = maps[0].n_dims + 1
    later = ir.AffineMap.get(loops, 0, [ir.AffineExpr.get_dim(d) for d in range(1, loops)])
    axis = [ir.AffineExpr.get_dim(0)]
    shifted = [
        ir.AffineMap.get(loops, 0, [*(axis if value in batched else []), *(x.compose(later) for x in each.results)])
        for value, each in zip(operands, maps, strict=True)
    ]
    own = [ir.AffineMap.get(loops, 0, axis)] * len(captured)
    new = bodiless_generic(
        [*operands[:count], *captured],
        operands[count:],
        [*shifted[:count], *own, *shifted[count:]],
        [parallel, *("parallel" in str(kind) for kind in op.attributes["iterator_types"])],
    )
    _move_body(op, new, count, captured, batched)


def _move_body(
    op: ir.Operation, new: ir.Operation, inputs: int, captured: list[ir.Value], batched: set[ir.Value]
) -> None:
    """The body of ``op`` for one replica, with one more loop around it and ``captured`` among its elements."""
    old = op.regions[0].blocks[0]
    types = [argument.type for argument in old.arguments]
    types[inputs:inputs] = [value.type.element_type for value in captured]
    block = ir.Block.create_at_start(new.regions[0], types, [op.location] * len(types))
    for number, argument in enumerate(old.arguments):
        argument.replace_all_uses_with(block.arguments[number + (len(captured) if number >= inputs else 0)])
    for inner in list(old.operations):
        block.append(inner)
    elements = dict(zip(captured, list(block.arguments)[inputs:], strict=False))
    loads: list[ir.Operation] = []

    def visit(inner: ir.Operation) -> ir.WalkResult:
        if inner.name == "linalg.index":
            loop = ir.IntegerAttr(inner.attributes["dim"])
            inner.attributes["dim"] = ir.IntegerAttr.get(loop.type, loop.value + 1)
        for number, value in enumerate(inner.operands):
            if value in elements and not _is_loaded_from(inner, number):
                inner.operands[number] = elements[value]
        if inner.name == "memref.load" and inner.operands[0] in batched:
            loads.append(inner)
        return ADVANCE

    for inner in block.operations:
        inner.operation.walk(visit)
    if not loads:
        return
    with ir.InsertionPoint.at_block_begin(block), op.location:
        replica = loop_index(0)
    for load in loads:
        with ir.InsertionPoint(load), load.location:
            found = upstream("memref").LoadOp(load.operands[0], [replica, *list(load.operands)[1:]]).result
        replace_op(load, [found])


def captured_scalars(op: ir.Operation) -> list[ir.Value]:
    """Numbers from outside that the body of ``op`` uses."""
    made: set[ir.Value] = set()
    used: dict[ir.Value, None] = {}

    def visit(inner: ir.Operation) -> ir.WalkResult:
        if inner != op:
            made.update(inner.results)
            used.update({v: None for n, v in enumerate(inner.operands) if not _is_loaded_from(inner, n)})
        for block in blocks_of(inner):
            made.update(block.arguments)
        return ADVANCE

    op.walk(visit, ir.WalkOrder.PRE_ORDER)
    return [value for value in used if value not in made]


def _is_loaded_from(op: ir.Operation, number: int) -> bool:
    return op.name == "memref.load" and number == 0
