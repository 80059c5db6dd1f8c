"""``ipu-expand-fifos``: values of some iterations ago become rows of rings."""

from collections.abc import Iterator
from itertools import count

from ipu_mlir.dialects.ipu import AssignOp, ReadOp, RemoteBufferOp, RemoteLoadOp, RemoteStoreOp, VariableOp
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.dialects.support.scalar_attributes import scalar_attribute
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.linalg_builders import constant_index
from ipu_mlir.passes.support.rewriting import list_ops, replace_op
from ipu_mlir.passes.support.tensor_views import DYNAMIC


class ExpandFifos(Pass):
    """Keep the last values of each ``ipu.fifo`` in a variable, or a remote buffer, with a row for each.

    The oldest row is read, then the new value takes its place. A variable says which one it is.

    Needs:  functions that nobody calls (``inline``): each place in the text has values of its own.
    Leaves: no ``ipu.fifo``; variables and remote buffers that begin with zeros.
    """

    name = "ipu-expand-fifos"

    def run(self, module: ir.Operation) -> None:
        names = _new_names(module)
        with module.context:
            for op in list_ops(module, "ipu.fifo"):
                depth = ir.IntegerAttr(op.attributes["depth"]).value
                with op.location:
                    delayed = _expanded(op, depth, next(names), module) if depth > 0 else op.operands[0]
                replace_op(op, [delayed])


def _new_names(module: ir.Operation) -> Iterator[str]:
    """Names of nothing in ``module``, nor with something behind them."""
    symbols = [op.operation.attributes.get("sym_name", None) for op in module.regions[0].blocks[0].operations]
    taken = {ir.StringAttr(each).value for each in symbols if each is not None}
    return (name for name in map("fifo_{}".format, count()) if not any(each.startswith(name) for each in taken))


def _expanded(op: ir.Operation, depth: int, name: str, module: ir.Operation) -> ir.Value:
    """The result of ``op``, by ops in front of it."""
    value, offloaded = op.operands[0], "offload" in op.attributes
    row, i32 = ir.RankedTensorType(value.type), ir.IntegerType.get_signless(32)
    rows, number = ir.RankedTensorType.get([depth, *row.shape], row.element_type), ir.RankedTensorType.get([], i32)
    place = f"{name}_oldest"
    with ir.InsertionPoint.at_block_begin(module.regions[0].blocks[0]):
        if offloaded:
            RemoteBufferOp(sym_name=ir.StringAttr.get(name), type=ir.TypeAttr.get(rows))
        else:
            _variable(name, rows)
        if depth > 1:
            _variable(place, number)
    arith, tensor = upstream("arith"), upstream("tensor")
    with ir.InsertionPoint(op):
        oldest, at = constant_index(0), None
        if depth > 1:
            at = tensor.ExtractOp(ReadOp(variable=ir.FlatSymbolRefAttr.get(place), value=number).value, []).result
            oldest = arith.IndexCastOp(ir.IndexType.get(), at).result
        if offloaded:
            delayed = RemoteLoadOp(buffer=ir.FlatSymbolRefAttr.get(name), row=oldest, value=row).value
            RemoteStoreOp(buffer=ir.FlatSymbolRefAttr.get(name), value=value, row=oldest)
        else:
            delayed = _ring(ReadOp(variable=ir.FlatSymbolRefAttr.get(name), value=rows).value, oldest, value, name)
        if at is not None:
            one, last = (arith.ConstantOp(i32, each).result for each in (1, depth - 1))
            is_last = arith.CmpIOp(arith.CmpIPredicate.eq, at, last).result
            later = arith.AddIOp(at, one).result
            following = arith.SelectOp(is_last, arith.ConstantOp(i32, 0).result, later).result
            AssignOp(variable=ir.FlatSymbolRefAttr.get(place), value=tensor.FromElementsOp(number, [following]).result)
    return delayed


def _ring(ring: ir.Value, oldest: ir.Value, value: ir.Value, name: str) -> ir.Value:
    """Row ``oldest`` of ``ring``, which variable ``name`` then has with ``value`` in that place."""
    tensor, shape = upstream("tensor"), list(value.type.shape)
    offsets, sizes, strides = [DYNAMIC, *(0 for _ in shape)], [1, *shape], [1, *(1 for _ in shape)]
    window = ([oldest], [], [], offsets, sizes, strides)
    delayed = tensor.ExtractSliceOp(value.type, ring, *window).result
    AssignOp(variable=ir.FlatSymbolRefAttr.get(name), value=tensor.InsertSliceOp(value, ring, *window).result)
    return delayed


def _variable(name: str, kind: ir.Type) -> None:
    """A variable that begins with zeros."""
    op = VariableOp(sym_name=ir.StringAttr.get(name), type=ir.TypeAttr.get(kind))
    op.operation.attributes["init"] = ir.DenseElementsAttr.get_splat(kind, scalar_attribute(kind.element_type, 0))
