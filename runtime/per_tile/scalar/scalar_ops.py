"""Every operation on scalars that a body may hold: its name, and how its NumPy function is made.

``SCALAR_OPS[name](op)`` gives a function of arrays that broadcast with each other, with attributes and result type of
``op`` built in. It returns one array, or a tuple for an op with several results. A float has been rounded to its type.
"""

from collections.abc import Callable
from functools import partial, reduce
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.runtime.per_tile.scalar.affine import evaluate
from ipu_mlir.runtime.per_tile.scalar.element_types import dtype_of, narrow_float
from ipu_mlir.runtime.per_tile.scalar.float_ops import FLOAT_OPS
from ipu_mlir.runtime.per_tile.scalar.integer_ops import INTEGER_OPS, signed, unsigned, wrap
from ipu_mlir.runtime.per_tile.scalar.narrow_floats import bits_of, from_bits, from_integers, round_to

Array = np.ndarray[Any, Any]
Function = Callable[..., Any]


def constant_value(op: ir.OpView) -> np.generic:
    """The value of a scalar ``arith.constant``."""
    value = op.attributes["value"].maybe_downcast().value
    name = narrow_float(op.result.type)
    return np.float32(round_to(name, value)) if name else dtype_of(op.result.type).type(value)


def _constant(op: ir.OpView) -> Function:
    value = constant_value(op)
    return lambda: value


def _rounded(make: Callable[[ir.OpView], Function]) -> Callable[[ir.OpView], Function]:
    """Floats of 16 and 8 bits are computed in float32, and in some operations all in f64: the result is rounded."""

    def make_rounded(op: ir.OpView) -> Function:
        function, to_type = make(op), _to_type(op.results[0].type)
        return lambda *operands: to_type(function(*map(_not_half, operands)))

    return make_rounded


def exact_result(op: ir.OpView) -> Function | None:
    """The function of ``op`` in float32, before its result is rounded to a narrower type; None if it computes none."""
    name = op.operation.name
    if name in FLOAT_OPS:
        function = FLOAT_OPS[name](op)
        return lambda *operands: function(*map(_not_half, operands))
    if name == "arith.truncf":
        return _not_half
    read = {"arith.sitofp": signed, "arith.uitofp": unsigned}.get(name)
    return None if read is None else lambda x: read(x).astype(np.float32)


def _not_half(x: Array) -> Array:
    """``x``, in float32 if it is f16: a function that takes several steps would round after each."""
    return x.astype(np.float32) if x.dtype == np.float16 else x


def _to_type(value_type: ir.Type) -> Callable[[Array], Array]:
    """Rounds floats to ``value_type``; what has that type stays."""
    dtype, name = dtype_of(value_type), narrow_float(value_type)
    return partial(round_to, name) if name else lambda x: x.astype(dtype, copy=False)


def _round(op: ir.OpView) -> Function:
    return _to_type(op.results[0].type)


def _resize(read: Callable[[Array], Array]) -> Callable[[ir.OpView], Function]:
    """Widen or narrow an integer that is read as signed or unsigned."""

    def make(op: ir.OpView) -> Function:
        dtype = dtype_of(op.results[0].type)
        return lambda x: wrap(read(x), dtype)

    return make


def _from_integer(read: Callable[[Array], Array]) -> Callable[[ir.OpView], Function]:
    def make(op: ir.OpView) -> Function:
        dtype, name = dtype_of(op.results[0].type), narrow_float(op.results[0].type)
        if name:
            return lambda x: from_integers(name, read(x))
        return lambda x: read(x).astype(dtype)

    return make


def _to_integer(is_signed: bool) -> Callable[[ir.OpView], Function]:
    """Cut off the fraction; what does not fit the type, which MLIR leaves open, is the nearest that does, and NaN 0."""

    def make(op: ir.OpView) -> Function:
        dtype = dtype_of(op.results[0].type)
        width = 1 if dtype == np.bool_ else 8 * dtype.itemsize
        low, high = (-(1 << width - 1), (1 << width - 1) - 1) if is_signed else (0, (1 << width) - 1)

        def run(x: Array) -> Array:
            whole = np.trunc(np.asarray(x, np.float64))
            above = whole >= 2.0 ** (width - is_signed)
            kept = np.where((whole >= low) & ~above, whole, 0).astype(np.int64 if is_signed else np.uint64)
            return wrap(np.where(whole < low, low, np.where(above, high, kept)).astype(kept.dtype), dtype)

        return run

    return make


def _bitcast(op: ir.OpView) -> Function:
    source, dest, dtype = (
        narrow_float(op.operands[0].type),
        narrow_float(op.results[0].type),
        dtype_of(op.results[0].type),
    )

    def run(x: Array) -> Array:
        bits = bits_of(source, x) if source else x
        found: Array = from_bits(dest, bits) if dest else bits.view(dtype)
        return found

    return run


def _affine(combine: Callable[[Array, Array], Array] | None) -> Callable[[ir.OpView], Function]:
    """The results of an affine map of indices and symbols, combined into one."""

    def make(op: ir.OpView) -> Function:
        affine_map = op.attributes["map"].value
        results, num_dims = list(affine_map.results), affine_map.n_dims

        def run(*operands: Array) -> Array:
            found = [evaluate(result, list(operands[:num_dims]), operands[num_dims:]) for result in results]
            return reduce(combine, found) if combine else found[0]

        return run

    return make


SCALAR_OPS: dict[str, Callable[[ir.OpView], Function]] = {
    **INTEGER_OPS,
    **{name: _rounded(make) for name, make in FLOAT_OPS.items()},
    "affine.apply": _affine(None),
    "affine.max": _affine(np.maximum),
    "affine.min": _affine(np.minimum),
    "arith.constant": _constant,
    "arith.select": lambda op: np.where,
    "arith.bitcast": _bitcast,
    "arith.extf": _round,
    "arith.truncf": _round,
    "arith.extsi": _resize(signed),
    "arith.extui": _resize(unsigned),
    "arith.trunci": _resize(unsigned),
    "arith.index_cast": _resize(signed),
    "arith.index_castui": _resize(unsigned),
    "arith.sitofp": _from_integer(signed),
    "arith.uitofp": _from_integer(unsigned),
    "arith.fptosi": _to_integer(True),
    "arith.fptoui": _to_integer(False),
}
