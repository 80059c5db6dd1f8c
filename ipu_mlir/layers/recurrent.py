"""Layers with a loop over the steps of a sequence."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ipu_mlir.layers.dense import check_last
from ipu_mlir.layers.initialisers import Initialiser, generator_of, glorot_uniform, orthogonal
from ipu_mlir.layers.layer import Layer
from ipu_mlir.nn import sigmoid
from ipu_mlir.tracing.control.scans import scan

_ORTHOGONAL = orthogonal()


@dataclass(frozen=True)
class LSTM(Layer):
    """Long short-term memory, for tensors of shape ``(batch, steps, inputs)``.

    Attributes:
        sequence: whether it gives what each step gives, or the last one alone.
        recompute: what a gradient computes again, as ``ipu.scan`` takes it: ``"elementwise"`` ops, or all of a step
            from its ``"inputs"``, so that the products of states and weights are not stored.
    """

    inputs: int
    units: int
    sequence: bool = True
    recompute: str = "elementwise"
    w: Initialiser = glorot_uniform
    u: Initialiser = _ORTHOGONAL

    def init(self, rng: Any, dtype: Any = np.float32) -> dict[str, np.ndarray]:
        """``w`` of shape ``(inputs, gates)``, ``u`` of shape ``(units, gates)``, ``b`` of shape ``(gates,)``.

        ``gates`` is ``4 * units``: for the input, the forget, the cell and the output gate. ``b`` of the forget gate
        is 1.
        """
        rng = generator_of(rng)
        b = np.zeros(4 * self.units, dtype)
        b[self.units : 2 * self.units] = 1
        return {**_weights(self, rng, 4, dtype), "b": b}

    def __call__(self, parameters: Any, x: Any, state: Any = ()) -> Any:
        check_last(self, x, self.inputs)
        given = x @ parameters["w"] + parameters["b"]

        def step(carry: Any, row: Any) -> Any:
            h, c = carry
            into, forget, cell, out = _parts(row + h @ parameters["u"], self.units)
            c = sigmoid(forget) * c + sigmoid(into) * np.tanh(cell)
            h = sigmoid(out) * np.tanh(c)
            return (h, c), h

        empty = np.zeros((x.shape[0], self.units), x.dtype)
        return _unrolled(self, step, (empty, empty), given)


@dataclass(frozen=True)
class GRU(Layer):
    """Gated recurrent units, for tensors of shape ``(batch, steps, inputs)``; the reset gate comes after the product.

    Attributes:
        sequence: whether it gives what each step gives, or the last one alone.
        recompute: what a gradient computes again, as ``ipu.scan`` takes it: ``"elementwise"`` ops, or all of a step
            from its ``"inputs"``, so that the products of states and weights are not stored.
    """

    inputs: int
    units: int
    sequence: bool = True
    recompute: str = "elementwise"
    w: Initialiser = glorot_uniform
    u: Initialiser = _ORTHOGONAL

    def init(self, rng: Any, dtype: Any = np.float32) -> dict[str, np.ndarray]:
        """``w`` of shape ``(inputs, gates)``, ``u`` of shape ``(units, gates)``, ``b`` of shape ``(2, gates)``.

        ``gates`` is ``3 * units``: for the update gate, the reset gate and the candidate. The rows of ``b`` go with
        ``w`` and ``u``.
        """
        return {**_weights(self, generator_of(rng), 3, dtype), "b": np.zeros((2, 3 * self.units), dtype)}

    def __call__(self, parameters: Any, x: Any, state: Any = ()) -> Any:
        check_last(self, x, self.inputs)
        given = x @ parameters["w"] + parameters["b"][0]

        def step(carry: Any, row: Any) -> Any:
            (h,) = carry
            update, reset, candidate = _parts(row, self.units)
            own_update, own_reset, own_candidate = _parts(h @ parameters["u"] + parameters["b"][1], self.units)
            keep = sigmoid(update + own_update)
            h = keep * h + (1 - keep) * np.tanh(candidate + sigmoid(reset + own_reset) * own_candidate)
            return (h,), h

        return _unrolled(self, step, (np.zeros((x.shape[0], self.units), x.dtype),), given)


def _weights(layer: LSTM | GRU, rng: np.random.Generator, gates: int, dtype: Any) -> dict[str, np.ndarray]:
    shapes = {"w": (layer.inputs, gates * layer.units), "u": (layer.units, gates * layer.units)}
    return {"w": layer.w(rng, shapes["w"], dtype), "u": layer.u(rng, shapes["u"], dtype)}


def _parts(x: Any, units: int) -> list[Any]:
    return [x[:, first : first + units] for first in range(0, x.shape[1], units)]


def _unrolled(layer: LSTM | GRU, step: Any, carry: Any, given: Any) -> Any:
    """What ``step`` gives along the second dimension of ``given``."""
    carry, rows = scan(step, carry, np.swapaxes(given, 0, 1), recompute=layer.recompute)
    return np.swapaxes(rows, 0, 1) if layer.sequence else carry[0]
