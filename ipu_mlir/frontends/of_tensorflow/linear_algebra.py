"""Determinants and triangular factors of real matrices, as library codelets."""

import json
from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from tensorflow.compiler.tf2xla.ops import gen_xla_ops
from tensorflow.python.ops import gen_linalg_ops


def is_real(given: dict[str, Any]) -> bool:
    """True for a matrix, or a stack of them, of known size and of real numbers."""
    x = tf.convert_to_tensor(given["input"])
    return x.dtype in (tf.float32, tf.float64) and x.shape.is_fully_defined()


def determinant(input: Any) -> Any:
    """As ``tf.linalg.det``."""

    @tf.custom_gradient
    def computed(x: Any) -> Any:
        (found,) = _codelet("det", x, [(x.shape[:-2], x.dtype)])
        return found, lambda upstream: (upstream * found)[..., None, None] * tf.linalg.inv(x, adjoint=True)

    return computed(input)


def sign_and_logarithm(input: Any) -> Any:
    """As ``tf.linalg.slogdet``."""

    @tf.custom_gradient
    def computed(x: Any) -> Any:
        found = _codelet("slogdet", x, [(x.shape[:-2], x.dtype)] * 2)
        return tuple(found), lambda _, upstream: upstream[..., None, None] * tf.linalg.inv(x, adjoint=True)

    return gen_linalg_ops._LogMatrixDeterminantOutput(*computed(input))


def factors(input: Any, output_idx_type: Any) -> Any:
    """As ``tf.linalg.lu``, which has no gradient: the triangles in one matrix, and where its rows come from."""
    *stack, rows, _ = input.shape
    shapes = [(input.shape, input.dtype), ([*stack, rows], tf.int32), ([*stack, rows], tf.int32)]
    lower_upper, _, order = _codelet("lu", input, shapes)
    return gen_linalg_ops._LuOutput(lower_upper, tf.cast(order, output_idx_type))


def _codelet(name: str, x: Any, results: Sequence[tuple[Any, Any]]) -> list[Any]:
    shapes = [tf.TensorShape(shape) for shape, _ in results]
    found = gen_xla_ops.xla_custom_call_v2(
        operands=[tf.convert_to_tensor(x)],
        call_target_name="ipu.codelet",
        backend_config=json.dumps({"name": name}),
        has_side_effect=False,
        result_dtypes=[dtype for _, dtype in results],
        result_shapes=shapes,
    )
    for each, shape in zip(found, shapes, strict=True):
        each.set_shape(shape)
    return list(found)
