"""``x[...]`` on traced tensors, and slices that begin anywhere."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ipu_mlir.dialects import linalg
from ipu_mlir.dialects.analysis.control_flow import counter_of
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.tracing import shapes
from ipu_mlir.tracing.elements.keys import Array, Selection, selection
from ipu_mlir.tracing.elementwise import broadcast_index
from ipu_mlir.tracing.emit import Index, Loop, index_constant, structured, without_elements
from ipu_mlir.tracing.errors import TraceValueError
from ipu_mlir.tracing.graph import Symbol
from ipu_mlir.tracing.indexing import runs, sliced, take
from ipu_mlir.tracing.numbers import number_as_index, number_of
from ipu_mlir.tracing.pairs import complex_of, is_complex, part
from ipu_mlir.tracing.views import reshape, transpose

arith, tensor = upstream("arith"), upstream("tensor")

_MOST_PIECES = 16
"""Slices that one array of integers may become, for the route of each is fixed; beyond it becomes a gather, for which
the whole dimension lies on every tile that picks from it."""


def getitem(value: Symbol, key: Any) -> Any:
    """``value[key]``, by NumPy's rules.

    A traced index that is negative counts from the end; one outside is taken for the nearest.

    Raises:
        TraceIndexError: out of range, too many indices, or masks and arrays of shapes that do not fit.
        TraceTypeError: an index whose number of elements is not known while tracing, or none at all.
    """
    chosen = selection(value, key)
    if 0 in chosen.shape:
        return without_elements(value.program, "index", chosen.shape, value.dtype)
    windows = sliced(value, chosen.windows)
    if not chosen.arrays:
        return reshape(windows, chosen.shape)
    if is_complex(value):
        return complex_of(*(getitem(part(value, which), key) for which in (0, 1)))
    if all(isinstance(array, Symbol) and not array.shape for array in chosen.arrays.values()):
        return reshape(_at_numbers(windows, chosen.arrays), chosen.shape)
    return reshape(_picked(windows, chosen), chosen.shape)


def _at_numbers(value: Symbol, arrays: Mapping[int, Any]) -> Any:
    """The slice of ``value`` with size 1 where ``arrays`` has a number."""
    sizes = tuple(1 if axis in arrays else size for axis, size in enumerate(value.shape))
    with value.program.emit("index"):
        starts = [index_of(arrays[axis], [], size) if axis in arrays else 0 for axis, size in enumerate(value.shape)]
        return slice_at(value, starts, sizes)


def slice_at(value: Symbol, starts: Sequence[ir.Value | int], sizes: shapes.Shape) -> Any:
    """The elements of ``value`` from ``starts`` on, at the current insertion point."""
    trace = value.program
    op = tensor.ExtractSliceOp(trace.tensor_type(sizes, value.dtype), value.value, *slice_operands(starts, sizes))
    return trace.wrap(op.result, sizes, value.dtype)


def slice_operands(starts: Sequence[ir.Value | int], sizes: Sequence[int]) -> tuple[Any, ...]:
    """The operands of a slice op behind its tensors: places known at run time, and all that is known now."""
    somewhere = ir.ShapedType.get_dynamic_stride_or_offset()
    known = [start if isinstance(start, int) else somewhere for start in starts]
    return [start for start in starts if not isinstance(start, int)], [], [], known, list(sizes), [1] * len(sizes)


def index_of(positions: Symbol, at: Sequence[ir.Value], size: int) -> ir.Value:
    """Element ``at`` of ``positions`` as an index into a dimension of ``size``, at the current insertion point."""
    number = tensor.ExtractOp(positions.value, list(at)).result if at else number_of(positions.value)
    return counted_from_the_end(_as_index(number, positions), size)


def _as_index(scalar: ir.Value, whose: Symbol) -> ir.Value:
    """An element of ``whose`` as an index."""
    if whose.dtype.kind == "u":
        return arith.index_castui(ir.IndexType.get(), scalar)
    return number_as_index(scalar)


def counted_from_the_end(index: ir.Value, size: int) -> ir.Value:
    """``index``, with ``size`` added where it is negative, at the current insertion point."""
    if _counts_from_the_front(index):
        return index
    negative = arith.cmpi(arith.CmpIPredicate.slt, index, index_constant(0))
    return arith.select(negative, arith.addi(index, index_constant(size)), index)


def _counts_from_the_front(index: ir.Value) -> bool:
    """True if ``index`` is the counter of a loop that begins at a number that is known and not negative."""
    counted = counter_of(index.owner) if isinstance(index.owner, ir.Block) else None
    if counted is None or counted[0] != index:
        return False
    begin = counted[1].operands[0].owner
    return (
        not isinstance(begin, ir.Block)
        and begin.name == "arith.constant"
        and ir.IntegerAttr(begin.attributes["value"]).value >= 0
    )


def _picked(value: Symbol, chosen: Selection) -> Any:
    """The elements that arrays pick, between the other dimensions; those with neither have size 1 and are left out."""
    before, after = chosen.axes
    (axis, array), *others = chosen.arrays.items()
    if not others and isinstance(array, np.ndarray) and array.ndim == 1 and len(runs(array.tolist())) <= _MOST_PIECES:
        rest = [each for each in range(len(value.shape)) if each not in (*before, axis, *after)]
        return transpose(take(value, array.tolist(), axis), [*before, axis, *after, *rest])
    sizes = (*(value.shape[each] for each in before), *chosen.picked, *(value.shape[each] for each in after))
    loop_of = {each: loop for loop, each in enumerate(before)}
    loop_of |= {each: loop for loop, each in enumerate(after, start=len(before) + len(chosen.picked))}
    indices = {
        each: (array, _shifted(broadcast_index(array.shape, chosen.picked), len(before)))
        for each, array in chosen.arrays.items()
    }
    return gather("index", value, sizes, indices, loop_of)


def gather_along(value: Symbol, positions: Symbol, axis: int) -> Any:
    """The elements at ``positions`` along ``axis``; the other dimensions of both broadcast.

    Raises:
        TraceValueError: they do not.
    """
    rest = tuple(1 if each == axis else size for each, size in enumerate(value.shape))
    try:
        sizes = shapes.broadcast_shapes([rest, positions.shape])
    except ValueError as error:
        raise TraceValueError(f"take_along_axis of {value} at {positions}: {error}") from error
    if 0 in sizes:
        return without_elements(value.program, "take_along_axis", sizes, value.dtype)
    if is_complex(value):
        return complex_of(*(gather_along(part(value, which), positions, axis) for which in (0, 1)))
    loop_of = {each: each for each, size in enumerate(value.shape) if each != axis and size > 1}
    indices = {axis: (positions, broadcast_index(positions.shape, sizes))}
    return gather("take_along_axis", value, sizes, indices, loop_of)


def gather(
    name: str,
    value: Symbol,
    sizes: shapes.Shape,
    indices: Mapping[int, tuple[Array, Index]],
    loop_of: Mapping[int, int],
) -> Any:
    """A tensor of shape ``sizes`` whose elements are those of ``value`` at places that follow from theirs.

    Args:
        indices: by dimension of ``value``, positions in it and the loops over ``sizes`` that index them.
        loop_of: by dimension, the loop that is the position. In dimensions that have neither it is 0.
    """
    trace = value.program
    symbols = [array if isinstance(array, Symbol) else trace.constant(array) for array, _ in indices.values()]

    def code(*scalars: ir.Value) -> ir.Value:
        found = {
            axis: counted_from_the_end(_as_index(scalar, symbol), value.shape[axis])
            if isinstance(indices[axis][0], Symbol)
            else number_as_index(scalar)
            for axis, symbol, scalar in zip(indices, symbols, scalars, strict=False)
        }
        found |= {axis: linalg.IndexOp(loop).result for axis, loop in loop_of.items()}
        place = [found[axis] if axis in found else index_constant(0) for axis in range(len(value.shape))]
        return tensor.ExtractOp(value.value, place).result

    inputs = [(symbol, index) for symbol, (_, index) in zip(symbols, indices.values(), strict=True)]
    loops = [Loop(size) for size in sizes]
    return structured(trace, name, inputs, loops, tuple(range(len(loops))), value.dtype, code)


def _shifted(index: Index, loops: int) -> Index:
    return tuple(loop + loops if isinstance(loop, int) else loop for loop in index)
