"""Ops of programs inside functions of TensorFlow: custom calls named ``ipu.*``, in the order of the function."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.compiler.tf2xla.ops import gen_xla_ops
from tensorflow.python.eager import context

_TOKEN: list[tf.Variable] = []


def token() -> tf.Variable:
    """The variable by whose reads and assignments TensorFlow keeps the order of calls; programs have it no more."""
    if not _TOKEN:
        with context.eager_mode(), tf.device("/cpu:0"):
            _TOKEN.append(tf.Variable(tf.constant(0), trainable=False, dtype=tf.int32, name="ipu.token"))
    return _TOKEN[0]


def is_token(variable: Any) -> bool:
    """True if ``variable`` only keeps the order of calls."""
    return any(variable is each for each in _TOKEN)


def call(
    name: str,
    /,
    operands: Sequence[Any] = (),
    results: Sequence[tf.TensorSpec] = (),
    ordered: bool = False,
    **attributes: Any,
) -> list[Any]:
    """The op ``ipu.<name>``, in a function that is being traced for the device.

    Args:
        operands: tensors.
        results: what it gives.
        ordered: whether it has effects, and stays where it is among others that have some.
        attributes: as the table of custom calls has them.
    """
    given, specs = list(operands), list(results)
    if ordered:
        attributes["token"] = True
        given.insert(0, token().read_value())
        specs.insert(0, tf.TensorSpec((), tf.int32))
    found = gen_xla_ops.xla_custom_call_v2(
        operands=given,
        call_target_name=f"ipu.{name}",
        backend_config=json.dumps(attributes),
        has_side_effect=ordered,
        result_dtypes=[spec.dtype for spec in specs],
        result_shapes=[spec.shape for spec in specs],
    )
    for each, spec in zip(found, specs, strict=True):
        each.set_shape(spec.shape)
    if ordered:
        token().assign(found.pop(0), read_value=False)
    return found


def as_tensorflow_has_it(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """``array`` of a program in the type of TensorFlow: programs have no unsigned ones."""
    return array.view(dtype) if dtype.kind == "u" else array.astype(dtype, copy=False)
