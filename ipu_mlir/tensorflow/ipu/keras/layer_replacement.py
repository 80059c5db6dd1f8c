"""``layer_replacement``: layers of Keras that compute as those of the device do."""

from typing import Any

import keras

from ipu_mlir.tensorflow.ipu.ops.rand_ops import dropout


def replace_layers(model: Any) -> None:
    """Let layers of ``model`` that have a counterpart with other costs on the device compute as that one.

    A ``Dropout`` without a seed of its own draws its mask from the seed of the device, and again for gradients. All
    others are made of the same operations as their counterparts, or mean something else, as ``GroupNormalization``
    with its groups of neighbouring channels.
    """
    for layer in model._flatten_layers(include_self=False):
        if type(layer) is keras.layers.Dropout and layer.seed is None and layer.rate > 0:
            layer.call = _Dropped(layer)


class _Dropped:
    """The ``call`` of a layer."""

    def __init__(self, layer: Any) -> None:
        self._layer = layer

    def __call__(self, inputs: Any, training: bool = False) -> Any:
        layer = self._layer
        return dropout(inputs, layer.rate, layer.noise_shape) if training else inputs
