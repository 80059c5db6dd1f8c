"""Numbers outside of linalg, of which there is one for each replica: buffers of one element per replica."""

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.host.replicas.axis import allocated, broadcast, computed, copied
from ipu_mlir.passes.support.linalg_builders import fill_with, generic, identity_map, loop_index

arith = upstream("arith")


def batch_scalar(op: ir.Operation, batched: set[ir.Value], replicas: int) -> list[ir.Value] | None:
    """The values that stand, with the axis, for the results of ``op``; None if it stays as it is, for all replicas.

    Args:
        batched: values that have the axis, an operand of ``op`` among them.
    """
    name = op.name
    if name.startswith("ipu."):  # transfers take what there is of each replica
        return None
    if name == "cf.assert":
        op.operands[0] = _all_hold(op.operands[0])
        return None
    if name == "memref.load":
        return [_loaded(op, batched, replicas)]
    if name == "arith.select" and isinstance(op.results[0].type, ir.MemRefType):
        return [_selected(op, batched, replicas)]
    return _each(op, batched, replicas)


def _all_hold(condition: ir.Value) -> ir.Value:
    """The conjunction of ``condition`` over all replicas."""
    bit = ir.IntegerType.get_signless(1)
    all_hold = allocated([], bit)
    fill_with(arith.ConstantOp(bit, ir.IntegerAttr.get(bit, -1)).result, all_hold)
    computed([(condition, [0])], all_hold, [], lambda x: [arith.AndIOp(x[1], x[0]).result])
    return upstream("memref").LoadOp(all_hold, []).result


def _loaded(op: ir.Operation, batched: set[ir.Value], replicas: int) -> ir.Value:
    source, *indices = op.operands
    out = allocated([replicas], op.results[0].type)
    varying = [value for value in dict.fromkeys(indices) if value in batched]

    def body(elements: list[ir.Value]) -> list[ir.Value]:
        own = dict(zip(varying, elements, strict=False))
        axis = [loop_index(0)] if source in batched else []
        return [upstream("memref").LoadOp(source, [*axis, *(own.get(each, each) for each in indices)]).result]

    if indices:
        generic(varying, [out], [identity_map(1)] * (len(varying) + 1), [True], body)
    else:
        copied(source, out)
    return out


def _selected(op: ir.Operation, batched: set[ir.Value], replicas: int) -> ir.Value:
    """One of two buffers: the same for all replicas, or element by element a new one."""
    condition, *chosen = op.operands
    both = [value if value in batched else broadcast(value, replicas) for value in chosen]
    if condition not in batched and both[0].type == both[1].type:
        return arith.SelectOp(condition, *both).result
    shape = list(both[0].type.shape)
    out = allocated(shape, both[0].type.element_type)
    dims = range(len(shape))
    inputs = [(condition, [0] if condition in batched else []), (both[0], dims), (both[1], dims)]
    computed(inputs, out, dims, lambda x: [arith.SelectOp(*x[:3]).result])
    return out


def _each(op: ir.Operation, batched: set[ir.Value], replicas: int) -> list[ir.Value]:
    """The results of ``op`` on scalars, for each replica."""
    operands = list(op.operands)
    inputs = [value for value in dict.fromkeys(operands) if value in batched]
    outs = [allocated([replicas], result.type) for result in op.results]
    maps = [identity_map(1)] * (len(inputs) + len(outs))

    def body(elements: list[ir.Value]) -> list[ir.Value]:
        copy = op.clone()
        own = dict(zip(inputs, elements, strict=False))
        for number, value in enumerate(operands):
            if value in own:
                copy.operands[number] = own[value]
        return list(copy.results)

    generic(inputs, outs, maps, [True], body)
    return outs
