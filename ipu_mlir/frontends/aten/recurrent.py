"""Recurrent layers over whole sequences, as loops over their steps."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ipu_mlir.frontends.aten.rules import rule, wide
from ipu_mlir.frontends.aten.sequences import SPACE
from ipu_mlir.frontends.support.activations import sigmoid
from ipu_mlir.tracing.control.gradients import vjp
from ipu_mlir.tracing.control.scans import scan

Cell = Callable[[tuple[Any, ...], Any, Any, Any], tuple[Any, ...]]
"""The next state from the state, the product of the input and its weights, the weights of the state, and their bias."""


def _lstm_cell(state: tuple[Any, ...], given: Any, weights: Any, bias: Any) -> tuple[Any, ...]:
    h, c = state
    into, forget, cell, out = np.split(wide(given + _product(h, weights, bias)), 4, -1)
    c = sigmoid(forget) * wide(c) + sigmoid(into) * np.tanh(cell)
    return (sigmoid(out) * np.tanh(c)).astype(h.dtype), c.astype(h.dtype)


def _gru_cell(state: tuple[Any, ...], given: Any, weights: Any, bias: Any) -> tuple[Any, ...]:
    (h,) = state
    theirs, own = (np.split(wide(each), 3, -1) for each in (given, _product(h, weights, bias)))
    reset, keep = (sigmoid(theirs[gate] + own[gate]) for gate in (0, 1))
    new = np.tanh(theirs[2] + reset * own[2])
    return ((keep * (wide(h) - new) + new).astype(h.dtype),)


def _plain_cell(function: Callable[[Any], Any]) -> Cell:
    def cell(state: tuple[Any, ...], given: Any, weights: Any, bias: Any) -> tuple[Any, ...]:
        (h,) = state
        return (function(given + _product(h, weights, bias)),)

    return cell


def _product(x: Any, weights: Any, bias: Any) -> Any:
    found = np.matmul(x, np.swapaxes(weights, 0, 1))
    return found if bias is None else found + bias


def _rules_of(name: str, cell: Cell) -> tuple[Any, Any]:
    """The rules of a layer of that cell, and of its gradients by input, states and weights."""

    @rule(f"{SPACE}.{name}.default")
    def layer(
        x: Any, states: Any, weights: Sequence[Any], has_biases: bool, layers: int, dropout: float, train: bool,
        bidirectional: bool, batch_first: bool,
    ) -> Any:  # fmt: skip
        return _layers(cell, x, _as_list(states), weights, layers, batch_first)

    @rule(f"{SPACE}.{name}_gradient.default")
    def gradient(
        cotangents: Sequence[Any], x: Any, states: Any, weights: Sequence[Any], has_biases: bool, layers: int,
        dropout: float, train: bool, bidirectional: bool, batch_first: bool,
    ) -> Any:  # fmt: skip
        def whole(x: Any, states: list[Any], weights: list[Any]) -> Any:
            return _layers(cell, x, states, weights, layers, batch_first)

        _, pull = vjp(whole, x, _as_list(states), list(weights))
        of_x, of_states, of_weights = pull(tuple(cotangents))
        return [of_x, *of_states, *of_weights]

    return layer, gradient


def _as_list(states: Any) -> list[Any]:
    """The states of a layer, of which PyTorch passes a single one alone."""
    return list(states) if isinstance(states, list | tuple) else [states]


LSTM, GRU = _rules_of("lstm", _lstm_cell), _rules_of("gru", _gru_cell)
RNN_TANH, RNN_RELU = (
    _rules_of("rnn_tanh", _plain_cell(np.tanh)),
    _rules_of("rnn_relu", _plain_cell(lambda x: np.maximum(x, 0))),
)


def _layers(
    cell: Cell, x: Any, states: Sequence[Any], weights: Sequence[Any], layers: int, batch_first: bool
) -> tuple[Any, ...]:
    """What the last layer gives at each step, and the last states of all layers and directions.

    Args:
        states: at first, of shape ``(layers and directions, batch, units)``.
        weights: of the input and of the state, their biases and the projection, for each layer and direction.
    """
    count = states[0].shape[0]
    directions, each = count // layers, len(weights) // count
    x = np.swapaxes(x, 0, 1) if batch_first else x
    last: list[tuple[Any, ...]] = []
    for first in range(0, count, directions):
        found = []
        for number in range(first, first + directions):
            own = list(weights[number * each : (number + 1) * each])
            project = own.pop() if each in (3, 5) else None
            into, kept, *biases = own
            state = tuple(whole[number] for whole in states)
            state, rows = _one_layer(cell, x, state, (into, kept, *(biases or (None, None))), project, number > first)
            last.append(state)
            found.append(rows)
        x = found[0] if len(found) == 1 else np.concatenate(found, axis=-1)
    return (np.swapaxes(x, 0, 1) if batch_first else x), *(np.stack(parts) for parts in zip(*last, strict=True))


def _one_layer(
    cell: Cell, x: Any, state: tuple[Any, ...], weights: tuple[Any, ...], project: Any, reverse: bool
) -> tuple[tuple[Any, ...], Any]:
    into, kept, bias_of_input, bias_of_state = weights

    def step(state: tuple[Any, ...], row: Any) -> tuple[tuple[Any, ...], Any]:
        h, *rest = cell(state, row, kept, bias_of_state)
        h = h if project is None else _product(h, project, None)
        return (h, *rest), h

    return scan(step, state, _product(x, into, bias_of_input), reverse=reverse)
