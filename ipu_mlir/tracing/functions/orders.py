"""Sorts, and what is made of them: by counting what comes before each element, which the compiler makes a rank."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ipu_mlir.dialects import linalg
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.support.linalg_builders import generic, identity_map
from ipu_mlir.specs.tensor_types import element_type, is_of_ml_dtypes, kind_of
from ipu_mlir.tracing import views
from ipu_mlir.tracing.codelets import apply_codelet
from ipu_mlir.tracing.elements.reading import gather_along
from ipu_mlir.tracing.elementwise import as_float, astype, elementwise, where
from ipu_mlir.tracing.emit import Loop, constant, empty, filled, index_constant, structured
from ipu_mlir.tracing.errors import TraceTypeError, TraceValueError
from ipu_mlir.tracing.functions.arranging import moveaxis
from ipu_mlir.tracing.graph import Symbol
from ipu_mlir.tracing.operands import common_dtype, tensor, trace_of
from ipu_mlir.tracing.pairs import is_complex
from ipu_mlir.tracing.scalar_ops import like
from ipu_mlir.tracing.widths import has_numpy_widths

arith, scf = upstream("arith"), upstream("scf")
tensor_dialect = upstream("tensor")
_INT = arith.CmpIPredicate

_MOST_COUNTED = 1 << 20  # comparisons that take no longer than a binary search, with its rounds


def sort(a: Any, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: bool | None = None) -> Any:
    if order is not None:
        raise TraceTypeError("np.sort while tracing: order= is for records, which programs do not have")
    flat, along = _flat(a, axis, "sort")
    if is_complex(flat):
        return gather_along(flat, _complex_order(flat, along), along)
    return _put_in_order(_ranks(_key(flat), along), flat, along)


def argsort(a: Any, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: bool | None = None) -> Any:
    """Always stable."""
    if order is not None:
        raise TraceTypeError("np.argsort while tracing: order= is for records, which programs do not have")
    flat, along = _flat(a, axis, "argsort")
    if is_complex(flat):
        return _complex_order(flat, along)
    return _put_in_order(_ranks(_key(flat), along), _positions(flat, along), along)


def _complex_order(value: Any, along: int) -> Any:
    """By real parts, equal ones by imaginary parts; NaN is last, one in the real part behind one in the other."""
    real, imaginary = np.real(value), np.imag(value)
    unordered = 2 * astype(np.isnan(real), np.int8) + astype(np.isnan(imaginary), np.int8)
    return lexsort((imaginary, real, unordered), along)


def argsort_descending(a: Any, axis: int = -1) -> Any:
    """The stable order from the greatest element to the least; NaN comes first."""
    along = views.axis_of("argsort", a, axis)
    return _put_in_order(_ranks(~_key(a), along), _positions(a, along), along)


def argtop(a: Any, count: int, axis: int = -1, largest: bool = True) -> Any:
    """The places of the first ``count`` elements from the greatest, or from the least, on; NaN counts as greatest."""
    along = views.axis_of("argtop", a, axis)
    if not count or not a.size:
        return _positions(a, along)[(*[slice(None)] * along, slice(0, count))]
    keys = moveaxis(_key(a) if largest else ~_key(a), along, -1)
    (found,) = apply_codelet("top", "top_k", keys, types=[np.dtype(np.int32)], k=count)
    return moveaxis(found, -1, along)


def partition(a: Any, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None) -> Any:
    """All of it is sorted, which is a partition at every place."""
    _checked_kth(a, kth, axis)
    return sort(a, axis, order=order)


def argpartition(a: Any, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None) -> Any:
    """All of it is sorted, which is a partition at every place."""
    _checked_kth(a, kth, axis)
    return argsort(a, axis, order=order)


def lexsort(keys: Any, axis: int = -1) -> Any:
    """By the last key first; each sort is stable."""
    given = list(keys) if isinstance(keys, list | tuple) else [keys[place] for place in range(keys.shape[0])]
    trace = trace_of(given)
    tensors = [tensor(trace, each) for each in given]
    along = views.axis_of("lexsort", tensors[0], axis)
    found = argsort(tensors[0], along)
    for key in tensors[1:]:
        found = gather_along(found, argsort(gather_along(key, found, along), along), along)
    return found


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    """The number of elements of ``a`` that come before each of ``v``."""
    if side not in ("left", "right"):
        raise TraceValueError(f"searchsorted: the side is 'left' or 'right', got {side!r}")
    trace = trace_of((a, v, sorter))
    a, v = tensor(trace, a), tensor(trace, v)
    if len(a.shape) != 1:
        raise TraceValueError(f"searchsorted in {a}: give a vector")
    if sorter is not None:
        a = gather_along(a, tensor(trace, sorter), 0)
    common = common_dtype([a, v])
    return _count_before(_key(astype(a, common)), _key(astype(v, common)), side)


def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """``bins`` are known, for whether they rise or fall decides what is counted."""
    if isinstance(bins, Symbol):
        raise TraceTypeError(
            "digitize while tracing: bins have to be known numbers; use np.searchsorted for rising ones"
        )
    known = np.asarray(bins)
    falls = known.size > 1 and known[0] > known[-1]
    if (np.diff(known[::-1] if falls else known) < 0).any():
        raise TraceValueError("digitize: bins have to rise or to fall")
    if not falls:
        return searchsorted(known, x, "left" if right else "right")
    return known.size - searchsorted(known[::-1], x, "right" if right else "left")


def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *, kind: Any = None
) -> Any:
    trace = trace_of((element, test_elements))
    element, others = tensor(trace, element), views.reshape(tensor(trace, test_elements), (-1,))
    found = np.any(element[..., None] == others, axis=-1)
    return ~found if invert else found


def median(a: Any, axis: Any = None, *, overwrite_input: bool = False, keepdims: bool = False) -> Any:
    return quantile(a, 0.5, axis, keepdims=keepdims)


def percentile(
    a: Any, q: Any, axis: Any = None, *, overwrite_input: bool = False, method: str = "linear", keepdims: bool = False
) -> Any:
    return quantile(a, _hundredths(q), axis, method=method, keepdims=keepdims)


def quantile(
    a: Any, q: Any, axis: Any = None, *, overwrite_input: bool = False, method: str = "linear", keepdims: bool = False
) -> Any:
    return _quantile("quantile", a, q, axis, method, keepdims, counts=None)


def nanmedian(a: Any, axis: Any = None, *, overwrite_input: bool = False, keepdims: bool = False) -> Any:
    return nanquantile(a, 0.5, axis, keepdims=keepdims)


def nanpercentile(
    a: Any, q: Any, axis: Any = None, *, overwrite_input: bool = False, method: str = "linear", keepdims: bool = False
) -> Any:
    return nanquantile(a, _hundredths(q), axis, method=method, keepdims=keepdims)


def nanquantile(
    a: Any, q: Any, axis: Any = None, *, overwrite_input: bool = False, method: str = "linear", keepdims: bool = False
) -> Any:
    return _quantile("nanquantile", a, q, axis, method, keepdims, counts=lambda flat: np.sum(~np.isnan(flat), axis=-1))


def _hundredths(q: Any) -> Any:
    return q / 100 if isinstance(q, Symbol) else np.true_divide(q, 100)


def _quantile(
    name: str, a: Any, q: Any, axis: Any, method: str, keepdims: bool, counts: Callable[[Any], Any] | None
) -> Any:
    """Between the two elements around each place ``q``, of all elements, or of the first ``counts`` in their order."""
    methods = {"linear": None, "lower": np.floor, "higher": np.ceil, "nearest": np.rint, "midpoint": None}
    if method not in methods:
        raise TraceTypeError(f"np.{name} while tracing: method {method!r} is not supported; use {', '.join(methods)}")
    trace = trace_of((a, q))
    a = tensor(trace, a)
    a = as_float(a)
    axes = tuple(range(a.ndim)) if axis is None else tuple(views.axis_of(name, a, each) for each in np.atleast_1d(axis))
    rest = [each for each in range(a.ndim) if each not in axes]
    rows, length = [a.shape[each] for each in rest], math.prod(a.shape[each] for each in axes)
    flat = views.reshape(views.transpose(a, [*rest, *axes]), (*rows, length))
    if not flat.shape[-1]:
        raise TraceValueError(f"{name} of {a}: of no elements there is none")
    ordered = sort(flat)
    wide = np.dtype(np.float64) if not isinstance(q, Symbol) else q.dtype
    last = (flat.shape[-1] - 1) if counts is None else np.maximum(counts(flat), 1) - 1
    fractions: Any = np.asarray(q, wide) if not isinstance(q, Symbol) else q
    if not isinstance(q, Symbol) and ((fractions < 0) | (fractions > 1)).any():
        raise TraceValueError(f"np.{name}: quantiles are from 0 to 1 (percentiles to 100), got {q}")
    shape = (*np.shape(fractions), *(1,) * len(rest))
    spread = fractions.reshape(shape)
    place = spread * (last if isinstance(last, int) else astype(last, wide))
    if methods[method] is not None:
        place = methods[method](place)
    low = np.floor(place)
    weight = place - low
    if method == "midpoint":
        weight = np.where(weight > 0, 0.5, 0.0)
    lower, upper = (_at_places(ordered, each) for each in (low, np.ceil(place)))
    takes_part = isinstance(q, Symbol) or (np.ndim(q) and has_numpy_widths())
    kind = np.result_type(a.dtype, wide) if takes_part else a.dtype
    gap = astype(upper - lower, kind)
    lower, upper = astype(lower, kind), astype(upper, kind)
    weight = astype(weight, kind) if isinstance(weight, Symbol) else np.asarray(weight, kind)
    between = where(weight < 0.5, lower + gap * weight, upper - gap * (1 - weight))
    found = where(weight == 0, lower, between)  # infinities have no difference
    if counts is None:  # NaN came last
        found = where(np.isnan(ordered[..., -1]), np.nan, found)
    if keepdims:
        found = views.reshape(found, (*np.shape(q), *(1 if at in axes else size for at, size in enumerate(a.shape))))
    return found


def _at_places(ordered: Symbol, places: Any) -> Any:
    """The elements of each row at ``places``, whose shape is ``(*quantiles, *rows)``, or 1 for all rows."""
    rows = ordered.shape[:-1]
    if not isinstance(places, Symbol):  # the same in every row
        extra = places.ndim - len(rows)
        picked = ordered[..., places.astype(np.int64).reshape(places.shape[:extra])]
        return moveaxis(picked, range(len(rows), picked.ndim), range(extra))
    extra = len(places.shape) - len(rows)
    index = views.broadcast_to(astype(places, np.int32), (*places.shape[:extra], *rows))
    behind = moveaxis(index, range(extra), range(len(rows), len(index.shape)))
    picked = gather_along(ordered, views.reshape(behind, (*rows, math.prod(places.shape[:extra]))), len(rows))
    picked = views.reshape(picked, (*rows, *places.shape[:extra]))
    return moveaxis(picked, range(len(rows), picked.ndim), range(extra))


def _flat(a: Any, axis: int | None, name: str) -> tuple[Any, int]:
    if axis is None:
        return views.reshape(a, (-1,)), 0
    return a, views.axis_of(name, a, axis)


def _checked_kth(a: Any, kth: Any, axis: int | None) -> None:
    size = a.size if axis is None else a.shape[views.axis_of("partition", a, axis)]
    if any(not -size <= each < size for each in np.atleast_1d(kth)):
        raise TraceValueError(f"partition of {a}: kth={kth} is out of bounds for {size} elements")


def _key(value: Any) -> Any:
    """Signed integers in the order of the elements of ``value``: NaN last, 0 and -0 the same."""
    dtype = value.dtype
    if is_of_ml_dtypes(dtype):
        return _key(astype(value, np.float32))
    kind = kind_of(dtype)
    if kind == "i":
        return value
    if kind == "c":
        raise TraceTypeError(f"{value}: complex numbers are only sorted; compare x.real, x.imag or np.abs(x)")
    result = np.dtype(np.int8) if kind == "b" else np.dtype(f"i{dtype.itemsize}")
    most = int(np.iinfo(result).max)

    def code(element: ir.Value) -> ir.Value:
        if kind == "b":
            return arith.extui(element_type(result), element)
        if kind == "u":
            return arith.xori(element, like(element, -most - 1))
        zero_has_no_sign = arith.addf(element, like(element, 0))
        bits = arith.bitcast(element_type(result), zero_has_no_sign)
        negative = arith.cmpi(_INT.slt, bits, like(bits, 0))
        ordered = arith.select(negative, arith.xori(bits, like(bits, most)), bits)
        return arith.select(arith.cmpf(arith.CmpFPredicate.UNO, element, element), like(bits, most), ordered)

    return elementwise(value.program, "key", [value], [dtype], result, code)


def _positions(value: Symbol, along: int) -> Any:
    """Where each element stands along an axis."""
    places = np.arange(value.shape[along]).reshape([-1 if axis == along else 1 for axis in range(len(value.shape))])
    return value.program.constant(np.ascontiguousarray(np.broadcast_to(places, value.shape)))


def _ranks(keys: Symbol, along: int) -> Any:
    """The number of elements before each one in a stable sort by ``keys``."""
    last = len(keys.shape)
    own = tuple(range(last))
    other = tuple(last if axis == along else axis for axis in own)
    loops = [*map(Loop, keys.shape), Loop(keys.shape[along], "reduction")]

    def code(mine: ir.Value, its: ir.Value, count: ir.Value) -> ir.Value:
        earlier = arith.cmpi(_INT.ult, linalg.IndexOp(last).result, linalg.IndexOp(along).result)
        tie = arith.andi(arith.cmpi(_INT.eq, its, mine), earlier)
        before = arith.ori(arith.cmpi(_INT.slt, its, mine), tie)
        return arith.select(before, arith.addi(count, like(count, 1)), count)

    return structured(keys.program, "rank", [(keys, own), (keys, other)], loops, own, np.dtype(np.int32), code, 0)


def _put_in_order(ranks: Symbol, values: Symbol, along: int) -> Any:
    """``values``, each where its rank says: a loop that puts one element after the other, which becomes a scatter."""
    shape, trace = values.shape, values.program
    if 0 in shape:
        return values

    def put(counters: list[ir.Value], into: ir.Value) -> ir.Value:
        if len(counters) == len(shape):
            rank = arith.index_cast(ir.IndexType.get(), tensor_dialect.ExtractOp(ranks.value, counters).result)
            element = tensor_dialect.ExtractOp(values.value, counters).result
            place = [rank if axis == along else counter for axis, counter in enumerate(counters)]
            return tensor_dialect.InsertOp(element, into, place).result
        zero, size, one = (index_constant(number) for number in (0, shape[len(counters)], 1))
        loop = scf.ForOp(zero, size, one, [into])
        with ir.InsertionPoint(loop.body):
            scf.YieldOp([put([*counters, loop.induction_variable], loop.inner_iter_args[0])])
        return loop.results[0]

    with trace.emit("sort"):
        if not shape:
            return values
        return trace.wrap(put([], empty(shape, values.dtype)), shape, values.dtype)


def _count_before(ordered: Symbol, values: Symbol, side: str) -> Any:
    """How many of ``ordered`` come before each value: all are counted where that is little, or a half is ruled out."""
    predicate, size = _INT.slt if side == "left" else _INT.sle, ordered.shape[0]
    if size * values.size > _MOST_COUNTED:
        return astype(_halved(ordered, values, predicate), np.int64)
    rank = len(values.shape)
    loops = [*map(Loop, values.shape), Loop(size, "reduction")]
    own = tuple(range(rank))

    def code(value: ir.Value, element: ir.Value, count: ir.Value) -> ir.Value:
        return arith.addi(count, arith.extui(count.type, arith.cmpi(predicate, element, value)))

    inputs = [(values, own), (ordered, (rank,))]
    return structured(values.program, "searchsorted", inputs, loops, own, np.dtype(np.int64), code, 0)


def _halved(ordered: Symbol, values: Symbol, predicate: Any) -> Any:
    """The same by a binary search: a round finds out whether half as many more elements come before a value."""
    size, shape, number = ordered.shape[0], values.shape, np.dtype(np.int32)

    def round_of(bit: ir.Value, found: ir.Value) -> ir.Value:
        left = arith.subi(constant(size.bit_length() - 1, number), arith.index_cast(found.type.element_type, bit))
        more = arith.shli(constant(1, number), left)

        def code(value: ir.Value, count: ir.Value) -> ir.Value:
            larger = arith.addi(count, more)
            fits = arith.cmpi(_INT.ule, larger, like(count, size))
            place = arith.subi(arith.select(fits, larger, like(count, size)), like(count, 1))
            element = tensor_dialect.ExtractOp(ordered.value, [arith.index_cast(ir.IndexType.get(), place)]).result
            return arith.select(arith.andi(fits, arith.cmpi(predicate, element, value)), larger, count)

        inputs, maps = [values.value, found], [identity_map(len(shape))] * 3
        outs, parallel = [empty(shape, number)], [True] * len(shape)
        return generic(inputs, outs, maps, parallel, lambda each: [code(*each[:2])]).results[0]

    with values.program.emit("searchsorted"):
        begin = filled(shape, number, 0)
        loop = scf.ForOp(*map(index_constant, (0, size.bit_length(), 1)), [begin])
        with ir.InsertionPoint(loop.body):
            scf.YieldOp([round_of(loop.induction_variable, loop.inner_iter_args[0])])
        return values.program.wrap(loop.results[0], shape, number)
