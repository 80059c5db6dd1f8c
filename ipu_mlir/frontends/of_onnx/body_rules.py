"""Ops of ONNX with bodies and over dimensions, whose definitions ask what is traced for its values."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ipu_mlir.frontends.of_onnx.rules import rule

_MOST = 1024
"""Rounds of a scan, each of which becomes ops of its own."""


@rule("Expand")
def _expand(x: Any, shape: Any, **_: Any) -> Any:
    return np.broadcast_to(x, np.broadcast_shapes(x.shape, tuple(int(each) for each in shape)))


def _reduction(reduce: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """The rule of a reduction, whose axes are an input or an attribute."""

    def apply(x: Any, axes: Any = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0, **_: Any) -> Any:
        along = tuple(int(each) % len(x.shape) for each in np.reshape(axes, (-1,))) if axes is not None else ()
        if not along and noop_with_empty_axes:
            return x
        along = along or tuple(range(len(x.shape)))
        found = reduce(x, along).astype(x.dtype)
        return found if keepdims else np.squeeze(found, along) if along else found

    return apply


_REDUCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "ReduceSum": lambda x, axes: np.sum(x, axis=axes, keepdims=True),
    "ReduceMean": lambda x, axes: np.mean(x, axis=axes, keepdims=True),
    "ReduceMax": lambda x, axes: np.max(x, axis=axes, keepdims=True),
    "ReduceMin": lambda x, axes: np.min(x, axis=axes, keepdims=True),
    "ReduceProd": lambda x, axes: np.prod(x, axis=axes, keepdims=True),
    "ReduceL1": lambda x, axes: np.sum(np.abs(x), axis=axes, keepdims=True),
    "ReduceL2": lambda x, axes: np.sqrt(np.sum(x * x, axis=axes, keepdims=True)),
    "ReduceSumSquare": lambda x, axes: np.sum(x * x, axis=axes, keepdims=True),
    "ReduceLogSum": lambda x, axes: np.log(np.sum(x, axis=axes, keepdims=True)),
    "ReduceLogSumExp": lambda x, axes: _log_sum_exp(x, axes),
}
_OF_REDUCTIONS = tuple(rule(name)(_reduction(reduce)) for name, reduce in _REDUCTIONS.items())


def _log_sum_exp(x: Any, axes: Any) -> Any:
    largest = np.max(x, axis=axes, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, np.zeros_like(largest))
    return np.log(np.sum(np.exp(x - largest), axis=axes, keepdims=True)) + largest


@rule("Scan")
def _scan(
    *inputs: Any, body: Any, num_scan_inputs: int, scan_input_axes: Any = None, scan_input_directions: Any = None,
    scan_output_axes: Any = None, scan_output_directions: Any = None, context: Any = None, **_: Any,
) -> Any:  # fmt: skip
    """Round after round, as many as there are elements to scan."""
    count = len(inputs) - num_scan_inputs
    state, scanned = list(inputs[:count]), inputs[count:]
    axes = scan_input_axes or [0] * num_scan_inputs
    backward = scan_input_directions or [0] * num_scan_inputs
    rounds = scanned[0].shape[axes[0]]
    if rounds > _MOST:
        raise TypeError(f"a scan of {rounds} rounds is not supported; up to {_MOST} are")
    parts: list[list[Any]] = []
    for each in range(rounds):
        now = [
            _element(x, axis, rounds - 1 - each if turned else each)
            for x, axis, turned in zip(scanned, axes, backward, strict=True)
        ]
        given = dict(context or {}) | dict(zip(body.input_names, [*state, *now], strict=True))
        found = body.run(None, given)
        state, made = list(found[:count]), found[count:]
        parts = parts or [[] for _ in made]
        for so_far, one in zip(parts, made, strict=True):
            so_far.append(one)
    axes = scan_output_axes or [0] * len(parts)
    turned = scan_output_directions or [0] * len(parts)
    stacked = [
        np.stack(each[::-1] if back else each, axis) for each, axis, back in zip(parts, axes, turned, strict=True)
    ]
    return (*state, *stacked)


def _element(x: Any, axis: int, place: int) -> Any:
    return x[(*[slice(None)] * (axis % len(x.shape)), place)]
