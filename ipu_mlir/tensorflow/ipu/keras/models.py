"""Models whose training accumulates gradients, and that run by ``fit``, ``evaluate`` and ``predict`` alone."""

import functools
from typing import Any, cast

import keras
import tensorflow as tf
from keras.src.models.functional import Functional
from keras.src.models.model import functional_init_arguments

from ipu_mlir.tensorflow.ipu.ipu_strategy import IPUStrategy
from ipu_mlir.tensorflow.ipu.keras.layer_replacement import replace_layers
from ipu_mlir.tensorflow.keras.graph import is_pipelined
from ipu_mlir.tensorflow.keras.options import Accumulation, options_of


class _OnIPU:
    """What both kinds of models have."""

    name: str

    @property
    def gradient_accumulation_count(self) -> int:
        """How many batches a step of ``fit`` takes, before the weights change once."""
        return _accumulation(self).steps or 1

    @property
    def gradient_accumulation_dtype(self) -> Any:
        """The type in which gradients are summed; None for that of each."""
        own = _accumulation(self).options
        return own.get("gradient_accumulation_dtype", own.get("dtype"))

    def _accumulate(self, count: int, dtype: Any, layer_replacement: bool) -> None:
        """Take the options.

        Raises:
            ValueError: the count is no number from 1.
            RuntimeError: there is no strategy around.
        """
        if type(count) is not int or count < 1:
            raise ValueError(f"gradient_accumulation_count is a number from 1, got {count!r}")
        if not isinstance(tf.distribute.get_strategy(), IPUStrategy):
            raise RuntimeError(f"{type(self).__name__} needs an IPUStrategy; make it inside of strategy.scope()")
        self._replaces_layers = bool(layer_replacement)
        own = options_of(self)
        own.accumulation = Accumulation(steps=count, options={"dtype": dtype}, counts_updates=True)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """As a layer of a model, and in programs; not with values."""
        if tf.executing_eagerly() and not any(map(keras.backend.is_keras_tensor, tf.nest.flatten((args, kwargs)))):
            raise ValueError(f"model {self.name!r} cannot be called directly; use fit, evaluate or predict")
        if getattr(self, "_replaces_layers", False):
            replace_layers(self)
        return super().__call__(*args, **kwargs)  # type: ignore[misc]


def _accumulation(model: Any) -> Accumulation:
    own = options_of(model)
    return own.pipelining if is_pipelined(model) else own.accumulation


class Model(_OnIPU, keras.Model):
    """A functional model, made of its ``inputs`` and ``outputs``, or a subclass with a ``call``."""

    def __init__(
        self,
        *args: Any,
        gradient_accumulation_count: int = 1,
        gradient_accumulation_dtype: Any = None,
        layer_replacement: bool = False,
        **kwargs: Any,
    ) -> None:
        """As of ``keras.Model``; a step of ``fit`` takes ``gradient_accumulation_count`` batches."""
        if functional_init_arguments(args, kwargs):
            if unknown := kwargs.keys() - {"inputs", "outputs", "name", "trainable"}:  # which Keras takes in silence
                raise TypeError(f"{type(self).__name__} has no argument {min(unknown)!r}; look for its spelling")
            if not isinstance(self, Functional):
                self.__class__ = _functional(
                    cast("type", type(self))
                )  # Keras would make all models functional that have this class
        super().__init__(*args, **kwargs)
        self._accumulate(gradient_accumulation_count, gradient_accumulation_dtype, layer_replacement)


@functools.cache
def _functional(kind: type) -> type:
    return type(kind.__name__, (kind, Functional), {"__module__": kind.__module__, "__doc__": kind.__doc__})


class Sequential(_OnIPU, keras.Sequential):
    """A stack of layers."""

    def __init__(
        self,
        layers: Any = None,
        gradient_accumulation_count: int = 1,
        gradient_accumulation_dtype: Any = None,
        layer_replacement: bool = False,
        **kwargs: Any,
    ) -> None:
        """As of ``keras.Sequential``; a step of ``fit`` takes ``gradient_accumulation_count`` batches."""
        super().__init__(layers, **kwargs)  # pyright: ignore[reportCallIssue] - where there is no Keras
        self._accumulate(gradient_accumulation_count, gradient_accumulation_dtype, layer_replacement)
