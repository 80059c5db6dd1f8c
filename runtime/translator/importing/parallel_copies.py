"""Values that blocks of statements yield: buffers and scalars of their own, and the copies into those."""

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.runtime.translator.importing.read_body import Unsupported
from ipu_mlir.runtime.translator.importing.read_memref import BufferView, memref_parts
from ipu_mlir.runtime.translator.importing.selected_buffers import buffers_of
from ipu_mlir.runtime.translator.importing.whole_views import copy_of
from ipu_mlir.runtime.translator.statements.access import Access, Buffer, Role, row_major
from ipu_mlir.runtime.translator.statements.control import Bound
from ipu_mlir.runtime.translator.statements.expression import Const, Expression, Read, reads
from ipu_mlir.runtime.translator.statements.statements import Elementwise, Origin, Statement
from ipu_mlir.runtime.translator.statements.types import dtype_of, narrow_float

if TYPE_CHECKING:
    from ipu_mlir.runtime.translator.importing.read import Reader

Value = BufferView | Expression


def value_of(reader: "Reader", value: ir.Value) -> Value:
    """The view or expression that ``value`` of the IR is known as."""
    return reader.views[value] if value in reader.views else reader.scalars[value]


def bind(reader: "Reader", names: Sequence[ir.Value], values: Sequence[Value]) -> None:
    """``names`` of the IR are known as ``values`` from now on."""
    for name, value in zip(names, values, strict=True):
        if isinstance(value, BufferView):
            reader.views[name] = value
        else:
            reader.scalars[name] = value


def own(reader: "Reader", mlir_type: ir.Type, name: str) -> Value:
    """A buffer for values of ``mlir_type`` that are passed; ``mutable``, as several copies write it."""
    if isinstance(mlir_type, ir.MemRefType):
        parts = memref_parts(mlir_type)
        reach = 1 + parts.offset + sum((n - 1) * s for n, s in zip(parts.shape, parts.strides, strict=True))
        elements = reach if parts.elements else 0
        fields = {"mutable": True, "home": reader.path, "narrow": narrow_float(mlir_type)}
        buffer = Buffer(name, elements, parts.dtype, Role.TEMPORARY, parts.shape, **fields)
        return BufferView(buffer, parts.shape, parts.strides, parts.offset)
    dtype = dtype_of(mlir_type)
    if dtype is None:
        raise Unsupported(f"values of type {mlir_type} are not supported")
    buffer = Buffer(name, 1, dtype, Role.TEMPORARY, (), mutable=True, home=reader.path)
    return Read(dtype, Access(buffer, 0, ()))


def copy_in_parallel(reader: "Reader", targets: Sequence[Value], values: Sequence[Value], origin: Origin) -> None:
    """Copy all ``values`` into ``targets`` at once: a value that lies in one of the targets is set aside first."""
    owned = {_buffers(target)[0] for target in targets}
    pairs = [(target, value) for target, value in zip(targets, values, strict=True) if not _same(target, value)]
    late: list[tuple[Value, Value]] = []
    for target, value in pairs:
        if len(pairs) > 1 and owned.intersection(memory_of(reader, value)):
            aside = _aside(reader, value)
            reader.statements.append(_copy(aside, value, origin))
            value = aside
        late.append((target, value))
    reader.statements.extend(_copy(target, value, origin) for target, value in late)


def _same(target: Value, value: Value) -> bool:
    if isinstance(target, Read) and isinstance(value, Read):
        return target.access == value.access
    return target == value


def _buffers(value: Value) -> list[Buffer]:
    if isinstance(value, BufferView):
        return [value.buffer]
    return [access.buffer for access in reads([value])]


def memory_of(reader: "Reader", value: Value) -> set[Buffer]:
    """The buffers in which ``value`` may lie."""
    found: set[Buffer] = set()
    pending = _buffers(value)
    while pending:
        buffer = pending.pop()
        found.add(buffer)
        pending += buffers_of(reader.choices.get(buffer))
    return found


def _aside(reader: "Reader", value: Value) -> Value:
    if isinstance(value, BufferView):
        dtype, shape = value.buffer.dtype, value.shape
        buffer = Buffer("aside", prod(shape), dtype, Role.TEMPORARY, shape, home=reader.path)
        return BufferView(buffer, shape, row_major(shape), 0)
    buffer = Buffer("aside", 1, value.dtype, Role.TEMPORARY, (), home=reader.path)
    return Read(value.dtype, Access(buffer, 0, ()))


def _copy(target: Value, value: Value, origin: Origin) -> Statement:
    if isinstance(target, BufferView):
        assert isinstance(value, BufferView), "a buffer is passed to a buffer"
        return copy_of(value, target, origin)
    assert isinstance(target, Read) and isinstance(value, Expression), "a scalar is passed to a scalar"
    return Elementwise((), origin, (target.access,), (value,))


def in_memory(reader: "Reader", value: Expression, origin: Origin) -> Access:
    """``value`` in memory."""
    if isinstance(value, Read) and not value.access.buffer.mutable and value.access.buffer.elements == 1:
        return value.access
    held = Access(Buffer("scalar", 1, value.dtype, Role.TEMPORARY, (), home=reader.path), 0, ())
    reader.statements.append(Elementwise((), origin, (held,), (value,)))
    return held


def bound(reader: "Reader", value: Expression, origin: Origin, unsigned: bool) -> Bound:
    """A limit of a loop: a number that is known, or where it lies in memory."""
    if isinstance(value, Const):
        return int(value.value) % 2 ** (8 * value.dtype.itemsize) if unsigned else int(value.value)
    return in_memory(reader, value, origin)
