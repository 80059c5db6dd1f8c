"""Reductions with one ufunc: a product with ones, ``ufunc.reduce``, or a chain over shifted windows."""

from functools import lru_cache
from itertools import product as points_of
from math import prod

import numpy as np

from ipu_mlir.runtime.translator.codegen.schedule import COPY, Axes, Schedule, View, template
from ipu_mlir.runtime.translator.statements.access import Access, Buffer, Role, merged_loops
from ipu_mlir.runtime.translator.statements.statements import FirstExtreme, Reduce
from ipu_mlir.runtime.translator.statements.types import unsigned


def emit_reduction(statement: Reduce, schedule: Schedule) -> None:
    """Append the calls of ``statement``."""
    axes = _axes(statement, schedule)
    reduced = tuple(statement.reduced[group[0]] for group in axes.groups)
    if _emit_product_with_ones(statement, axes, reduced, schedule):
        return
    if _emit_window(statement, axes, reduced, schedule):
        return
    dtype = statement.source.buffer.dtype
    seen = unsigned(dtype) if statement.unsigned else dtype
    source = axes.full_view(statement.source, seen)
    out = _kept(axes, reduced, statement.out, seen)
    where = [i for i, r in enumerate(reduced) if r]
    axis = str(where[0]) if len(where) == 1 else f"({', '.join(map(str, where))})"
    # NumPy would sum small integers in a wider type unless told
    kind = f"'{seen.str[1:]}'" if seen.kind in "iub" else "None"
    schedule.call(f"{statement.call}.reduce({{0}}, {axis}, {kind}, {{out}})", (source,), out, statement.origin)


def emit_first_extreme(statement: FirstExtreme, schedule: Schedule) -> None:
    """Append the call of ``statement``."""
    axes = _axes(statement, schedule)
    reduced = tuple(statement.reduced[group[0]] for group in axes.groups)
    assert sum(reduced) == 1, "what is compared is evenly spaced"
    out = _kept(axes, reduced, statement.out, statement.out.buffer.dtype)
    call = f"{statement.call}({{0}}, {reduced.index(True)}, {{out}})"
    schedule.call(call, (axes.full_view(statement.source),), out, statement.origin)


def _axes(statement: Reduce, schedule: Schedule) -> Axes:
    """Axes in the order of the source's memory; loops merge if both sides allow and both or neither are reduced."""
    order = sorted(range(len(statement.extents)), key=lambda loop: (-statement.source.strides[loop], loop))
    extents = tuple(statement.extents[loop] for loop in order)
    kinds = [statement.reduced[loop] for loop in order]
    first = None if schedule.block_loop is None else order.index(schedule.block_loop)
    strides = [[access.strides[loop] for loop in order] for access in (statement.source, statement.out)]
    groups = merged_loops(extents, strides, kinds, first)
    named = tuple(tuple(order[i] for i in group) for group in groups)
    return Axes(statement.extents, named, schedule.block_loop, schedule.block_units)


def _kept(axes: Axes, reduced: tuple[bool, ...], out: Access, dtype: np.dtype) -> View:
    """The result's array, with the axes that are not reduced."""
    strides = axes.strides(out)
    kept = [i for i, r in enumerate(reduced) if not r]
    axis, step = axes.block_of(tuple(kept))
    shape = tuple(axes.shape[i] for i in kept)
    return View(out.buffer, dtype, out.offset, shape, tuple(strides[i] for i in kept), axis, step)


@lru_cache(maxsize=256)
def ones(count: int, dtype: np.dtype) -> View:
    """A constant row of ones."""
    buffer = Buffer(f"ones{count}", count, dtype, Role.CONSTANT, (count,), np.ones(count, dtype))
    return View(buffer, dtype, 0, (count,), (1,))


def _emit_product_with_ones(statement: Reduce, axes: Axes, reduced: tuple[bool, ...], schedule: Schedule) -> bool:
    """Sums of the rows or columns of a matrix."""
    dtype = statement.source.buffer.dtype
    if statement.call != "add" or dtype not in (np.float32, np.float64) or len(reduced) != 2 or sum(reduced) != 1:
        return False
    strides = axes.strides(statement.source)
    length = axes.shape[reduced.index(True)]
    if strides[1] != 1 or strides[0] < axes.shape[1] or length > schedule.options.ones_max_length:
        return False
    source = axes.full_view(statement.source)
    out = _kept(axes, reduced, statement.out, dtype)
    factors = (source, ones(length, dtype)) if reduced[1] else (ones(length, dtype), source)
    schedule.call(template("matmul", 2), factors, out, statement.origin)
    return True


def _emit_window(statement: Reduce, axes: Axes, reduced: tuple[bool, ...], schedule: Schedule) -> bool:
    """A few taps per result, results side by side in memory: one ufunc call per tap on whole planes."""
    taps = prod(n for n, r in zip(axes.shape, reduced, strict=True) if r)
    kept = prod(n for n, r in zip(axes.shape, reduced, strict=True) if not r)
    if not reduced or reduced[-1] or taps > schedule.options.window_max_taps or kept < 1024 or reduced[0]:
        return False
    dtype = statement.source.buffer.dtype
    seen = unsigned(dtype) if statement.unsigned else dtype
    strides = axes.strides(statement.source)
    out = _kept(axes, reduced, statement.out, seen)
    tap_views = []
    for point in points_of(*(range(n) for n, r in zip(axes.shape, reduced, strict=True) if r)):
        offset = statement.source.offset
        offset += sum(
            i * s for i, s in zip(point, (s for s, r in zip(strides, reduced, strict=True) if r), strict=True)
        )
        tap = Access(statement.source.buffer, offset, statement.source.strides)
        tap_views.append(_kept(axes, reduced, tap, seen))
    if len(tap_views) == 1:
        schedule.call(COPY, (tap_views[0],), out, statement.origin)
        return True
    schedule.call(template(statement.call, 2), (tap_views[0], tap_views[1]), out, statement.origin)
    for tap in tap_views[2:]:
        schedule.call(template(statement.call, 2), (out, tap), out, statement.origin)
    return True
