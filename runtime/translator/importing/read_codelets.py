"""Ops that are one call on whole arrays: library codelets, and what programs ask of the host."""

from dataclasses import replace
from typing import TYPE_CHECKING

from ipu_mlir.dialects.analysis.host_calls import HostCall
from ipu_mlir.dialects.analysis.loop_nest import loop_nest
from ipu_mlir.dialects.codelets.first_extreme import FIRST_EXTREMES
from ipu_mlir.dialects.codelets.library import LIBRARY
from ipu_mlir.dialects.codelets.update_slice import UPDATE_SLICE
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.runtime.numeric.narrow_floats import round_to
from ipu_mlir.runtime.translator.importing.parallel_copies import in_memory
from ipu_mlir.runtime.translator.importing.read_body import Unsupported
from ipu_mlir.runtime.translator.importing.read_memref import BufferView
from ipu_mlir.runtime.translator.importing.read_slice_update import read_slice_update
from ipu_mlir.runtime.translator.importing.walk import origin_of
from ipu_mlir.runtime.translator.importing.whole_views import whole
from ipu_mlir.runtime.translator.statements.access import Access
from ipu_mlir.runtime.translator.statements.expression import Apply, Read
from ipu_mlir.runtime.translator.statements.statements import (
    Elementwise,
    FirstExtreme,
    LibraryCall,
    Origin,
    Statement,
    Transfer,
)

if TYPE_CHECKING:
    from ipu_mlir.runtime.translator.importing.read import Reader

_FIRST_EXTREMES = frozenset(codelet.name for codelet in FIRST_EXTREMES)


def read_host_call(reader: "Reader", op: ir.Operation, call: HostCall) -> None:
    """Something that the host is asked for, or gets."""
    filled, origin = call.filled_by(op), origin_of(op)
    given = [_transferred(reader, value, origin) for value in call.read_by(op)]
    taken = [] if filled is None else [_transferred(reader, filled, origin)]
    statement = Transfer(
        (),
        origin,
        op.name.removeprefix("ipu."),
        tuple(access for access, _ in given),
        tuple(access for access, _ in taken),
        tuple(shape for _, shape in (*given, *taken)),
        (False,) * len(taken),
        call.symbol_of(op),
        call.number_of(op),
    )
    reader.statements.append(statement)


def _transferred(reader: "Reader", value: ir.Value, origin: Origin) -> tuple[Access, tuple[int, ...]]:
    if value in reader.scalars:
        return in_memory(reader, reader.scalars[value], origin), ()
    return whole(reader.views[value]), reader.views[value].shape


def read_library_call(reader: "Reader", op: ir.Operation) -> None:
    """A structured op whose vertices run a library codelet."""
    name, origin = ir.StringAttr(op.attributes["library_call"]).value, origin_of(op)
    if name not in LIBRARY:
        raise Unsupported(f"no library codelet is called '{name}'; there are: {', '.join(sorted(LIBRARY))}")
    if name == UPDATE_SLICE.name:
        nest = loop_nest(op)
        assert nest is not None, "the verifier of vertices asks for a loop nest"
        reader.statements += read_slice_update(op, nest, reader.views, reader.scalars, origin)
        return
    views = [reader.views[operand] for operand in op.operands]
    if name in _FIRST_EXTREMES:
        source, place = (whole(view) for view in views)
        found = replace(place, strides=(place.strides[0], 0, place.strides[1]))
        is_reduced = (False, True, False)
        reader.statements.append(FirstExtreme(views[0].shape, origin, is_reduced, name, source, found))
        return
    count = ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])[0]
    arguments = list(op.regions[0].blocks[0].arguments)[count:]
    updated = tuple(next(iter(argument.uses), None) is not None for argument in arguments)
    accesses = tuple(map(whole, views))
    shapes = tuple(view.shape for view in views)
    call = LibraryCall((), origin, name, accesses[:count], accesses[count:], shapes, updated)
    reader.statements.append(call)
    if LIBRARY[name].rounds:
        reader.statements += [_rounded(view, origin) for view in views[count:] if view.buffer.narrow is not None]


def _rounded(view: BufferView, origin: Origin) -> Statement:
    """The numbers in ``view``, which are of a type with fewer bits than f32, rounded to it in place."""
    numbers = Read(view.buffer.dtype, whole(view))
    value = Apply(view.buffer.dtype, round_to(str(view.buffer.narrow)), (numbers,))
    return Elementwise(view.shape, origin, (whole(view),), (value,))
