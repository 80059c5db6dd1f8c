"""Loops: ``while_loop`` and ``fori_loop``."""

from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.specs.specs import TensorSpec
from ipu_mlir.tracing.control.bodies import Body, Tree, call, carry_specs, make_op, tree, values_of
from ipu_mlir.tracing.emit import index_constant
from ipu_mlir.tracing.errors import TraceTypeError
from ipu_mlir.tracing.graph import Symbol, Trace, current_trace
from ipu_mlir.tracing.numbers import index_as_number, number_as_index, number_of, tensor_of_number
from ipu_mlir.tracing.operands import tensor
from ipu_mlir.tracing.structure import is_number

arith, scf = upstream("arith"), upstream("scf")

_CARRIED = "the carried value"


def while_loop(
    cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init_val: Any, maximum_iterations: Any = None
) -> Any:
    """``init_val``, changed by ``body_fun`` as long as ``cond_fun`` of it holds.

        n, steps = ipu.while_loop(lambda s: s[0] > 1, lambda s: (s[0] // 2, s[1] + 1), (n, 0))

    Args:
        cond_fun: takes the carried value, gives one bool or number.
        body_fun: takes the carried value, gives the next: nested as it is, of equal shapes and types.
        init_val: tensors, nested as they like. A Python number gets the type that ``body_fun`` gives.
        maximum_iterations: an integer, or a traced one: after so many rounds the loop ends in any case.

    Raises:
        TypeError, ValueError: the body gives something else than it takes; names the leaf. Or the number of rounds is
            no integer.
    """
    trace = current_trace()
    most, counter_specs = maximum_iterations, []
    if most is not None:
        counter_specs = [TensorSpec((), _counter_dtype(f"while_loop of at most {most} rounds", 0, most))]
    if trace is None:
        rounds = count() if most is None else range(int(most))
        for _ in rounds:
            if not cond_fun(init_val):
                break
            init_val = body_fun(init_val)
        return init_val
    start = tree(init_val, _CARRIED)
    size = len(start.leaves)

    def give(specs: list[TensorSpec]) -> tuple[Tree, Body]:
        body = Body(trace, "while_loop", [*specs, *counter_specs])
        with body.traced() as carried:
            return start.like(call("while_loop", body_fun, start.nested(carried[:size])), _CARRIED), body

    specs, given, body = carry_specs("while_loop", start, give)
    all_specs = [*specs, *counter_specs]
    with body.traced() as carried:
        done = [each + each.dtype.type(1) for each in carried[size:]]
    body.end(scf.YieldOp, [*given.leaves, *done], all_specs)
    condition = Body(trace, "while_loop", all_specs)
    with condition.traced() as carried:
        flag = _flag(trace, call("while_loop", cond_fun, start.nested(carried[:size])))
        for each in carried[size:]:
            is_round_left = _flag(trace, each < (most if isinstance(most, Symbol) else each.dtype.type(most)))
            with trace.emit("while_loop"):
                flag = arith.andi(flag, is_round_left)
        with trace.emit("while_loop"):
            scf.ConditionOp(flag, list(condition.block.arguments))
    begin = values_of(trace, [*start.leaves, *(0 for _ in counter_specs)], all_specs)
    return start.nested(make_op(trace, scf.WhileOp, begin, all_specs, [condition, body])[:size])


def fori_loop(lower: Any, upper: Any, body_fun: Callable[[Any, Any], Any], init_val: Any) -> Any:
    """``init_val``, changed by ``body_fun(i, value)`` for ``i`` from ``lower`` up to ``upper - 1``.

        w = ipu.fori_loop(0, 100, lambda i, w: w - rate * gradient(w), w)

    Args:
        lower, upper: integers, or traced ones.
        body_fun: takes the number of the round, an int32, and the carried value; gives the next: nested as it is, of
            equal shapes and types.
        init_val: tensors, nested as they like. A Python number gets the type that ``body_fun`` gives.

    Raises:
        TypeError, ValueError: a bound is no integer, or the body gives something else than it takes; names the leaf.
    """
    trace = current_trace()
    dtype = _counter_dtype(f"fori_loop from {lower} to {upper}", lower, upper)
    if trace is None:
        for number in range(int(lower), int(upper)):
            init_val = body_fun(dtype.type(number), init_val)
        return init_val
    start = tree(init_val, _CARRIED)
    with trace.emit("fori_loop"):
        bounds = [_as_index(lower), _as_index(upper), index_constant(1)]

    def give(specs: list[TensorSpec]) -> tuple[Tree, Body]:
        body = Body(trace, "fori_loop", specs, lambda: scf.ForOp(*bounds))
        with body.traced() as carried:
            number = counter(trace, body.block.arguments[0], dtype)
            return start.like(call("fori_loop", body_fun, number, start.nested(carried)), _CARRIED), body

    specs, given, body = carry_specs("fori_loop", start, give)
    body.end(scf.YieldOp, given.leaves, specs)
    return start.nested(make_op(trace, scf.ForOp, [*bounds, *values_of(trace, start.leaves, specs)], specs, [body]))


def counter(trace: Trace, value: ir.Value, dtype: np.dtype[Any]) -> Any:
    """The counter of a loop as a tensor of the user's."""
    with trace.emit("counter"):
        return trace.wrap(tensor_of_number(index_as_number(value, dtype)), (), dtype)


def _counter_dtype(what: str, lower: Any, upper: Any) -> np.dtype[Any]:
    """The type of the counter between two bounds: that of traced bounds, else int32 where that holds them.

    Bounds of uint64 are counted in int64, as index is.

    Raises:
        TraceTypeError: a bound is no integer.
    """
    known = []
    for bound in (lower, upper):
        traced = isinstance(bound, Symbol)
        dtype, shape = (bound.dtype, bound.shape) if traced else (np.asarray(bound).dtype, np.shape(bound))
        if dtype.kind not in "iu" or shape:
            raise TraceTypeError(f"{what}: a bound is one integer, got {bound}")
        known.append(dtype if traced or not isinstance(bound, int) else np.min_scalar_type(-abs(bound)))
    dtype = np.result_type(np.int32, *known)
    return dtype if dtype.kind == "i" else np.dtype(np.int64)


def _as_index(bound: Any) -> ir.Value:
    return number_as_index(number_of(bound.value)) if isinstance(bound, Symbol) else index_constant(int(bound))


def _flag(trace: Trace, condition: Any) -> ir.Value:
    """What a loop goes on by, as an i1.

    Raises:
        TraceTypeError: it is not one bool or number.
    """
    if not is_number(condition) or np.shape(condition):
        raise TraceTypeError(
            f"while_loop: cond_fun gives {condition!r}, and one bool or number is needed; use np.any, np.all"
        )
    held = condition.astype(np.bool_) if isinstance(condition, Symbol) else tensor(trace, bool(condition))
    with trace.emit("while_loop"):
        return number_of(held.value)
