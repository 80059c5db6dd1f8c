"""Memref types and constants as plain values."""

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.text import identifier
from ipu_mlir.runtime.translator.importing.narrow_constants import narrow_elements
from ipu_mlir.runtime.translator.importing.read_body import Unsupported
from ipu_mlir.runtime.translator.statements.access import Buffer, Role, row_major
from ipu_mlir.runtime.translator.statements.types import dtype_of, narrow_float


@dataclass(frozen=True)
class MemrefParts:
    """Shape, strides and offset (in elements) and element type of a memref type."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    dtype: np.dtype[Any]

    @property
    def elements(self) -> int:
        return prod(self.shape)


@dataclass(frozen=True)
class BufferView:
    """A memref value: which buffer it shows, and how."""

    buffer: Buffer
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int


def memref_parts(mlir_type: ir.Type) -> MemrefParts:
    """The shape, strides, offset and element type of a static memref type.

    Raises:
        Unsupported: a dynamic size, stride or offset, no strides at all, or an element type without a dtype.
    """
    if not isinstance(mlir_type, ir.MemRefType):
        raise Unsupported(f"a memref is needed here, not {mlir_type}")
    dtype = dtype_of(mlir_type.element_type)
    if dtype is None:
        raise Unsupported(f"elements of type {mlir_type.element_type} are not supported")
    if not mlir_type.has_static_shape:
        raise Unsupported(f"dynamic sizes are not supported: {mlir_type}")
    if 0 in mlir_type.shape:  # MLIR has no strides for it
        return MemrefParts(tuple(mlir_type.shape), row_major(tuple(mlir_type.shape)), 0, dtype)
    try:
        strides, offset = mlir_type.get_strides_and_offset()
    except RuntimeError as error:  # what the bindings say of an affine map that is no strides
        raise Unsupported(f"a layout without strides is not supported: {mlir_type}") from error
    dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
    if offset == dynamic or dynamic in strides:
        raise Unsupported(f"dynamic strides and offsets are not supported: {mlir_type}")
    return MemrefParts(tuple(mlir_type.shape), tuple(strides), offset, dtype)


def _elements(dense: ir.DenseElementsAttr) -> np.ndarray:
    """The elements of ``dense`` as buffers hold them."""
    narrow = narrow_float(dense.type)
    value = np.asarray(dense) if narrow is None else narrow_elements(dense, narrow)
    if value.dtype.kind in "iu" and dtype_of(dense.type.element_type) == np.bool_:
        return value.astype(np.bool_)
    return value


def initial_value(variable: ir.Operation, row: int = 0) -> np.ndarray | None:
    """The array that an ``ipu.variable`` begins with, or the variable that is a ``row`` of a buffer; or None."""
    init = variable.attributes.get("init", None)
    return None if init is None else _elements(init[row] if isinstance(init, ir.ArrayAttr) else init)


def constant_buffer(symbol: str, definition: ir.Operation, mlir_type: ir.Type) -> BufferView:
    """The buffer of a ``memref.global``.

    Raises:
        Unsupported: no initial value, or a value that Python cannot read.
    """
    parts = memref_parts(mlir_type)
    initial = definition.attributes.get("initial_value")
    if not isinstance(initial, ir.DenseElementsAttr):
        raise Unsupported(f"the value of @{symbol} is not dense data in the module")
    narrow = narrow_float(mlir_type)
    value = _elements(initial)
    if is_splat := initial.is_splat and parts.elements > 0:
        value = value.flat[:1]
    if value.dtype.itemsize != parts.dtype.itemsize:
        raise Unsupported(f"the value of @{symbol} has elements of {value.dtype}, not {parts.dtype}")
    flat = np.ascontiguousarray(value).reshape(-1).view(parts.dtype)
    if is_splat:  # one element stands for all until a run needs them
        flat = np.broadcast_to(flat, (parts.elements,))
    name = identifier(symbol.lstrip("_"))
    buffer = Buffer(
        f"const_{name}" if not name[:1].isalpha() else name,
        parts.elements,
        parts.dtype,
        Role.CONSTANT,
        parts.shape,
        flat,
        narrow=narrow,
    )
    return BufferView(buffer, parts.shape, parts.strides, parts.offset)
