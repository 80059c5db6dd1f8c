"""Functions with one copy of their code (guide 21.15.3)."""

import functools
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from ipu_mlir.tensorflow.custom_calls import call
from ipu_mlir.tensorflow.variables import is_tracing


def outlined_function(
    func: Callable[..., Any] | None = None,
    unique_sharding: bool = False,
    keep_input_layouts: bool | None = None,
    name: str | None = None,
) -> Any:
    """``func``, as a decorator with or without arguments: its code stands in a program once for all its calls.

    Gradients of it are functions as well. Where functions and their arguments lie is decided by the compiler; what uses
    queues or remote memory is part of the program as if it was not outlined.
    """
    if func is None:
        return functools.partial(
            outlined_function, unique_sharding=unique_sharding, keep_input_layouts=keep_input_layouts, name=name
        )
    if not callable(func):
        raise TypeError(f"outlined_function takes a function, got {func!r}")
    wanted = name or getattr(func, "__name__", "outlined")

    @functools.wraps(func)
    def called(*args: Any, **kwargs: Any) -> Any:
        if not is_tracing():
            return func(*args, **kwargs)
        (is_outlined,) = call("is_outlined", results=[tf.TensorSpec((), tf.bool)], name=wanted)
        returned: list[Any] = []
        specs: list[tf.TensorSpec] = []

        def taken() -> list[tf.Tensor]:
            """What ``func`` gives, flat; TensorFlow traces this branch before the other."""
            returned.append(func(*args, **kwargs))
            leaves = tf.nest.flatten(returned[0], expand_composites=True)
            tensors = [tf.convert_to_tensor(each) for each in leaves if each is not None]
            specs.extend(tf.TensorSpec(each.shape, each.dtype) for each in tensors)
            return tensors

        found = tf.cond(is_outlined, taken, lambda: [tf.zeros(each.shape, each.dtype) for each in specs])
        tensors = iter(tf.nest.flatten(found))
        leaves = tf.nest.flatten(returned[0], expand_composites=True)
        filled = [None if each is None else next(tensors) for each in leaves]
        return tf.nest.pack_sequence_as(returned[0], filled, expand_composites=True)

    return called
