"""Recurrent layers of ONNX as loops over their steps: by the reference implementation each step is ops of its own."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from ipu_mlir.frontends.of_onnx.rules import rule
from ipu_mlir.frontends.support.activations import sigmoid
from ipu_mlir.tracing.control.scans import scan

_ACTIVATIONS: dict[str, tuple[Callable[..., Any], tuple[float, ...]]] = {
    "relu": (lambda x: np.maximum(x, 0), ()),
    "tanh": (np.tanh, ()),
    "sigmoid": (sigmoid, ()),
    "softsign": (lambda x: x / (1 + np.abs(x)), ()),
    "softplus": (lambda x: np.logaddexp(x, np.zeros_like(x)), ()),
    "affine": (lambda x, alpha, beta: alpha * x + beta, (1.0, 0.0)),
    "leakyrelu": (lambda x, alpha: np.where(x < 0, alpha * x, x), (0.01,)),
    "thresholdedrelu": (lambda x, alpha: np.where(x > alpha, x, np.zeros_like(x)), (1.0,)),
    "scaledtanh": (lambda x, alpha, beta: alpha * np.tanh(beta * x), (1.0, 1.0)),
    "hardsigmoid": (lambda x, alpha, beta: np.clip(alpha * x + beta, 0, 1), (0.2, 0.5)),
    "elu": (lambda x, alpha: np.where(x < 0, alpha * (np.exp(np.minimum(x, 0)) - 1), x), (1.0,)),
}
"""By name in small letters, the function, and alpha and beta where the model gives none."""

Functions = Sequence[Callable[[Any], Any]]


def _lstm_cell(
    functions: Functions, state: tuple[Any, ...], given: Any, r: Any, b: Any, peepholes: Any, input_forget: int
) -> tuple[Any, ...]:
    f, g, last = functions
    h, c = state
    into, out, forget, cell = np.split(given + h @ np.swapaxes(r, 0, 1) + b, 4, -1)
    of_into, of_out, of_forget = (None,) * 3 if peepholes is None else np.split(peepholes, 3)
    into = f(_seeing(into, of_into, c))
    keep = 1 - into if input_forget else f(_seeing(forget, of_forget, c))
    c = keep * c + into * g(cell)
    return f(_seeing(out, of_out, c)) * last(c), c


def _seeing(gate: Any, peephole: Any, c: Any) -> Any:
    return gate if peephole is None else gate + peephole * c


def _gru_cell(functions: Functions, state: tuple[Any, ...], given: Any, r: Any, b: Any, linear: int) -> tuple[Any, ...]:
    f, g = functions
    (h,) = state
    units = h.shape[-1]
    r, given_candidate = np.swapaxes(r, 0, 1), given[:, 2 * units :]
    own = h @ (r if linear else r[:, : 2 * units])
    keep, reset = np.split(f(given[:, : 2 * units] + own[:, : 2 * units] + b[: 2 * units]), 2, -1)
    bias = b[2 * units :]
    if linear:
        candidate = g(given_candidate + reset * (own[:, 2 * units :] + bias))
    else:
        candidate = g(given_candidate + (reset * h) @ r[:, 2 * units :] + bias)
    return ((1 - keep) * candidate + keep * h,)


def _plain_cell(functions: Functions, state: tuple[Any, ...], given: Any, r: Any, b: Any) -> tuple[Any, ...]:
    return (functions[0](given + state[0] @ np.swapaxes(r, 0, 1) + b),)


@rule("LSTM")
def lstm(
    x: Any, w: Any, r: Any, b: Any = None, lengths: Any = None, h: Any = None, c: Any = None, peepholes: Any = None, *,
    input_forget: int | None = 0, **options: Any,
) -> Any:  # fmt: skip
    def cell(number: int) -> Callable[..., Any]:
        own = None if peepholes is None else peepholes[number]
        return partial(_lstm_cell, peepholes=own, input_forget=input_forget or 0)

    return _layer(x, (w, r, b), lengths, (h, c), cell, ("Sigmoid", "Tanh", "Tanh"), **options)


@rule("GRU")
def _gru(
    x: Any, w: Any, r: Any, b: Any = None, lengths: Any = None, h: Any = None, *,
    linear_before_reset: int | None = 0, **options: Any,
) -> Any:  # fmt: skip
    cell = partial(_gru_cell, linear=linear_before_reset or 0)
    return _layer(x, (w, r, b), lengths, (h,), lambda _: cell, ("Sigmoid", "Tanh"), **options)


@rule("RNN", alone=True)
def _rnn(x: Any, w: Any, r: Any, b: Any = None, lengths: Any = None, h: Any = None, **options: Any) -> Any:
    return _layer(x, (w, r, b), lengths, (h,), lambda _: _plain_cell, ("Tanh",), **options)


def _layer(
    x: Any, weights: tuple[Any, Any, Any], lengths: Any, states: tuple[Any, ...], cell_of: Callable[[int], Any],
    usual: tuple[str, ...], *, direction: Any = "forward", layout: int | None = 0, clip: float | None = None,
    activations: Sequence[Any] | None = None, activation_alpha: Sequence[float] | None = None,
    activation_beta: Sequence[float] | None = None, outputs: int, **_: Any,
) -> tuple[Any, ...]:  # fmt: skip
    """What all steps give, and the last states, as far as the node names them.

    Args:
        weights: of the inputs, of the state, and the biases of both, for each direction.
        lengths: of the sequences; None where all are whole.
        states: at first; None for zeros.
        cell_of: the cell of a direction.
        usual: the activations where the model names none.
    """
    w, r, b = weights
    x = np.swapaxes(x, 0, 1) if layout else x
    names = activations or usual * w.shape[0]
    functions = list(_functions(names, len(usual), activation_alpha, activation_beta, clip))
    direction = direction.decode() if isinstance(direction, bytes) else direction or "forward"
    rows, last = [], []
    for number in range(w.shape[0]):
        start = tuple(
            np.zeros((x.shape[1], r.shape[-1]), x.dtype)
            if each is None
            else each[:, number]
            if layout
            else each[number]
            for each in states
        )
        of_input, of_state = (0, np.zeros(r.shape[1], x.dtype)) if b is None else np.split(b[number], 2)
        given = x @ np.swapaxes(w[number], 0, 1) + of_input
        own = functions[number * len(usual) : (number + 1) * len(usual)]
        step = partial(_step, partial(cell_of(number), own), r[number], of_state, lengths)
        state, found = scan(step, start, (given, np.arange(x.shape[0])), reverse=direction == "reverse" or number > 0)
        rows.append(found)
        last.append(state)
    sequence = np.stack([np.swapaxes(each, 0, 1) for each in rows], 2) if layout else np.stack(rows, 1)
    ends = [np.stack(each, 1 if layout else 0) for each in zip(*last, strict=True)]
    return (sequence, *ends)[:outputs]


def _step(cell: Callable[..., Any], r: Any, b: Any, lengths: Any, state: tuple[Any, ...], given: Any) -> Any:
    """The next state, and what the step gives: zeros behind the end of a sequence, where the state stays."""
    row, number = given
    new = cell(state, row, r, b)
    if lengths is None:
        return new, new[0]
    is_in = np.reshape(number < lengths, (-1, 1))
    return tuple(np.where(is_in, *pair) for pair in zip(new, state, strict=True)), np.where(is_in, new[0], 0)


def _functions(
    names: Sequence[Any], count: int, alphas: Sequence[float] | None, betas: Sequence[float] | None, clip: float | None
) -> Iterator[Callable[[Any], Any]]:
    """Activations, ``count`` a direction; those that have an alpha or a beta take the next one that the model gives.

    The third one of an LSTM, of what its cell holds, gets it unclipped, as in onnxruntime.
    """
    given = iter(alphas or ()), iter(betas or ())
    for place, name in enumerate(names):
        text = name.decode() if isinstance(name, bytes) else name
        if text.lower() not in _ACTIVATIONS:
            raise TypeError(
                f"a recurrent layer with the activation {text}; there are {', '.join(sorted(_ACTIVATIONS))}"
            )
        function, usual = _ACTIVATIONS[text.lower()]
        numbers = [next(more, value) for more, value in zip(given, usual, strict=False)]
        yield partial(_clipped, function, numbers, None if place % count == 2 else clip)


def _clipped(function: Callable[..., Any], numbers: Sequence[float], clip: float | None, x: Any) -> Any:
    return function(np.clip(x, -clip, clip) if clip else x, *(np.asarray(each, x.dtype) for each in numbers))
