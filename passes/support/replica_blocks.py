"""Tensors cut into a block of elements for each replica, and put together again."""

from collections.abc import Sequence
from math import prod

from ipu_mlir.dialects.ipu import AllGatherOp, ReplicaIndexOp
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.support.linalg_builders import generic, identity_map, reshaped, zero
from ipu_mlir.passes.support.tensor_views import DYNAMIC

arith, tensor = upstream("arith"), upstream("tensor")


def tensor_type(shape: Sequence[int], element: ir.Type) -> ir.RankedTensorType:
    """A tensor without encoding."""
    return ir.RankedTensorType.get(list(shape), element)


def blocks_of_rows(value: ir.Value, count: int, replicas: int) -> ir.Value:
    """``count`` rows, each cut into blocks of its elements padded with zeros: of shape (replicas, count, block)."""
    row = prod(value.type.shape) // count
    size = -(-row // replicas)
    if count == 1:
        return reshaped(_resized(reshaped(value, [row]), replicas * size), [replicas, 1, size])
    padded = _resized(reshaped(value, [count, row]), replicas * size)
    return _transposed(reshaped(padded, [count, replicas, size]))


def rows_of_blocks(blocks: ir.Value, shape: Sequence[int]) -> ir.Value:
    """The inverse of ``blocks_of_rows``, as a tensor of shape ``shape``."""
    replicas, count, size = blocks.type.shape
    row = prod(shape) // count
    if count == 1:
        return reshaped(_resized(reshaped(blocks, [replicas * size]), row), shape)
    return reshaped(_resized(reshaped(_transposed(blocks), [count, replicas * size]), row), shape)


def own_block(blocks: ir.Value, shape: Sequence[int]) -> ir.Value:
    """That of this replica of what ``blocks_of_rows`` gives, as a tensor of shape ``shape``."""
    _, count, size = blocks.type.shape
    number = arith.IndexCastOp(ir.IndexType.get(), tensor.ExtractOp(replica_number(), []).result).result
    kind = tensor_type([count, size], blocks.type.element_type)
    sizes, steps = [1, count, size], [1, 1, 1]
    block = tensor.ExtractSliceOp(kind, blocks, [number], [], [], [DYNAMIC, 0, 0], sizes, steps).result
    return reshaped(block, shape)


def gathered_blocks(own: ir.Value, count: int, replicas: int) -> ir.Value:
    """The blocks of all replicas, each of which has ``own`` of ``count`` rows: as ``blocks_of_rows`` gives them."""
    kind = tensor_type([replicas, *own.type.shape], own.type.element_type)
    parts = AllGatherOp(source=own, value=kind).value
    return reshaped(parts, [replicas, count, prod(own.type.shape) // count])


def replica_number() -> ir.Value:
    """The number of this replica, as a tensor of one i32."""
    return ReplicaIndexOp(index=tensor_type([], ir.IntegerType.get_signless(32))).index


def _resized(value: ir.Value, size: int) -> ir.Value:
    """``value`` with ``size`` elements in its last dimension: fewer, or zeros behind those that it has."""
    *rows, columns = value.type.shape
    if size == columns:
        return value
    kind, offsets = tensor_type([*rows, size], value.type.element_type), [0] * (len(rows) + 1)
    if size < columns:
        return tensor.ExtractSliceOp(kind, value, [], [], [], offsets, [*rows, size], [1] * len(offsets)).result
    nothing = zero(kind.element_type)  # outside of the op: linalg-fold-unit-extent-dims would lose it inside
    pad = tensor.PadOp(kind, value, [], [], offsets, [*[0] * len(rows), size - columns])
    indices = [ir.IndexType.get()] * len(offsets)
    block = ir.Block.create_at_start(pad.operation.regions[0], indices, [pad.location] * len(indices))
    with ir.InsertionPoint(block):
        tensor.YieldOp(nothing)
    return pad.result


def _transposed(value: ir.Value) -> ir.Value:
    """The first two of three dimensions change places."""
    first, second, third = value.type.shape
    empty = tensor.EmptyOp([second, first, third], value.type.element_type).result
    dims = [ir.AffineExpr.get_dim(d) for d in (1, 0, 2)]
    maps = [ir.AffineMap.get(3, 0, dims), identity_map(3)]
    return generic([value], [empty], maps, [True] * 3, lambda elements: elements[:1]).results[0]
