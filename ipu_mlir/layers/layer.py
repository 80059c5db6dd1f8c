"""``Layer``, what all layers can do; layers one after the other, and around each other."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ipu_mlir.layers.initialisers import generator_of
from ipu_mlir.programs.random_numbers import fold_in
from ipu_mlir.tracing.errors import TraceTypeError, TraceValueError


class Layer:
    """A part of a network: it has sizes and settings, but no tensors.

    Parameters are what is trained. State is what training changes beside them, as the running means of ``BatchNorm``:
    most layers have none, which is written ``()``.
    """

    def init(self, rng: Any, dtype: Any = np.float32) -> Any:
        """The parameters to begin with, as a tree of arrays.

        Args:
            rng: a seed, or a ``np.random.Generator``, from which one layer after the other draws its numbers.
            dtype: of the parameters.
        """
        return ()

    def state(self, dtype: Any = np.float32) -> Any:
        """The state to begin with, as a tree of arrays."""
        return ()

    def __call__(self, parameters: Any, x: Any, state: Any = ()) -> Any:
        """The result for ``x``, traced or not, when the layer is used rather than trained."""
        raise NotImplementedError

    def train(self, parameters: Any, x: Any, state: Any = (), key: Any = None) -> tuple[Any, Any]:
        """The result for ``x`` in training, and the next state.

        Args:
            key: of ``ipu.random``, for random numbers; ``Sequential`` folds the place of each layer into it.
        """
        return self(parameters, x, state), state


class Sequential(Layer):
    """Layers one after the other; a slice of it is another one.

    Args:
        layers: layers, and functions of one tensor.
    """

    def __init__(self, layers: Sequence[Layer | Callable[[Any], Any]]) -> None:
        self.layers = tuple(layers)
        for place, each in enumerate(self.layers):
            if not callable(each) or isinstance(each, type):
                raise TraceTypeError(f"layer {place} is {each!r}; give a layer, such as Dense(20, 16), or a function")

    def __len__(self) -> int:
        return len(self.layers)

    def __getitem__(self, which: Any) -> Any:
        return Sequential(self.layers[which]) if isinstance(which, slice) else self.layers[which]

    def init(self, rng: Any, dtype: Any = np.float32) -> list[Any]:
        """A list with the parameters of each layer; () for functions."""
        rng = generator_of(rng)
        return [each.init(rng, dtype) if isinstance(each, Layer) else () for each in self.layers]

    def state(self, dtype: Any = np.float32) -> Any:
        """A list with the state of each layer; () if none has any."""
        states = [each.state(dtype) if isinstance(each, Layer) else () for each in self.layers]
        return states if any(each != () for each in states) else ()

    def __call__(self, parameters: Any, x: Any, state: Any = ()) -> Any:
        for layer, own, kept in self._rows(parameters, state):
            x = layer(own, x, kept) if isinstance(layer, Layer) else layer(x)
        return x

    def train(self, parameters: Any, x: Any, state: Any = (), key: Any = None) -> tuple[Any, Any]:
        states = []
        for place, (layer, own, kept) in enumerate(self._rows(parameters, state)):
            own_key = None if key is None or not isinstance(layer, Layer) else fold_in(key, place)
            x, after = layer.train(own, x, kept, own_key) if isinstance(layer, Layer) else (layer(x), kept)
            states.append(after)
        return x, states if state != () else ()

    def _rows(self, parameters: Any, state: Any) -> list[tuple[Any, Any, Any]]:
        count = len(self.layers)
        states = [()] * count if isinstance(state, tuple) and not state else state
        if len(parameters) != count or len(states) != count:
            raise TraceValueError(
                f"{count} layers get parameters of {len(parameters)} and state of {len(states)}; "
                "use what init and state give"
            )
        return list(zip(self.layers, parameters, states, strict=True))

    def __repr__(self) -> str:
        return f"Sequential([{', '.join(map(_name, self.layers))}])"


def _name(layer: Any) -> str:
    return repr(layer) if isinstance(layer, Layer) else getattr(layer, "__name__", repr(layer))


@dataclass(frozen=True)
class Residual(Layer):
    """``x`` and, added to it, what ``inner`` gives for it."""

    inner: Layer

    def init(self, rng: Any, dtype: Any = np.float32) -> Any:
        return self.inner.init(rng, dtype)

    def state(self, dtype: Any = np.float32) -> Any:
        return self.inner.state(dtype)

    def __call__(self, parameters: Any, x: Any, state: Any = ()) -> Any:
        return x + self.inner(parameters, x, state)

    def train(self, parameters: Any, x: Any, state: Any = (), key: Any = None) -> tuple[Any, Any]:
        y, after = self.inner.train(parameters, x, state, key)
        return x + y, after
