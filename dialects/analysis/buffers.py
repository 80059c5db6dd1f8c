"""Facts of a memref type: shape, element size, strides, offset and mapping."""

from ipu_mlir.dialects.analysis.control_flow import sources_of
from ipu_mlir.dialects.analysis.matchers import defining_op
from ipu_mlir.dialects.attributes.attributes import mapping_of_text
from ipu_mlir.dialects.mapping.mapping import Mapping
from ipu_mlir.dialects.support import element_types
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.remembered import remembered

BUFFER = "a memref on tiles, with a #ipu.mapping, or on the host, without"
"""What ``is_buffer`` asks for, in words of an error."""


def is_buffer(kind: ir.Type) -> bool:
    """True for a memref that lies on tiles or, without a memory space, on the host."""
    return isinstance(kind, ir.MemRefType) and (kind.memory_space is None or memory_mapping(kind) is not None)


def memory_mapping(memref: ir.Type) -> Mapping | None:
    """The mapping that ``memref`` has as memory space; None for a buffer that lies nowhere."""
    space = ir.MemRefType(memref).memory_space
    return None if space is None else _mapping_of_space(space)


@remembered
def _mapping_of_space(space: ir.Attribute) -> Mapping | None:
    text = str(space)
    return mapping_of_text(text) if text.startswith("#ipu.mapping<") else None


def strides_and_offset(memref: ir.Type) -> tuple[tuple[int, ...], int]:
    """Elements from index to index in each dimension, and of the first element, within the allocation."""
    strides, offset = ir.MemRefType(memref).get_strides_and_offset()
    return tuple(strides), offset


def element_bytes(element_type: ir.Type) -> int:
    """Bytes that one element takes in the memory of a tile.

    Raises:
        CompileError: the type has no row in ``element_types``.
    """
    return element_types.element_type(str(element_type)).bytes


def root_of(value: ir.Value) -> ir.Value:
    """The allocation, constant or argument that ``value`` is a view of."""
    while (view := defining_op(value, *VIEW_OPS)) is not None:
        value = view.operands[0]
    return value


def roots_of(value: ir.Value) -> set[ir.Value]:
    """The allocations that ``value`` may be a view of: several behind an ``arith.select``, a branch or a loop."""
    root = root_of(value)
    op = defining_op(root)
    if op is None:
        return {root}
    chosen = list(op.operands)[1:] if op.name == "arith.select" else sources_of(root)
    return {root}.union(*map(roots_of, chosen))


def memories_of(value: ir.Value) -> set[ir.Value]:
    """The arguments of functions, constants and allocations that ``value`` may be memory of.

    Views, branches, selections and loops may call them otherwise.
    """
    found: set[ir.Value] = set()
    waiting, seen = [value], set[ir.Value]()
    while waiting:
        root = root_of(waiting.pop())
        if root in seen:
            continue
        seen.add(root)
        chosen = sources_of(root)
        select = defining_op(root, "arith.select")
        if select is not None:
            chosen = list(select.operands)[1:]
        waiting += chosen
        if not chosen:
            found.add(root)
    return found


VIEW_OPS = frozenset(
    ("memref.subview", "memref.collapse_shape", "memref.expand_shape", "memref.cast", "memref.reinterpret_cast")
)


def may_overlap(one: ir.Value, other: ir.Value) -> bool:
    """True if two buffers can share an element: views of one allocation whose address ranges meet."""
    if roots_of(one).isdisjoint(roots_of(other)):
        return False
    (first, last), (start, stop) = _address_range(one.type), _address_range(other.type)
    return first <= stop and start <= last


def _address_range(memref: ir.Type) -> tuple[int, int]:
    """The first and the last element of the allocation that a view shows."""
    strides, offset = strides_and_offset(memref)
    return offset, offset + sum(stride * (size - 1) for stride, size in zip(strides, memref.shape, strict=True))
