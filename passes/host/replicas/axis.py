"""Buffers with a first dimension for replicas, and the few ops on them that everything else is made of."""

from collections.abc import Callable, Sequence
from math import prod

from ipu_mlir.dialects.analysis.buffers import strides_and_offset
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.support.linalg_builders import copy_into, generic, identity_map

Body = Callable[[list[ir.Value]], Sequence[ir.Value]]


def batched_type(kind: ir.Type, replicas: int, stride: int | None = None) -> ir.Type:
    """The type of what stands for a value of type ``kind``, which may be a scalar, on all replicas.

    Args:
        stride: of a view, the elements of the allocation behind it.
    """
    if not isinstance(kind, ir.MemRefType):
        return ir.MemRefType.get([replicas], kind)
    strides, offset = strides_and_offset(kind)
    step = prod(kind.shape) if stride is None else stride
    return view_type([replicas, *kind.shape], [step, *strides], offset, kind.element_type)


def view_type(shape: Sequence[int], strides: Sequence[int], offset: int, element: ir.Type) -> ir.Type:
    """A buffer type; plain if its elements lie one after the other."""
    plain = [prod(shape[d + 1 :]) for d in range(len(shape))]
    if offset == 0 and list(strides) == plain:
        return ir.MemRefType.get(list(shape), element)
    return ir.MemRefType.get(list(shape), element, layout=ir.StridedLayoutAttr.get(offset, list(strides)))


def view(source: ir.Value, shape: Sequence[int], strides: Sequence[int], offset: int) -> ir.Value:
    """A window onto the allocation behind ``source``, at the current insertion point."""
    kind = view_type(shape, strides, offset, source.type.element_type)
    if source.type == kind:
        return source
    attributes = {
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0, 0, 0]),
        "static_offsets": ir.DenseI64ArrayAttr.get([offset]),
        "static_sizes": ir.DenseI64ArrayAttr.get(list(shape)),
        "static_strides": ir.DenseI64ArrayAttr.get(list(strides)),
    }
    return ir.Operation.create("memref.reinterpret_cast", [kind], [source], attributes).results[0]


def is_plain(value: ir.Value) -> bool:
    """True if the elements of a buffer lie one after the other, from the first of its allocation on."""
    kind = value.type
    return bool(kind == ir.MemRefType.get(list(kind.shape), kind.element_type))


def view_as(value: ir.Value, shape: Sequence[int]) -> ir.Value:
    """A plain buffer in another shape."""
    return view(value, shape, [prod(shape[d + 1 :]) for d in range(len(shape))], 0)


def row_of(batched: ir.Value, replica: int = 0) -> ir.Value:
    """The elements of a buffer that ``replica`` has."""
    (step, *strides), offset = strides_and_offset(batched.type)
    return view(batched, list(batched.type.shape)[1:], strides, offset + replica * step)


def in_groups(batched: ir.Value, size: int) -> ir.Value:
    """The buffers of groups of ``size`` replicas: a dimension for groups, then one for the replicas of a group."""
    (step, *strides), offset = strides_and_offset(batched.type)
    replicas, *shape = batched.type.shape
    return view(batched, [replicas // size, size, *shape], [size * step, step, *strides], offset)


def allocated(shape: Sequence[int], element: ir.Type) -> ir.Value:
    """A plain buffer."""
    return upstream("memref").AllocOp(ir.MemRefType.get(list(shape), element), [], []).memref


def computed(inputs: Sequence[tuple[ir.Value, Sequence[int]]], out: ir.Value, dims: Sequence[int], body: Body) -> None:
    """Every element of ``out`` from those of ``inputs``; each comes with the loop of each of its dimensions.

    Args:
        dims: the loops of the dimensions of ``out``; the loops that it lacks are reduced, and ``body`` combines with
            what it held.
        body: from an element of each input and of ``out``, the new one.
    """
    loops = 1 + max([*dims, *(loop for _, own in inputs for loop in own)], default=-1)
    maps = [
        ir.AffineMap.get(loops, 0, [ir.AffineExpr.get_dim(loop) for loop in own])
        for own in (*(own for _, own in inputs), dims)
    ]
    generic([value for value, _ in inputs], [out], maps, [loop in dims for loop in range(loops)], body)


def copied(source: ir.Value, out: ir.Value) -> None:
    """Copy a buffer into one of the same shape."""
    copy_into(source, out)


def broadcast(value: ir.Value, replicas: int, out: ir.Value | None = None) -> ir.Value:
    """``value``, a scalar or a buffer, for every replica: in a new buffer, or in ``out``."""
    kind = value.type
    shape = list(kind.shape) if isinstance(kind, ir.MemRefType) else []
    if out is None:
        out = allocated([replicas, *shape], getattr(kind, "element_type", kind))
    rank = len(shape) + 1
    maps = [ir.AffineMap.get(rank, 0, [ir.AffineExpr.get_dim(d) for d in range(1, rank)]), identity_map(rank)]
    generic([value], [out], maps, [True] * rank, lambda elements: [elements[0]])
    return out
