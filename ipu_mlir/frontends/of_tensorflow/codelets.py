"""Codelets of users in functions of TensorFlow."""

import json
from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from tensorflow.compiler.tf2xla.ops import gen_xla_ops


def call(codelet: Any, operands: Sequence[Any]) -> tuple[Any, ...]:
    """The results of ``codelet``: in functions that are compiled a call of it, of values what the host computes."""
    tensors = [tf.convert_to_tensor(each) for each in operands]

    @tf.custom_gradient
    def whole(*given: Any) -> Any:
        if tf.executing_eagerly():
            found = [tf.constant(each) for each in codelet.on_host(*(each.numpy() for each in given))]
        else:
            results = codelet.results([each.shape for each in given], given[0].dtype.as_numpy_dtype)
            found = gen_xla_ops.xla_custom_call_v2(
                operands=list(given),
                call_target_name="ipu.codelet",
                backend_config=json.dumps({"name": codelet.name}),
                has_side_effect=False,
                result_dtypes=[tf.as_dtype(dtype) for _, dtype in results],
                result_shapes=[shape for shape, _ in results],
            )
            for each, (shape, _) in zip(found, results, strict=True):
                each.set_shape(shape)
        return tuple(found), lambda *slopes: codelet.cotangents(given, found, slopes)

    return whole(*tensors)
