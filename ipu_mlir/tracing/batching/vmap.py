"""``vmap``: a function on one example, as one on a batch."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ipu_mlir.specs.specs import TensorSpec
from ipu_mlir.tracing.batching.calls import Calls
from ipu_mlir.tracing.batching.control import CONTROL
from ipu_mlir.tracing.batching.rules import RULES, numbers
from ipu_mlir.tracing.control.bodies import Body, call, spec_of_leaf, stacked, tree, values_of
from ipu_mlir.tracing.errors import TraceTypeError, TraceValueError
from ipu_mlir.tracing.graph import Trace, current_trace
from ipu_mlir.tracing.structure import flatten, is_number, parts

Axes = Any
"""An int, None, or a tuple, list or dict of them, nested as the first levels of what they are for."""


def vmap(
    fun: Callable[..., Any], in_axes: Axes = 0, out_axes: Axes = 0, axis_size: int | None = None
) -> Callable[..., Any]:
    """``fun``, which is for one example, as a function on batches of them.

        batched = ipu.vmap(lambda x, w: np.tanh(x @ w), in_axes=(0, None))

    ``fun`` is traced once, for one example, and its ops are written again for all of them at once: products become
    products of batches, loops and branches whose conditions differ go on with masks.

    Args:
        fun: takes and gives tensors, nested as they like.
        in_axes: along which axis the examples of each argument lie; None where all have the same. One for all
            arguments, or a tuple with one for each, which may be nested as the argument is.
        out_axes: along which axis the results of the examples shall lie; None where all are the same.
        axis_size: how many examples there are; needed where no argument has an axis of them.

    Raises:
        TypeError, ValueError: axes that do not fit the arguments, or sizes along them that differ.
    """

    @functools.wraps(fun)
    def batched(*args: Any, **kwargs: Any) -> Any:
        given = tree(args, "argument"), tree(kwargs, "argument")
        paths = [path for each in given for path in each.paths]
        axes = [*_axes_of(in_axes, args, "in_axes"), *(0 for _ in given[1].leaves)]
        leaves = [leaf for each in given for leaf in each.leaves]
        leaves = [_front(leaf, axis, path) for leaf, axis, path in zip(leaves, axes, paths, strict=True)]
        size = _batch_size(leaves, axes, paths, axis_size)

        def example(leaves: Sequence[Any]) -> Any:
            first = len(given[0].leaves)
            own = functools.partial(fun, **given[1].nested(leaves[first:])) if kwargs else fun
            return call("vmap", own, *given[0].nested(leaves[:first]))

        trace = current_trace()
        if trace is None:
            return _one_after_another(example, leaves, axes, size, out_axes)
        return _together(trace, example, leaves, axes, size, out_axes)

    return batched


def _together(
    trace: Trace,
    example: Callable[[Sequence[Any]], Any],
    leaves: Sequence[Any],
    axes: Sequence[int | None],
    size: int,
    out_axes: Axes,
) -> Any:
    places = [place for place, axis in enumerate(axes) if axis is not None]
    specs = [TensorSpec(leaves[place].shape[1:], leaves[place].dtype) for place in places]
    values = values_of(trace, [leaves[place] for place in places], [spec_of_leaf(leaves[place]) for place in places])
    body = Body(trace, "vmap", specs)
    with body.traced() as arguments:
        own = dict(zip(places, arguments, strict=True))
        returned = example([own.get(place, leaf) for place, leaf in enumerate(leaves)])
        result = tree(returned, "result")
        found = [spec_of_leaf(leaf) for leaf in result.leaves]
        inner = values_of(trace, result.leaves, found)
    wanted = _axes_of(out_axes, returned, "out_axes")
    batcher = Calls(trace.module, size, {**RULES, **CONTROL}, numbers).batcher()
    for argument, value in zip(body.block.arguments, values, strict=True):
        batcher.note(argument, value, True)
    results = []
    with trace.emit("vmap"):
        for op in list(body.block.operations):
            with op.operation.location:
                batcher.op(op.operation)
        for value, spec, axis, path in zip(inner, found, wanted, result.paths, strict=True):
            new = batcher.new(value)
            if axis is None and new.batched:
                raise TraceValueError(f"vmap: {path} differs from example to example, and out_axes has None for it")
            shape = spec.shape if axis is None else (size, *spec.shape)
            results.append(trace.wrap(new.value if axis is None else batcher.repeated(new), shape, spec.dtype))
    body.drop()
    places_out = zip(results, wanted, result.paths, strict=True)
    return result.nested([_back(leaf, axis, path) for leaf, axis, path in places_out])


def _one_after_another(
    example: Callable[[Sequence[Any]], Any],
    leaves: Sequence[Any],
    axes: Sequence[int | None],
    size: int,
    out_axes: Axes,
) -> Any:
    """The same on arrays, outside of traced functions."""
    results, wanted = [], []
    for number in range(size):
        own = [leaf if axis is None else leaf[number] for leaf, axis in zip(leaves, axes, strict=True)]
        returned = example(own)
        results.append(tree(returned, "result"))
        wanted = _axes_of(out_axes, returned, "out_axes")
    columns = zip(*(each.leaves for each in results), strict=True)
    return results[0].nested(
        [column[0] if axis is None else stacked(column, axis) for column, axis in zip(columns, wanted, strict=True)]
    )


def _axes_of(axes: Axes, values: Any, name: str) -> list[int | None]:
    """The axis of each tensor in ``values``, for which ``axes`` is a prefix.

    Raises:
        TraceTypeError: it is nested otherwise.
    """
    if axes is None or isinstance(axes, int):
        return [axes] * len(flatten(values, "", is_number)[1])
    own, theirs = parts(axes), parts(values)
    if own is None or theirs is None or len(own[1]) != len(theirs[1]) or set(own[0]) != set(theirs[0]):
        raise TraceTypeError(
            f"vmap: {name}={axes!r} is not nested as what it is for; give an int, None, or one for each"
        )
    by_key = dict(zip(own[0] or range(len(own[1])), own[1], strict=True))
    keys = theirs[0] or range(len(theirs[1]))
    return [axis for key, child in zip(keys, theirs[1], strict=True) for axis in _axes_of(by_key[key], child, name)]


def _front(leaf: Any, axis: int | None, path: str) -> Any:
    """``leaf`` with the examples along its first axis."""
    if axis is None:
        return leaf
    rank = np.ndim(leaf)
    if not -rank <= axis < rank:
        raise TraceValueError(
            f"vmap: {path} has {rank} dimensions, and examples cannot lie along axis {axis}; use None"
        )
    return np.moveaxis(leaf, axis, 0)


def _back(leaf: Any, axis: int | None, path: str) -> Any:
    if axis is None:
        return leaf
    rank = len(leaf.shape)
    if not -rank <= axis < rank:
        raise TraceValueError(f"vmap: {path} has {rank} dimensions with that of the examples, and no axis {axis}")
    return np.moveaxis(leaf, 0, axis)


def _batch_size(leaves: Sequence[Any], axes: Sequence[int | None], paths: Sequence[str], size: int | None) -> int:
    """The number of examples.

    Raises:
        TraceValueError: arguments have different numbers of them, none at all, or nothing tells.
    """
    whose = "axis_size"
    for leaf, axis, path in zip(leaves, axes, paths, strict=True):
        if axis is not None:
            if size is not None and leaf.shape[0] != size:
                raise TraceValueError(f"vmap: {path} has {leaf.shape[0]} examples, {whose} says {size}")
            size, whose = leaf.shape[0], path
    if size is None:
        raise TraceValueError("vmap: no argument has an axis of examples; give axis_size=")
    if size < 1:
        raise TraceValueError(f"vmap of {size} examples: there has to be one at least")
    return size
