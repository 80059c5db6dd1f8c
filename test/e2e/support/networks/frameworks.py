"""Random networks as programs of JAX, PyTorch and TensorFlow."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from support.networks.draw import Network


@dataclass(frozen=True)
class Made:
    """A network as a program.

    Attributes:
        source: a function of parameters and input, which is compiled.
        run: the results of the framework, flat, of arrays.
        tensors: arguments as the framework has them, of arrays.
        arrays: all tensors in arguments or results, flat.
    """

    source: Any
    run: Callable[[Any, Any], list[np.ndarray]]
    tensors: Callable[[Any], Any]
    arrays: Callable[[Any], list[np.ndarray]]


def made_of_jax(network: Network) -> Made:
    import jax
    from support.networks.on_jax import jax_program

    function = jax.jit(jax_program(network))

    def arrays(nested: Any) -> list[np.ndarray]:
        return [np.asarray(each) for each in jax.tree.leaves(nested)]

    return Made(function, lambda *given: arrays(function(*given)), lambda nested: nested, arrays)


def made_of_torch(network: Network) -> Made:
    import torch
    from support.networks.on_torch import torch_program
    from torch.utils import _pytree as pytree

    function = torch_program(network)

    def tensors(nested: Any) -> Any:
        return pytree.tree_map(torch.from_numpy, nested)

    def arrays(nested: Any) -> list[np.ndarray]:
        return [each.detach().numpy() for each in pytree.tree_leaves(nested)]

    return Made(function, lambda *given: arrays(function(*tensors(given))), tensors, arrays)


def made_of_tensorflow(network: Network) -> Made:
    import tensorflow as tf
    from support.networks.on_tensorflow import tensorflow_program

    function = tensorflow_program(network)

    def tensors(nested: Any) -> Any:
        return tf.nest.map_structure(tf.constant, nested)

    def arrays(nested: Any) -> list[np.ndarray]:
        return [np.asarray(each) for each in tf.nest.flatten(nested)]

    return Made(function, lambda *given: arrays(function(*tensors(given))), tensors, arrays)


FRAMEWORKS = {"jax": made_of_jax, "torch": made_of_torch, "tensorflow": made_of_tensorflow}
