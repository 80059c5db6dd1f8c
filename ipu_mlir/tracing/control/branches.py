"""Branches on traced values: ``cond`` and ``switch``."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.specs.specs import TensorSpec
from ipu_mlir.tracing.control.bodies import Body, Tree, call, is_weak, make_op, meets, spec_of_leaf, tree
from ipu_mlir.tracing.errors import TraceTypeError, TraceValueError
from ipu_mlir.tracing.graph import Symbol, Trace, current_trace
from ipu_mlir.tracing.numbers import number_as_index, number_of

scf = upstream("scf")


def cond(pred: Any, true_fun: Callable[..., Any], false_fun: Callable[..., Any], *operands: Any) -> Any:
    """``true_fun(*operands)`` where ``pred`` holds, ``false_fun(*operands)`` otherwise; only one of them runs.

        y = ipu.cond(loss > 1, lambda w: w / 2, lambda w: w, w)

    Args:
        pred: one bool or number, which holds if it is not zero. If it is known while tracing, so is the branch.
        true_fun, false_fun: give equally nested tensors of equal shapes and types. They may use tensors from outside.

    Raises:
        TypeError, ValueError: ``pred`` has dimensions, or the branches give something different; names the leaf.
    """
    trace = current_trace()
    if trace is None or not isinstance(pred, Symbol):
        return (true_fun if _known_number("cond", pred) else false_fun)(*operands)
    holds = _without_dimensions("cond", pred).astype(np.bool_)
    specs, structure, bodies = _branches(trace, "cond", ("true_fun", "false_fun"), (true_fun, false_fun), operands)
    with trace.emit("cond"):
        flag = number_of(holds.value)
    return structure.nested(make_op(trace, scf.IfOp, [flag], specs, bodies))


def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """``branches[index](*operands)``; an index outside is taken for the nearest one.

    Args:
        index: one integer.
        branches: functions that give equally nested tensors of equal shapes and types.

    Raises:
        TypeError, ValueError: ``index`` is no integer or has dimensions, there is no branch, or they give something
            different; names the leaf.
    """
    if not branches:
        raise TraceValueError("switch needs at least one branch, got none")
    trace = current_trace()
    if trace is None or not isinstance(index, Symbol):
        number = int(_known_number("switch", index))
        return branches[min(max(number, 0), len(branches) - 1)](*operands)
    if _without_dimensions("switch", index).dtype.kind not in "iub":
        raise TraceTypeError(f"switch on {index}: an index is an integer; use astype(np.int32)")
    if len(branches) == 1:
        return branches[0](*operands)
    place = np.clip(index.astype(np.int32), 0, len(branches) - 1)
    names = [f"branch {number}" for number in range(len(branches))]
    specs, structure, bodies = _branches(trace, "switch", names, branches, operands)
    with trace.emit("switch"):
        flag = number_as_index(number_of(place.value))
        cases = {"cases": ir.DenseI64ArrayAttr.get(list(range(len(branches) - 1)))}
    in_order = [bodies[-1], *bodies[:-1]]  # that of all other indices comes first
    return structure.nested(make_op(trace, scf.IndexSwitchOp, [flag], specs, in_order, cases))


def _known_number(name: str, value: Any) -> Any:
    array = np.asarray(value)
    if array.ndim:
        raise TraceValueError(f"{name} on an array of shape {array.shape}: one number decides; use np.where")
    return array[()]


def _without_dimensions(name: str, value: Any) -> Any:
    if value.shape:
        raise TraceValueError(
            f"{name} on {value}: one number decides; use np.where to choose for every element, or np.any, np.all"
        )
    return value


def _branches(
    trace: Trace, name: str, names: Sequence[str], functions: Sequence[Callable[..., Any]], operands: Sequence[Any]
) -> tuple[list[TensorSpec], Tree, list[Body]]:
    """The types of the results, how they are nested, and a body for each function.

    Raises:
        TraceTypeError, TraceValueError: the functions give something different.
    """
    bodies: list[Body] = []
    trees: list[Tree] = []
    try:
        for function in functions:
            bodies.append(body := Body(trace, name))
            with body.traced():
                returned = call(name, function, *operands)
                trees.append(trees[0].like(returned, "result") if trees else tree(returned, "result"))
        specs = [_common(name, names, trees, place) for place in range(len(trees[0].leaves))]
        for body, given in zip(bodies, trees, strict=True):
            body.end(scf.YieldOp, given.leaves, specs)
    except BaseException:
        for body in bodies:
            body.drop()
        raise
    return specs, trees[0], bodies


def _common(name: str, names: Sequence[str], trees: Sequence[Tree], place: int) -> TensorSpec:
    """The shape and type that leaf ``place`` has in all branches."""
    leaves = [each.leaves[place] for each in trees]
    first = next((number for number, leaf in enumerate(leaves) if not is_weak(leaf)), None)
    if first is None:
        dtypes = [spec_of_leaf(leaf).dtype for leaf in leaves]
        return TensorSpec((), np.result_type(*dtypes) if np.dtype(np.bool_) not in dtypes else dtypes[0])
    spec = spec_of_leaf(leaves[first])
    for other, leaf in enumerate(leaves):
        if not meets(leaf, spec):
            path, found = trees[0].paths[place], spec_of_leaf(leaf)
            same = found.shape == spec.shape
            raise (TraceTypeError if same else TraceValueError)(
                f"{name}: {names[first]} gives {path} as {spec}, {names[other]} as {found}; "
                + (f"use astype(np.{spec.dtype})" if same else "both have to give one shape")
            )
    return spec
